# frozen_string_literal: true

require 'simpkv/cli/file_root'

module Simpkv
  module Cli
    # One backend of the configuration: its settings, its place and its store.
    class Backend
      # @return [String] the name in the configuration
      attr_reader :name

      # @return [Hash{String => Object}] its options, converted, with their defaults
      attr_reader :settings

      # @return [String] the reason why the command uses this backend
      attr_reader :reason

      # @param options [Hash] merged and validated options
      # @param reason [String]
      # @param vardir [String, nil] the vardir of Puppet; nil for the default
      def initialize(options, reason, vardir = nil)
        @options = options
        @name = options['backend']
        @settings = Config.typed(options['backends'][@name], @name)
        @reason = reason
        @vardir = vardir
      end

      # @param overriding [Hash{String => Object}] options of the backend; nil removes one
      # @return [Backend] the same backend with these options
      def with(overriding)
        options = Config.copy(@options)
        options['backends'][name] = options['backends'][name].merge(overriding).compact
        Backend.new(options, reason, @vardir)
      end

      # Leaves the warnings about its files to the examination that reports them.
      #
      # @return [Backend] itself
      def examined
        @examined = true
        self
      end

      def type
        settings['type']
      end

      def id
        settings['id']
      end

      # @return [String] the name in the errors of functions
      def title
        "#{type}/#{id}"
      end

      def ldap?
        type == 'ldap'
      end

      # @return [Boolean] whether its keys can have capital letters
      def case_sensitive?
        Config.case_sensitive?(@options)
      end

      # @return [String] the folder of the chosen environment, or of the global keys
      def prefix
        Config.prefix(@options)
      rescue ArgumentError => e
        raise Failure.new(e.message, Failure::USAGE)
      end

      # @param key [String] as manifests write it
      # @return [String] the path in the store
      # @raise [Simpkv::Error] the key could leave its folder
      def path(key)
        Native.key_join(prefix, key)
      end

      # @return [String] the folder, or the base DN and the servers
      def location
        ldap? ? "#{settings['base_dn']} at #{settings['ldap_uri']}" : root_path
      end

      # @return [String] the identity that binds to the directory
      def identity
        settings['admin_pw_file'] ? settings['admin_dn'] : 'the local user'
      end

      # @return [FileRoot] the folder of a file backend
      def root
        @root ||= FileRoot.new(settings) { [vardirs] }
      end

      # @return [String] its path; the folder may be missing
      def root_path
        root.path
      end

      # @return [String] the first vardir of Puppet that exists, or else the default one
      def vardir
        vardirs.find { |folder| File.directory?(folder) } || vardirs.first
      end

      # Has {#store} return documents as they are stored, also encrypted ones.
      #
      # @return [Backend] this one
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

      # Opens the store. Checks that a directory has the base entry, because a wrong base DN looks like an empty store.
      # The entry may be hidden.
      #
      # @param jobs [Integer, nil] the number of threads that use it at once
      # @param create [Boolean] whether to create a missing folder
      # @param base [Boolean] whether the base entry must exist
      # @return [Store, Object] see {Layers.over}
      # @raise [Failure, Simpkv::Error]
      def store(jobs: nil, create: false, base: true)
        stored = below(jobs: jobs, create: create)
        check_base if base && ldap? && !@base_found
        (@stores ||= {})[raw?] ||=
          Layers.over(stored, settings, raw: raw?, warn: ->(warning) { warn("simpkv: #{warning}") })
      end

      # Checks that a directory has the base entry.
      #
      # @return [:visible, :hidden]
      # @raise [Failure] the entry is missing, or the server does not answer
      def check_base
        found = base
        @base_found = found != :missing
        return found if @base_found

        no_access("there is no such entry at #{settings['ldap_uri']}, or #{identity} may not see it: correct " \
                  "'base_dn', or make the entry with 'simpkv init' ('simpkv doctor' looks into it)", Failure::CONFIG)
      rescue Simpkv::Error => e
        no_access(explained(e), Failure.code_for(e))
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
      def place
        where = ldap? ? settings.slice('base_dn', 'ldap_uri', 'layout') : { 'root_path' => root_path }
        { 'type' => type, 'id' => id, **where, **(raw? ? { 'raw' => true } : {}) }
      end

      # @return [Boolean] whether the folder exists; true for a directory
      def there?
        ldap? || root.there?
      end

      # @param error [Simpkv::Error] of the store
      # @return [String] its message, with the remedy if one is known
      def explained(error)
        return error.message.to_s unless ldap? && [DeniedError, UnavailableError].any? { |type| error.is_a?(type) }

        "#{error.message.chomp('.')} ('simpkv doctor' looks into it)"
      end

      private

      # @return [Store] the store with documents as they are stored
      def below(jobs: nil, create: false)
        @below ||= ldap? ? ldap_store(jobs) : file_store(create)
      end

      def vardirs
        @vardir ? [@vardir] : Vardirs.all
      end

      def file_store(create)
        unless create || there?
          raise Failure.new("#{title}: there is no folder '#{root_path}' to read keys from: is this the right " \
                            "backend? Storing a key makes it, and so does 'simpkv init'", Failure::NO_INPUT)
        end
        create ? root.make : root.open
      end

      def no_access(why, code)
        raise Failure.new("#{title}: could not access #{settings['base_dn']}: #{why}", code)
      end

      def ldap_store(jobs)
        LdapAccess.warnings(settings).each { |warning| warn("simpkv: #{title}: #{warning}") } unless @examined
        LdapAccess.open(settings, jobs ? { 'pool_size' => [jobs, settings['pool_size']].max } : {})
      rescue InvalidError => e
        raise Failure.new("#{title}: #{e.message}", Failure::CONFIG)
      end
    end
  end
end
