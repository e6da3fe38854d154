# frozen_string_literal: true

require 'simpkv/backend/ldap_access'

module Simpkv
  module Cli
    # The DNs of the keys and folders of a backend, and back.
    class EntryPaths
      # @param settings [Hash{String => Object}] of a backend of type ldap
      def initialize(settings)
        @settings = settings
        @above = names(LdapAccess.instance_dn(settings)).length
      end

      # @param path [String]
      # @param kind [:key, :folder]
      # @return [String] the DN
      def dn(path, kind)
        Native.dn_from_path(@settings['layout'].to_sym, kind, @settings['base_dn'], @settings['id'], path)
      end

      # @param name [String] a DN
      # @param kind [:key, :folder]
      # @return [String, nil] the path; nil if the DN is that of no key or folder of this backend
      def path(name, kind)
        names = names(name)
        return if names.length <= @above

        path = names.first(names.length - @above).reverse.map { |type, value| segment(type, value) }.join('/')
        path if folded(names(dn(path, kind))) == folded(names)
      rescue InvalidError, TooLargeError, ArgumentError
        nil
      end

      private

      def segment(type, value)
        type.casecmp?('simpkvHexId') ? [value].pack('H*').force_encoding(Encoding::UTF_8) : value
      end

      def folded(names)
        names.map { |pair| pair.map(&:downcase) }
      end

      # @return [Array<Array(String, String)>] the types and values of a DN
      def names(name)
        name.scan(/(?:\\.|[^,\\])+/m).map do |rdn|
          type, value = rdn.split('=', 2)
          bytes = value.to_s.b.gsub(/\\(?:(\h\h)|(.))/m) { Regexp.last_match(1)&.hex&.chr || Regexp.last_match(2) }
          [type.strip, bytes.strip.force_encoding(Encoding::UTF_8)]
        end
      end
    end
  end
end
