# frozen_string_literal: true

require 'simpkv/cli/base_entry'
require 'simpkv/cli/file_root'

module Simpkv
  module Cli
    # One backend of the configuration: what it is, where it keeps keys, and its store.
    class Backend
      # @return [String] the name in the configuration
      attr_reader :name

      # @return [Hash{String => Object}] its options, converted, with their defaults
      attr_reader :settings

      # @return [String] why it is this one
      attr_reader :reason

      # @param options [Hash] merged ones, validated
      # @param reason [String]
      # @param vardir [String, nil] Puppet's; nil for the usual one
      def initialize(options, reason, vardir = nil)
        @options = options
        @name = options['backend']
        @settings = Config.typed(options['backends'][@name], @name)
        @reason = reason
        @vardir = vardir
      end

      # @param overriding [Hash{String => Object}] options of the backend; nil for none
      # @return [Backend] the same with these
      def with(overriding)
        options = Config.copy(@options)
        options['backends'][name] = options['backends'][name].merge(overriding).compact
        Backend.new(options, reason, @vardir)
      end

      def type
        settings['type']
      end

      def id
        settings['id']
      end

      # @return [String] what the functions' errors call it
      def title
        "#{type}/#{id}"
      end

      def ldap?
        type == 'ldap'
      end

      # @return [Boolean] whether its keys may have capital letters
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
      # @return [String] as the store knows it
      # @raise [Simpkv::Error] when it could lead elsewhere
      def path(key)
        Native.key_join(prefix, key)
      end

      # @return [String] where it is: the folder, or servers and base DN
      def location
        ldap? ? "#{settings['base_dn']} at #{settings['ldap_uri']}" : root_path
      end

      # @return [String] as whom a directory is asked
      def identity
        settings['admin_pw_file'] ? settings['admin_dn'] : 'the local user'
      end

      # @return [FileRoot] the folder of a file backend
      def root
        @root ||= FileRoot.new(settings) { [vardirs] }
      end

      # @return [String] its path; the folder need not be there yet
      def root_path
        root.path
      end

      # @return [String] the vardir of Puppet that is there, the server's first, or else where it would be
      def vardir
        vardirs.find { |folder| File.directory?(folder) } || vardirs.first
      end

      # Opens the store. A wrong base DN looks like an empty store, so a directory is asked for its base entry.
      #
      # @param jobs [Integer, nil] how many threads will use it at once
      # @param create [Boolean] whether a missing folder is made, as writing does
      # @param base [Boolean] whether the base entry must exist
      # @return [Store]
      # @raise [Failure, Simpkv::Error]
      def store(jobs: nil, create: false, base: true)
        GC.enable # exe/simpkv
        @store ||= ldap? ? ldap_store(jobs) : file_store(create)
        check_base if base && ldap? && !@base_found
        @store
      end

      # Asks a directory for its base entry.
      #
      # @return [void]
      # @raise [Failure] it has none, or does not answer
      def check_base
        @base_found = base?
        return if @base_found

        no_access("there is no such entry at #{settings['ldap_uri']}, or #{identity} may not see it: correct " \
                  "'base_dn', or make the entry with 'simpkv init' ('simpkv doctor' looks into it)", Failure::CONFIG)
      rescue Simpkv::Error => e
        no_access(explained(e), Failure.code_for(e))
      end

      # @return [Boolean] whether a directory shows its base entry
      # @raise [Simpkv::Error]
      def base?
        store(base: false).exist?('')
      rescue DeniedError, UnavailableError => e
        raise unless BaseEntry.missing?(e)

        false
      end

      # @return [Array<String>] those that have a folder, sorted
      # @raise [Failure, Simpkv::Error]
      def environments
        store.list('environments') { nil }[:folders].map { |name| Output.name(name) }.sort
      rescue NotFoundError
        []
      end

      # @return [Hash] what tells this place from others
      def place
        where = ldap? ? settings.slice('base_dn', 'ldap_uri', 'layout') : { 'root_path' => root_path }
        { 'type' => type, 'id' => id, **where }
      end

      # @return [Boolean] whether there is a folder to read; of a directory that cannot be told
      def there?
        ldap? || root.there?
      end

      # @param error [Simpkv::Error] of the store
      # @return [String] what it says, and what to do about it where that is known
      def explained(error)
        return error.message.to_s unless ldap? && [DeniedError, UnavailableError].any? { |type| error.is_a?(type) }

        "#{error.message.chomp('.')} ('simpkv doctor' looks into it)"
      end

      private

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
        LdapAccess.open(settings, jobs ? { 'pool_size' => [jobs, settings['pool_size']].max } : {})
      rescue InvalidError => e
        raise Failure.new("#{title}: #{e.message}", Failure::CONFIG)
      end
    end
  end
end
