# frozen_string_literal: true

module Simpkv
  module Cli
    # The base entry of the keys, and the entries between it and the suffix of the directory.
    module BaseEntry
      # The object class of an entry, by the attribute that names it.
      CLASSES = { 'ou' => 'organizationalUnit', 'o' => 'organization', 'dc' => 'domain' }.freeze

      class << self
        # @param dn [String]
        # @return [Hash{String => Array<String>}] the attributes of a new entry with that DN
        # @raise [InvalidError] the DN begins with an attribute that {CLASSES} lacks
        def attributes(dn)
          attribute, value = first(dn).split('=', 2).map(&:strip)
          object_class = CLASSES[attribute.downcase]
          unless object_class
            raise InvalidError, "an entry that is named by '#{attribute}' has to be made by hand: only ou, o and dc " \
                                'are known'
          end

          { 'objectClass' => ['top', object_class], attribute => [unescaped(value)] }
        end

        # @param dn [String]
        # @return [String, nil] the DN of the entry above it
        def above(dn)
          dn[first(dn).length..].sub(/\A,\s*/, '')[/.+/m]
        end

        # Guesses the suffix of the database that holds an entry: its last `dc`s, or else its last part.
        #
        # @param dn [String]
        # @return [String]
        def suffix(dn)
          parts = parts(dn)
          domain = parts.reverse.take_while { |part| part.match?(/\Adc\s*=/i) }.length
          parts.last([domain, 1].max).join(',')
        end

        # @param dn [String] of the base entry
        # @return [Array<String>] its DN, and those of the entries above it up to the suffix, the outermost first
        def chain(dn)
          count = parts(dn).length - parts(suffix(dn)).length
          (1...count).each_with_object([dn]) { |_, dns| dns.unshift(above(dns.first)) }.first(count)
        end

        private

        def first(dn)
          dn[/\A(\\.|[^,\\])*/m]
        end

        def parts(dn)
          dn.scan(/(?:\\.|[^,\\])+/m).map(&:strip)
        end

        def unescaped(value)
          bytes = value.b.gsub(/\\(?:(\h\h)|(.))/mn) { Regexp.last_match(2) || [Regexp.last_match(1)].pack('H2') }
          bytes.force_encoding(Encoding::UTF_8)
        end
      end
    end
  end
end
