# frozen_string_literal: true

module Simpkv
  module Cli
    # The entries of a store of trocla, as its documentation and that of moneta describe them. A file of the adapter
    # YAML has a Hash for each key, with the secret in each format. A table of the adapter Sequel has a key and a value
    # in each row, both perhaps marshalled, and then perhaps in base64.
    module TroclaEntries
      # Reads what Ruby's Marshal has written of texts, numbers, lists and hashes. Marshal.load would make any object.
      class Marshalled
        # What it begins with: the version of the format.
        MARK = "\x04\x08".b.freeze

        CONSTANTS = { '0' => nil, 'T' => true, 'F' => false }.freeze
        SIMPLE = { 'i' => :number, ':' => :symbol, ';' => :known_symbol, '@' => :known_object }.freeze
        OBJECTS = { 'I' => :with_variables, 'U' => :rational, 'l' => :large, '"' => :text, 'f' => :float, '[' => :list,
                    '{' => :hash_of_pairs }.freeze
        FLOATS = { 'inf' => Float::INFINITY, '-inf' => -Float::INFINITY, 'nan' => Float::NAN }.freeze
        private_constant :MARK, :CONSTANTS, :SIMPLE, :OBJECTS, :FLOATS

        # @param bytes [String]
        # @return [Boolean]
        def self.it?(bytes)
          bytes.b.start_with?(MARK)
        end

        # @param bytes [String]
        # @raise [MalformedError] in {#read}: it has other objects, or ends early
        def initialize(bytes)
          @bytes = bytes.b
          @at = MARK.bytesize
          @symbols = []
          @objects = []
        end

        # @return [Object]
        # @raise [MalformedError]
        def read
          value
        rescue NoMethodError, TypeError, ArgumentError, SystemStackError
          malformed
        end

        private

        def malformed
          raise MalformedError, 'its value is no text, list or Hash that Ruby has written', cause: nil
        end

        def take(count)
          part = @bytes.byteslice(@at, count)
          malformed unless part && part.bytesize == count && count >= 0
          @at += count
          part
        end

        def value
          mark = take(1)
          return CONSTANTS[mark] if CONSTANTS.key?(mark)
          return __send__(SIMPLE[mark]) if SIMPLE.key?(mark)

          object(mark)
        end

        # Each of them can be referred to by its number.
        def object(mark)
          place = @objects.length
          @objects << nil
          @objects[place] = __send__(OBJECTS.fetch(mark) { malformed })
        end

        def known_symbol
          @symbols.fetch(number) { malformed }
        end

        def known_object
          @objects.fetch(number) { malformed }
        end

        def list
          Array.new(bounded) { value }
        end

        def hash_of_pairs
          Array.new(bounded) { [value, value] }.to_h
        end

        def float
          text = take(number)
          FLOATS.fetch(text) { Float(text) }
        end

        # A text with its encoding. The two share a number.
        def with_variables
          malformed unless take(1) == '"'
          text.tap { bounded.times { [value, value] } }
        end

        # A time is a fraction of two numbers.
        def rational
          malformed unless value == 'Rational'
          numerator, denominator = value
          malformed unless numerator.is_a?(Integer) && denominator.is_a?(Integer) && denominator.positive?
          Rational(numerator, denominator)
        end

        def large
          sign = take(1) == '-' ? -1 : 1
          sign * take(2 * bounded).bytes.each_with_index.sum { |byte, index| byte << (8 * index) }
        end

        def text
          take(number).force_encoding(Encoding::UTF_8)
        end

        def symbol
          take(number).force_encoding(Encoding::UTF_8).tap { |name| @symbols << name }
        end

        # @return [Integer] a number of members, each of which takes a byte
        def bounded
          number.tap { |count| malformed unless count.between?(0, @bytes.bytesize) }
        end

        def number
          first = take(1).unpack1('c')
          return 0 if first.zero?
          return first - (5 * (first <=> 0)) if first.abs > 4

          whole = take(first.abs).bytes.each_with_index.sum { |byte, index| byte << (8 * index) }
          first.positive? ? whole : whole - (1 << (8 * first.abs))
        end
      end

      # Unix times up to the year 9999.
      TIMES = (0..253_402_300_799).freeze
      private_constant :Marshalled, :TIMES

      class << self
        # @param rows [String] lines with a key, a tab, and the value in hexadecimal digits
        # @yieldparam key [Object] a String in a store of trocla
        # @yieldparam entry [Object, MalformedError]
        # @return [void]
        # @raise [MalformedError] a line is none of these; names its number
        def of_rows(rows)
          rows.each_line(chomp: true).with_index(1) do |line, number|
            key, hex = line.split("\t", -1)
            unless hex&.match?(/\A(?:0x|\\x)?(?:\h\h)+\z/)
              raise MalformedError, "line #{number} is not a key, a tab, and the value in hexadecimal digits"
            end

            yield name(key), decoded([hex.sub(/\A(?:0x|\\x)/, '')].pack('H*'))
          rescue MalformedError => e
            raise if e.message.start_with?('line')

            yield key.force_encoding(Encoding::UTF_8).scrub, e
          end
        end

        # @param entry [Object] of a key
        # @return [Array(Hash{String => String}, Time)] the secret in each format, and when it expires, or nil
        # @raise [MalformedError] it is something else
        def formats(entry)
          entry, expires = entry if entry.is_a?(Array)
          unless texts?(entry)
            raise MalformedError, 'it is no Hash of texts by format: an encrypted store is to be decrypted first'
          end

          [entry.transform_values { |text| valid(text) }, expires.nil? ? nil : time(expires)]
        end

        private

        def name(bytes)
          name = decoded(bytes)
          name.is_a?(String) ? valid(name) : name
        end

        def time(expires)
          return Time.at(expires).utc if expires.is_a?(Numeric) && TIMES.cover?(expires)

          raise MalformedError, 'the time at which it expires is no number of seconds since 1970, or is after the ' \
                                'year 9999'
        end

        def texts?(entry)
          entry.is_a?(Hash) && entry.flatten.all?(String)
        end

        def decoded(bytes)
          return Marshalled.new(bytes).read if Marshalled.it?(bytes)

          inner = bytes.unpack1('m')
          Marshalled.it?(inner) ? Marshalled.new(inner).read : bytes
        end

        def valid(text)
          text = text.dup.force_encoding(Encoding::UTF_8)
          text.valid_encoding? ? text : raise(MalformedError, 'it is not UTF-8 text')
        end
      end
    end
  end
end
