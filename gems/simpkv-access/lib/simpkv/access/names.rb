# frozen_string_literal: true

module Simpkv
  module Access
    # The DNs of users and roles. The names of {Declarations} need no escapes.
    class Names
      # The beginning of the value of `description` that has the UUID of an entry.
      UID = 'simpkv:uid:'

      # @return [String]
      attr_reader :users_dn, :roles_dn

      # @param dn [String]
      # @return [String] the same for two spellings of a DN
      def self.normalized(dn)
        dn.downcase.gsub(/\s*(?<!\\)([,=])\s*/, '\1')
      end

      # @param dns [Array<String>]
      # @param others [Array<String>]
      # @return [Array<String>] those of `dns` that `others` lack in any spelling
      def self.beyond(dns, others)
        known = others.to_h { |dn| [normalized(dn), true] }
        dns.reject { |dn| known.key?(normalized(dn)) }
      end

      def initialize(users_dn, roles_dn)
        @users_dn = users_dn
        @roles_dn = roles_dn
      end

      def user(name)
        "uid=#{name},#{users_dn}"
      end

      def role(name)
        "cn=#{name},#{roles_dn}"
      end

      # @param section [String] `users` or `roles`
      def dn(section, name)
        section == 'users' ? user(name) : role(name)
      end

      # @param section [String]
      # @param dn [String]
      # @return [String, nil] the name of the user or role with that DN
      def name(section, dn)
        normalized = Names.normalized(dn)
        name = normalized[/\A(?:uid|cn)=([^,\\]+),/, 1]
        name if name && Names.normalized(dn(section, name)) == normalized
      end
    end
  end
end
