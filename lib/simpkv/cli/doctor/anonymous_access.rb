# frozen_string_literal: true

module Simpkv
  module Cli
    # Finds the keys that a directory shows to a client that has not bound.
    class AnonymousAccess
      # The options that a client binds with.
      IDENTITY = %w[admin_dn admin_pw_file tls_cert tls_key].freeze
      private_constant :IDENTITY

      # @param backend [ChosenBackend] of type ldap
      def initialize(backend)
        options = LdapAccess.store_options(backend.settings).reject { |name, _| IDENTITY.include?(name) }
        @store = Store.open('ldap', options.merge('anonymous' => true, 'retries' => 0))
      end

      # @param paths [Array<String>] of keys
      # @return [String, nil] the rights of such a client on one of them, in words; nil if it has none
      # @raise [Simpkv::Error] it cannot be determined
      def to(paths)
        readable = paths.find { |path| shown? { @store.get(path) } }
        return "read keys, such as '#{readable}'" if readable

        visible = paths.find { |path| shown? { @store.exist?(path) } }
        "see the names of keys, such as '#{visible}'" if visible
      end

      # @return [void]
      def close
        @store.close
      end

      private

      def shown?
        yield ? true : false
      rescue NotFoundError, DeniedError, MalformedError
        false
      end
    end
  end
end
