# frozen_string_literal: true

require 'digest/sha2'
require 'simpkv/cli/lost_value'
require 'simpkv/cli/transfer/case_policy'
require 'simpkv/cli/transfer/journal'
require 'simpkv/cli/transfer/refusals'
require 'simpkv/cli/transfer/shared_names'
require 'simpkv/cli/transfer/read_check'
require 'simpkv/cli/progress'
require 'simpkv/cli/workers'

module Simpkv
  module Cli
    # Stores the keys of one end in the other: reads both ends, writes each change into a journal, stores in many
    # threads, and reads both ends again. Keeps only digests in memory.
    #
    # A source has `title`, `each(roots, errors)` and `read_many(paths)`; the target is a {Endpoint}.
    class Transfer
      # The work of a transfer. `targets` has the source's path by the target's. Of its keys, `same` are in the target
      # already, `missing` are not, `differing` have other documents there, and so have `kept`, which stay.
      # `equivalent` are those of `same` that have the same content in other bytes. `exposed` has those of `differing`
      # whose documents are plain, in place of a Sensitive (`true`), or of a document that cannot be read (`nil`).
      # `unread` has the source's keys that cannot be read, and why. Of the others, `corrupt` has those whose
      # documents functions cannot read, and `lost` what others have lost: see {LostValue.of_content}. `shared` has
      # names that would be those of a key and of a folder: see {SharedNames.find}.
      Plan = Struct.new(:targets, :same, :missing, :differing, :kept, :equivalent, :exposed, :unread, :corrupt,
                        :lost, :shared)

      # The largest number of keys in a batch.
      BATCH = 256
      # The approximate limit on bytes of documents in a batch.
      BATCH_BYTES = 4 << 20
      CHANGED = 'another client has changed it since the transfer'
      private_constant :BATCH, :BATCH_BYTES, :CHANGED

      # @return [Hash{String => String}] by path, the reason why a key was not stored, or cannot be
      attr_reader :failures

      # @return [Refusals] of the target
      attr_reader :refusals

      # @return [Integer] the number of stored keys
      attr_reader :stored

      # @param roots [Array<String>] paths of folders: only what is below these
      # @param capitals [CasePolicy]
      # @param jobs [Integer] the number of threads
      # @param check [ReadCheck, nil] of the target; nil for {roll_back}
      def initialize(source, target, roots, capitals, jobs, check = nil)
        @check = check
        @refusals = Refusals.new(target.backend)
        @source = source
        @target = target
        @roots = roots
        @capitals = capitals
        @jobs = jobs
        @failures = {}
        @stored = 0
        @usual_size = 0
        @lock = Mutex.new
      end

      # Compares both ends.
      #
      # @param keep [Boolean] whether differing documents of the target stay
      # @return [Plan]
      # @raise [Failure, Simpkv::Error]
      def plan(keep: false)
        unread, corrupt, lost, refused = Array.new(4) { {} }
        digests = digests(@source, 'reading the source', @roots, unread) do |path, document|
          note(path, document, corrupt, lost)
          refused[path] = @refusals.of_document(path, document)
        end
        targets = @capitals.targets(digests.keys)
        note_refused(targets, refused)
        @digests = targets.transform_values { |path| digests.fetch(path) }
        there = digests(@target, 'reading the target', @roots)
        sorted_out(targets, there, keep, unread).tap do |plan|
          plan.corrupt = corrupt
          plan.lost = lost
          plan.shared = shared_names(plan, there)
        end
      end

      # Stores the missing and the differing keys.
      #
      # @param plan [Plan]
      # @param journal [Journal]
      # @return [void]
      # @raise [Simpkv::Error] the target cannot be used any more; stored keys stay
      def write(plan, journal)
        paths = plan.missing + plan.differing
        replaced = plan.differing.to_h { |path| [path, true] }
        Progress.of('storing', paths.length) do |progress|
          share(paths) do |batch|
            documents, olds = prepared(batch, plan.targets, replaced)
            journal.record(changes(documents, olds))
            store(documents, olds)
            progress.advance(batch.length)
          end
        end
      end

      # Undoes the changes of a journal: stores the old documents and deletes new keys.
      #
      # @param changes [Hash{String => Array<Journal::Change>}] by path, its planned changes, the oldest first
      # @return [void]
      def roll_back(changes)
        Progress.of('taking back', changes.length) do |progress|
          share(changes.to_a) do |batch|
            undo(batch, @target.read_many(batch.map(&:first)))
            progress.advance(batch.length)
          end
        end
      end

      # Reads both ends again and compares them.
      #
      # @param plan [Plan]
      # @return [Hash{String => String}] by path, the fault
      def verify(plan)
        expected = @digests.reject { |path, _| @failures.key?(path) }
        changed_sources(expected, plan).merge(wrong_targets(expected, plan))
      end

      private

      def note(path, document, corrupt, lost)
        why = @check.fault(path, document)
        return corrupt[path] = why if why

        why = LostValue.of_content(document)
        lost[path] = why if why
      end

      def note_refused(targets, refused)
        targets.each do |path, from|
          why = refused[from] || @refusals.of_path(path)
          fail_key(path, why) if why
        end
      end

      def shared_names(plan, there)
        above = @target.keys_of(@roots.flat_map { |root| SharedNames.above(root) }.uniq)
        SharedNames.find(plan.missing, plan.targets.keys | there.keys | above, @target.folders)
      end

      def sorted_out(targets, there, keep, unread)
        same, others = targets.keys.partition { |path| there[path] == @digests[path] }
        others -= @failures.keys
        differing, missing = others.partition { |path| there.key?(path) }
        equivalent, exposed = compared(differing, targets)
        differing -= equivalent
        kept = keep ? differing.each { |path| @digests.delete(path) } : []
        Plan.new(targets, same + equivalent, missing, differing - kept, kept, equivalent, keep ? {} : exposed,
                 unread)
      end

      def changed_sources(expected, plan)
        here = digests(@source, 'verifying the source', @roots)
        changed = expected.reject { |path, digest| here[plan.targets[path]] == digest }
        changed.transform_values { 'the source has changed meanwhile' }
      end

      def wrong_targets(expected, plan)
        there = digests(@target, 'verifying the target', @roots)
        wrong = expected.reject { |path, digest| there[path] == digest }.keys
        wrong -= compared(wrong & plan.equivalent, plan.targets).first
        wrong.to_h { |path| [path, there.key?(path) ? 'the target has another document' : 'the target lacks it'] }
      end

      # @yieldparam path [String]
      # @yieldparam document [String]
      # @return [Hash{String => String}] the SHA-256 of each document, by path
      def digests(place, title, roots, errors = {})
        digests = {}
        bytes = 0
        Progress.of(title) do |progress|
          place.each(roots, errors) do |path, document|
            digests[path] = Digest::SHA256.digest(document)
            yield path, document if block_given?
            bytes += document.bytesize
            progress.advance
          end
        end
        @usual_size = bytes / [digests.length, 1].max if place.equal?(@source)
        digests
      end

      # @return [Array(Array<String>, Hash)] the paths whose documents have the same content on both ends, in
      #   other bytes; and, as a Hash, those that a plain value exposes: see {Plan}
      def compared(paths, targets)
        same, others = slices(paths).flat_map { |batch| pairs(batch, targets) }.partition { |pair| pair[:same] }
        exposed = others.reject { |pair| pair[:exposed] == false }
        [same.map { |pair| pair[:path] }, exposed.to_h { |pair| pair.values_at(:path, :exposed) }]
      end

      def pairs(batch, targets)
        sources = @source.read_many(batch.map { |path| targets[path] })
        stored = @target.read_many(batch)
        batch.map do |path|
          new, old = [sources[targets[path]], stored[path]].map { |document| valid(document).to_s }
          exposed = exposed(@check.secret?(path, old), @check.secret?(targets[path], new))
          { path: path, same: Native.document_same?(new, old), exposed: exposed }
        end
      end

      # @param old [Boolean, nil] see {ReadCheck#secret?}
      def exposed(old, new)
        new || (new.nil? && old.nil?) ? false : old
      end

      def valid(result)
        result.is_a?(Simpkv::Error) ? raise(result) : result
      end

      # @return [Enumerator] batches whose documents fit into memory
      def slices(things, size = BATCH)
        things.each_slice(size.clamp(1, (BATCH_BYTES / [@usual_size, 1].max).clamp(1, BATCH)))
      end

      # Has threads work on batches.
      def share(things, &block)
        Workers.share(slices(things, things.length / (@jobs * 4)), @jobs, &block)
      end

      # @return [Array(Hash, Hash)] by path, the documents to store, and the stored ones, nil for a new key; without
      #   keys that cannot be read
      def prepared(paths, targets, replaced)
        sources = @source.read_many(paths.map { |path| targets[path] })
        documents = known('source', paths.to_h { |path| [path, sources[targets[path]]] })
        olds = known('target', @target.read_many(paths.select { |path| replaced[path] }))
        documents.select! { |path, _| olds.key?(path) || !replaced[path] }
        [documents, documents.to_h { |path, _| [path, olds[path]] }]
      end

      def changes(documents, olds)
        documents.map { |path, document| Journal::Change.new(path, olds[path], Digest::SHA256.hexdigest(document)) }
      end

      # @param outcomes [Hash{String => String, Simpkv::Error, nil}] the results of reading, by path
      # @return [Hash{String => String}] the documents that were read
      def known(place, outcomes)
        outcomes.each do |path, outcome|
          fail_key(path, "it has gone from the #{place} meanwhile") if outcome.nil?
          attempt(path) { valid(outcome) }
        end
        outcomes.select { |_, outcome| outcome.is_a?(String) }
      end

      # @param documents [Hash{String => String}] by path
      # @param olds [Hash{String => String, nil}] by path, the document that must be stored; nil for none
      def store(documents, olds)
        outcomes = @target.write_many(documents, olds)
        count(outcomes.count { |_, outcome| outcome.nil? })
        outcomes.each { |path, error| attempt(path) { raise error } if error }
      end

      def undo(batch, current)
        documents = batch.to_h { |path, changes| [path, attempt(path) { undone(path, changes, valid(current[path])) }] }
        documents.compact!
        store(documents, current.select { |path, _| documents.key?(path) })
      end

      # Deletes a new key.
      #
      # @return [String, nil] the document that has to be stored again
      def undone(path, changes, now)
        old = before(changes, now)
        return if old == now
        return old if old
        raise ConflictError, CHANGED unless @target.delete(path, now)

        count
        nil
      end

      # The document before the changes of the journal; the current document if no change was made. The journal also has
      # changes that were never made.
      #
      # @raise [ConflictError] the current document is neither that of a change nor the one before the last
      #   change
      def before(changes, now)
        old = changes.reverse.inject(now) do |document, change|
          document && Digest::SHA256.hexdigest(document) == change.digest ? change.old : document
        end
        return old unless old == now && now != changes.last.old

        @target.refuse(changes.last.path)
        raise ConflictError, CHANGED
      end

      def count(keys = 1)
        @lock.synchronize { @stored += keys }
      end

      # Notes errors of one key. Raises errors of the whole store.
      def attempt(path)
        yield
      rescue TransientError
        raise
      rescue Simpkv::Error => e
        fail_key(path, e.message)
      end

      def fail_key(path, why)
        @lock.synchronize { @failures[path] = why }
        nil
      end
    end
  end
end
