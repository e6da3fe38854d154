# frozen_string_literal: true

require_relative 'grant'

module Simpkv
  module Access
    # The common part of the access rules of all servers. A subclass has `attribute`, `rules`, `ours?` and `changes`.
    class Rules
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

      # Compares the rules of the server with those of the roles, for a report.
      #
      # @param values [Array<String>] that the server has
      # @param grants [Array<Grant>]
      # @return [Hash{Symbol => Array<String>}] `missing` ones, and `extra` ones, which are old or edited
      def difference(values, grants)
        changes = changes(values, grants)
        { missing: texts_of(changes, :add), extra: texts_of(changes, :delete) }
      end

      # @param name [String] the DN of the entry that has the rules
      # @param values [Array<String>] that the server has
      # @param grants [Array<Grant>]
      # @return [String] LDIF of the changes, for ldapmodify; '' for none
      def ldif(name, values, grants)
        ldif_of(name, changes(values, grants))
      end

      # @param changes [Array] from {#changes}
      # @return [String] as {#ldif}
      def ldif_of(name, changes)
        return '' if changes.empty?

        mods = changes.map do |operation, type, list|
          ["#{operation}: #{type}", *list.map { |value| line(type, value) }, '-'].join("\n")
        end
        "#{line('dn', name)}\nchangetype: modify\n#{mods.join("\n")}\n"
      end

      private

      def texts_of(changes, operation)
        changes.select { |each| each.first == operation }.flat_map(&:last)
      end

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
