# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/transfer/journaled'
require 'simpkv/cli/encryption/encryption_key_use'
require 'simpkv/cli/many_keys'
require 'simpkv/cli/progress'
require 'simpkv/cli/workers'

module Simpkv
  module Cli
    module Commands
      # Encrypts documents under the first key.
      class Rekey < Command
        include Journaled
        include ManyKeys

        SECTION = :security
        SUMMARY = 'encrypt documents under the first key of the file of keys'
        ARGUMENTS = ''
        DESCRIPTION = <<~TEXT
          Encrypts documents with the first key of the option encryption_keys, if they are plain or encrypted with
          another key: all documents of the backend, those of one environment with -e, or the global keys with -g.
          With the option encrypt: sensitive, does not encrypt plain documents that hold no Sensitive. With encrypt:
          none, decrypts all documents.

          Compilers may read and write meanwhile: the command replaces a document only if nobody has changed it, and
          otherwise reads it again. At the end, it reads all documents once more. It writes the names of changed keys
          into a journal. After a kill, --resume continues. If a document cannot be decrypted, it changes the others
          and exits with 65; so does --dry-run.

          If no document is left to change, and the estate is in this backend, the command records the option encrypt
          in the estate. Processes with another value then cannot use the estate. Once the estate records encrypt:
          all, a plain document in it is an error: it comes from a program that does not encrypt. The command does not
          encrypt it, but lists it and exits with 65. Look at the document, then delete it, or encrypt it with
          --accept-plain.
        TEXT
        EXAMPLES = {
          'simpkv rekey --dry-run' => 'Count the documents of each key',
          'simpkv rekey' => 'All documents of the backend that functions use',
          'simpkv rekey --resume --jobs 8' => 'Continue after a kill, with 8 connections',
          'simpkv rekey --accept-plain' => 'Encrypt plain documents of the estate, after a look at each of them'
        }.freeze

        # The number of keys of an entry of the journal.
        BATCH = 64

        private_constant :BATCH

        def run
          raise Failure.new("#{backend.title} has no 'encryption_keys'", Failure::CONFIG) unless backend.encrypted?

          check_environment
          @store = backend.store(jobs: @jobs)
          @owners = owners
          @refusals = refusals
          @errors = {}
          began = Clock.now
          todo, states = outdated('reading')
          if @dry
            output.facts(counts(states).merge('to change' => todo.length))
          else
            verify(carry_out(todo), began)
          end
          report(@errors)
        end

        private

        def define(parser)
          parser.on('-n', '--dry-run', 'print the numbers, and change nothing') { @dry = true }
          parser.on('--accept-plain', 'encrypt plain documents also of an encrypted estate') { @accepts_plain = true }
          define_jobs(parser)
          define_journal(parser)
        end

        # @return [Hash{String => Object}] see {Owners.of}; none below {#roots} without global keys
        def owners
          roots.include?('globals') ? Owners.of(configuration, backend, @store) : {}
        end

        # @return [Array(Array<String>, Hash)] the keys to change; the numbers of documents, by their state
        def outdated(title)
          states = Hash.new(0)
          first = @store.keyring.kids.first
          todo = []
          Progress.of(title) do |progress|
            EncryptionKeyUse.each(@store, roots, @errors) do |path, state, document|
              states[state] += 1
              progress.advance
              _, refusal = @refusals.find { |beginning, _| path.start_with?(beginning) } if state == :plain
              next @errors[path] = refusal if refusal

              next unless outdated?(state, document, first)

              todo << path
              check_document(path, state, document) if @dry
            end
          end
          [todo, states]
        end

        # Notes why a run could not decrypt a document.
        def check_document(path, state, document)
          noting_error(path) { @store.decrypt(path, document) } unless state == :plain
        end

        # @return [Hash{String => String}] by the beginning of paths, why plain documents are refused there: anybody may
        #   have stored such a document, and encrypted, it would look genuine
        def refusals
          reasons = @owners.to_h { |name, owner| ["#{Owners.folder(name)}/", owner.refusal] }
          @accepts_plain ? {} : reasons.compact
        end

        def outdated?(state, document, first)
          return state != :plain if decrypt?
          return state != first unless state == :plain

          backend.settings['encrypt'] == 'all' || EncryptedStore.sensitive?(document)
        end

        def decrypt?
          backend.settings['encrypt'] == 'none'
        end

        # @param file [String, nil] of the journal
        def verify(file, began)
          left, states = outdated('verifying')
          left.each { |path| @errors[path] ||= 'it was stored meanwhile by a program with another file of keys' }
          @owners.each_value(&:rekeyed) if @errors.empty?
          output.facts(counts(states).merge('changed' => @changed.to_i, 'left' => left.length,
                                            'seconds' => (Clock.now - began).round(2), 'journal' => file))
        end

        # @return [String, nil] the file of the journal
        def carry_out(todo)
          return if todo.empty?

          journal = open_journal('target' => backend.address, 'source' => purpose)
          whole = false
          change(todo, journal)
          whole = true
          journal.file
        rescue Failure, Simpkv::Error, SystemCallError, SignalException
          raise unless journal

          warn "\nsimpkv: changed #{Output.count(@changed.to_i, 'document')}. Run the same command with --resume to " \
               'continue'
          raise
        ensure
          journal&.close(whole)
        end

        def purpose
          decrypt? ? 'no key' : "key #{@store.keyring.kids.first}"
        end

        def change(todo, journal)
          @changed = 0
          lock = Mutex.new
          Progress.of(decrypt? ? 'decrypting' : 'encrypting', todo.length) do |progress|
            Workers.share(todo.each_slice(BATCH), @jobs) do |batch|
              changed = batch.select { |path| renewed?(path).tap { progress.advance } }
              journal.record(changed.map { |path| Journal::Change.new(path, nil, purpose) })
              lock.synchronize { @changed += changed.length }
            end
          end
        end

        def renewed?(path)
          noting_error(path) { @store.renew(path, decrypt: decrypt?) == :renewed }
        end

        def counts(states)
          kids, others = states.partition { |state, _| state.is_a?(String) }.map(&:to_h)
          { 'documents' => states.values.sum, **kids.sort.to_h.transform_keys { |kid| "under #{kid}" },
            'plain' => others.fetch(:plain, 0), 'damaged' => others.fetch(:damaged, 0) }
        end
      end
    end
  end
end
