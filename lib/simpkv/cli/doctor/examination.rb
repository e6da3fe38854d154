# frozen_string_literal: true

require 'securerandom'
require 'simpkv/cli/lost_value'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    # The base class of {FileExamination} and {DirectoryExamination}, which check a backend.
    class Examination
      # The beginning of the name of the folder for test keys; a random word follows.
      SCRATCH = 'simpkv-doctor-'

      # The number of unreadable keys that are named.
      NAMED = 10
      # The number of readable keys that are kept for further checks.
      SAMPLES = 3

      # The paths of documents that each run of a node writes, and the name of the node.
      OF_RUNS = %r{\Aglobals/estate/(?:facts|exported/[^/]+)/([^/]+)\z}.freeze

      # The remedy for an encrypted document that the keys do not decrypt.
      UNDECRYPTED = 'restore the document, or its key, from a backup; store it anew, or delete it'

      # The fault of a document that the options do not decrypt.
      ENCRYPTED = 'it is encrypted'
      private_constant :NAMED, :SAMPLES, :OF_RUNS, :UNDECRYPTED, :ENCRYPTED

      # @param backend [ChosenBackend]
      # @param findings [Findings] to be filled
      # @param simpkv [String] the command line that chooses this backend: `simpkv -b site`
      # @param write [Boolean] whether test keys may be stored and deleted
      # @param size [Integer, nil] the number of keys in a list; nil for the default of the server
      # @param user [OtherUser, nil] another user that must be able to use the backend
      # @param folder [String, nil] the path of the only folder to examine
      def initialize(backend, findings, simpkv: 'simpkv', write: true, size: nil, user: nil, folder: nil) # rubocop:disable Metrics/ParameterLists
        @backend = backend
        @findings = findings
        @simpkv = simpkv
        @write = write
        @size = size
        @user = user
        @folder = folder
        @samples = []
        @expired = 0
        @losses = {}
      end

      private

      attr_reader :backend, :findings, :samples

      def settings
        backend.settings
      end

      # @param arguments [Array<String>]
      # @return [String] a command line for a shell
      def simpkv(*arguments)
        "#{@simpkv} #{LdapAccess.shell(arguments)}"
      end

      # @return [Array<String>] the folders whose keys are read
      def roots
        @folder ? [@folder] : Walk::ROOTS
      end

      # @return [String] the folder for folders of test keys
      def home
        @folder || 'globals'
      end

      # Provides a folder for test keys and removes it afterwards.
      #
      # @yieldparam folder [String] for the test keys
      # @yieldparam paths [Array<String>] to be filled with the stored keys
      def with_scratch
        folder = "#{home}/#{SCRATCH}#{SecureRandom.hex(4)}"
        paths = []
        yield folder, paths
      ensure
        clean(folder, paths) if folder
      end

      # A limit that truncates lists also hides keys from deletetree.
      def clean(folder, paths)
        backend.store.deletetree(folder)
      rescue Simpkv::Error
        begin
          paths.each { |path| backend.store.delete(path) }
          backend.store.deletetree(folder)
        rescue Simpkv::Error => e
          findings.warning('cleaning up', e.message, "delete '#{folder}': #{simpkv('rm', '-r', *operands(folder))}")
        end
      end

      # Finds the folders of a doctor that was killed, or that still runs.
      def look_for_leftovers
        names = backend.store.list(home) { nil }[:folders].grep(/\A#{SCRATCH}[0-9a-f]{8}\z/)
        names.each do |name|
          findings.warning('leftovers', "#{home}/#{name}",
                           "if no other simpkv doctor is running: #{simpkv('rm', '-r', *operands("#{home}/#{name}"))}")
        end
      rescue Simpkv::Error
        nil # There are no global keys, or another check reports the problem.
      end

      # Reads every key, as functions would.
      def look_at_keys
        errors = {}
        faults = {}
        count = 0
        folders = Walk.new(backend.store).each(roots, errors) do |path, document|
          count += 1
          fault = fault_of(document)
          fault ? faults[path] = fault : note(path, document)
        end
        report_expired
        report_losses
        return report_keys(errors, faults, count) if errors.any? || faults.any?

        folders = Output.count(folders.length, 'folder')
        findings.ok('reading', "#{Output.count(count, 'key')} in #{folders}")
      rescue Simpkv::Error => e
        trouble('reading', e, 'remove the cause, so that folders can be listed')
      end

      def note(path, document)
        @expired += 1 if Versions.expired?(document)
        why = LostValue.of_content(document)
        @losses[path] = why if why
        samples << path if samples.length < SAMPLES
      end

      # Reports an error of the store.
      def trouble(what, error, fix)
        findings.problem(what, error.message, fix)
      end

      # @return [String, nil] the reason why functions cannot read the document; it quotes nothing
      def fault_of(document)
        encrypted?(document) ? ENCRYPTED : StoredForm.fault(document)
      end

      def encrypted?(document)
        !Native::Keyring.kid_of(document).nil?
      rescue MalformedError
        false
      end

      # The next simpkv::get_or_create replaces them.
      def report_expired
        return if @expired.zero?

        findings.ok('expiry', "#{Output.count(@expired, 'key')} expired (#{simpkv('expire', '--dry-run')} names them)")
      end

      def report_losses
        @losses.group_by(&:last).each do |why, losses|
          findings.warning('lost values', "#{Output.count(losses.length, 'key')} as simpkv 1.0.0 stored some: " \
                                          "#{why}: #{named(losses.map(&:first))}",
                           'store these values anew, or delete the keys')
        end
      end

      def named(paths)
        more = ", and #{paths.length - NAMED} more" if paths.length > NAMED
        "#{paths.map { |path| Output.name(path) }.sort.first(NAMED).join(', ')}#{more}"
      end

      def report_keys(errors, faults, count)
        faults = report_encrypted(faults)
        { errors => 'remove the cause; if it is not a key, delete it',
          faults => 'restore it from a backup, store it anew, or delete it' }.each do |paths, fix|
          paths.sort.first(NAMED).each do |path, why|
            name = path[OF_RUNS, 1]
            remedy = name ? stored_anew(name) : "#{fix_of(why, fix)}: #{removal(path)}"
            findings.problem("key '#{Output.name(path)}'", why, remedy)
          end
        end
        faulty = errors.length + faults.length
        report_count(faulty, count + errors.length) unless faulty.zero?
      end

      # @param usual [String] the remedy for other faults
      # @return [String]
      def fix_of(why, usual)
        case why
        when /'encrypted_only'/ then "#{simpkv('rekey')}, store it anew, or delete it"
        when /\A(?:cannot decrypt|its encrypted document)/ then UNDECRYPTED
        else usual
        end
      end

      # Reports encrypted documents, which are no faults.
      #
      # @return [Hash{String => String}] the other faults
      def report_encrypted(faults)
        others = faults.reject { |_, why| why == ENCRYPTED }
        count = faults.length - others.length
        return others if count.zero?

        findings.problem('encryption', "#{Output.count(count, 'document')} encrypted, and no 'encryption_keys'",
                         "set 'encryption_keys' of the backend to the file of the keys")
        others
      end

      def report_count(faulty, count)
        more = ", of which #{NAMED} of each kind are named" if faulty > NAMED
        findings.problem('reading', "#{faulty} of #{Output.count(count, 'key')} cannot be read#{more}",
                         'repair or delete them')
      end

      # The next run stores only what differs from the record of the inventory.
      #
      # @param name [String] of a node
      # @return [String] the remedy for a document that runs of the node write
      def stored_anew(name)
        "#{removal("globals/estate/inventory/#{name}")}: the next run of #{Output.name(name)} stores it anew"
      end

      # @return [String] the command that deletes the key
      def removal(path)
        return 'by hand' unless path.match?(%r{\A(globals|environments/[^/]+)/[\w.:/-]+\z})

        "#{simpkv('rm', *operands(path))}, or by hand"
      end

      # @return [Array<String>] the words of a command line for a path
      def operands(path)
        root, rest = path.split('/', 2)
        root == 'globals' ? ['-g', rest] : ['-e', *rest.split('/', 2)]
      end
    end
  end
end
