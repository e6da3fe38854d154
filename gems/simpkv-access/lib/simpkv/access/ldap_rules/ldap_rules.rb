# frozen_string_literal: true

require 'simpkv/access/grant'

module Simpkv
  module Access
    # The common part of the access rules of all servers. A subclass has `attribute`, `rules`, `ours?` and `changes`.
    class LdapRules
      # @param values [Array<String>] that the server has
      # @return [Array<String>] those that simpkv has made
      def ours(values)
        values.select { |value| ours?(value) }
      end

      # @param _grants [Array<Grant>]
      # @return [Hash{String => String}] attributes that the entry of the rules needs beside them, with their values
      def settings(_grants)
        {}
      end

      # @param name [String] the DN of the entry that has the rules
      # @param changes [Array] from {#changes}
      # @return [String] LDIF of the changes, for ldapmodify; '' for none
      def ldif(name, changes)
        return '' if changes.empty?

        mods = changes.map do |operation, type, list|
          ["#{operation}: #{type}", *list.map { |value| line(type, value) }, '-'].join("\n")
        end
        "#{line('dn', name)}\nchangetype: modify\n#{mods.join("\n")}\n"
      end

      private

      # @return [String] a line of LDIF, in Base64 if it has to be
      def line(type, value)
        value.ascii_only? ? "#{type}: #{value}" : "#{type}:: #{[value].pack('m0')}"
      end

      # @return [Boolean] whether a DN is that of the other one, or below it
      def below?(name, above)
        name = name.downcase
        above = above.downcase
        name == above || name.end_with?(",#{above}")
      end
    end
  end
end
