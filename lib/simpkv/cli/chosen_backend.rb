# frozen_string_literal: true

require 'simpkv/cli/owners'
require 'simpkv/cli/store_folder'

module Simpkv
  module Cli
    # The backend that a command uses. Opens its store once.
    class ChosenBackend < Backend
      %i[bound_as explain location].each do |name|
        define_method(name) { |*arguments| place.public_send(name, *arguments) }
      end

      # @return [String] the reason why the command uses this backend
      attr_reader :reason

      # @param options [Hash] merged options
      # @param reason [String]
      # @param vardir [String, nil] the vardir of Puppet; nil for the default
      # @raise [ConfigError]
      def initialize(options, reason, vardir = nil)
        super(options, nil, ->(warning) { warn("simpkv: #{warning}") })
        @reason = reason
        @vardir = vardir
      end

      # @param overriding [Hash{String => Object}] options of the backend; nil removes one
      # @return [ChosenBackend] the same backend with these options
      def with(overriding)
        options = Config.copy(@options)
        options['backends'][name] = options['backends'][name].merge(overriding).compact
        ChosenBackend.new(options, reason, @vardir)
      end

      # Leaves the warnings about its files to the examination that reports them.
      #
      # @return [ChosenBackend] itself
      def examined
        @examined = true
        self
      end

      # @raise [Failure]
      def prefix
        super
      rescue ArgumentError => e
        raise Failure.new(e.message, Failure::USAGE)
      end

      # @return [StoreFolder, Backend::LdapPlace]
      def place
        @place ||= ldap? ? directory : StoreFolder.new(settings, @warn) { [vardirs] }
      end

      # @return [String] the first vardir of Puppet that exists, or else the default one
      def vardir
        vardirs.find { |folder| File.directory?(folder) } || vardirs.first
      end

      # Has {#store} return documents as they are stored, also encrypted ones.
      #
      # @return [ChosenBackend] this one
      def raw
        @raw = true
        self
      end

      # @return [Boolean] whether {#store} returns documents as they are stored
      def raw?
        @raw ? true : false
      end

      # Refuses a document that the options do not decrypt: it could be read in no other place.
      #
      # @param document [String] of {#store}
      # @return [void]
      # @raise [MalformedError] it is encrypted
      def check_form(document)
        return if raw? || Native::Keyring.kid_of(document).nil?

        raise MalformedError, "it is encrypted: set 'encryption_keys' of the backend, or use --raw"
      end

      # @return [Boolean] whether documents are encrypted, or were and still have to be read
      def encrypted?
        settings.key?('encryption_keys')
      end

      # @return [EncryptedStore, nil] what decrypts the documents of a {#raw} backend; nil if none is encrypted
      # @raise [InvalidError, DeniedError] the file of keys cannot be used
      def decrypting
        Layers.encrypted(nil, settings) if encrypted?
      end

      # Opens the store. Checks that a directory has the base entry. The entry may be hidden.
      #
      # @param jobs [Integer, nil] the number of threads that use it at once
      # @param create [Boolean] whether to create a missing folder
      # @param base [Boolean] whether the base entry must exist
      # @return [Store, Object] see {Layers.over}
      # @raise [Failure, Simpkv::Error]
      def store(jobs: nil, create: false, base: true)
        stored = below(jobs: jobs, create: create)
        check_base if base && ldap? && !@base_found
        (@stores ||= {})[raw?] ||= layered(stored, raw: raw?)
      end

      # Has the owners of folders check the options, before keys are stored there. Documents that stay as they are
      # stored need no check.
      #
      # @param paths [Array<String>] of keys
      # @return [void]
      # @raise [Simpkv::Error, ConfigError] see {Owners.check}
      def check_agreement(paths)
        Owners.check(settings, store, paths) unless raw?
      end

      # Checks that a directory has the base entry.
      #
      # @return [:visible, :hidden]
      # @raise [Failure] the entry is missing, or the server does not answer
      def check_base
        place.check_access(below).tap { @base_found = true }
      rescue Simpkv::Error => e
        raise Failure.new("#{title}: #{e.message}", Failure.code_for(e))
      end

      # @return [Symbol] see {LdapAccess.base}
      # @raise [Simpkv::Error]
      def base
        LdapAccess.base(below)
      end

      # @return [Array<String>] the environments that have a folder, sorted
      # @raise [Failure, Simpkv::Error]
      def environments
        store.list('environments', required: false) { nil }[:folders].map { |name| Output.name(name) }.sort
      end

      # @return [Hash] the identity of the place, and of the form of its documents
      def address
        where = ldap? ? settings.slice('base_dn', 'ldap_uri', 'layout') : { 'root_path' => place.path }
        { 'type' => type, 'id' => id, **where, **(raw? ? { 'raw' => true } : {}) }
      end

      private

      # @return [Store] the store with documents as they are stored
      def below(jobs: nil, create: false)
        @below ||= ldap? ? ldap_store(jobs) : file_store(create)
      end

      def vardirs
        @vardir ? [@vardir] : Vardirs.all
      end

      def directory
        Backend.place(settings, ->(warning) { warn("simpkv: #{title}: #{warning}") unless @examined })
      end

      def file_store(create)
        unless create || there?
          raise Failure.new("#{title}: there is no folder '#{place.path}' to read keys from: is this the right " \
                            "backend? Storing a key makes it, and so does 'simpkv init'", Failure::NO_INPUT)
        end
        create ? place.open : place.open_unchecked
      end

      def ldap_store(jobs)
        problem = LdapAccess.advised_problem(settings)
        raise Failure.new("#{title}: #{problem}", Failure::CONFIG) if problem

        place.open_unchecked(jobs ? { 'pool_size' => [jobs, settings['pool_size']].max } : {})
      rescue InvalidError => e
        raise Failure.new("#{title}: #{e.message}", Failure::CONFIG)
      end
    end
  end
end
