# frozen_string_literal: true

require 'json'

module Simpkv
  # Reads JSON with Ruby's own parser: on JRuby all documents, on MRI those that the native reader declines.
  module JsonReader
    # The depth is the core's. Of repeated members the last one counts: newer json gems refuse them without this option,
    # or warn and quote them; older ones ignore the option.
    OPTIONS = { max_nesting: 100, allow_duplicate_key: true }.freeze
    # Texts with a number that may be beyond a Float; strings; numbers that become Floats.
    EXTREME = /[\d.][eE][+-]?\d{3}|\d{200}/.freeze
    STRING = /"(?:[^"\\]++|\\.)*+"/m.freeze
    REAL = /\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)/.freeze
    # An object that is read with {unique?}, by versions of the json gem that ignore the option.
    class Members < Hash
      # @raise [JSON::ParserError]
      def []=(name, value)
        raise JSON::ParserError, 'a member is repeated' if key?(name)

        super
      end
    end
    private_constant :OPTIONS, :EXTREME, :STRING, :REAL, :Members

    # @param text [String] JSON
    # @return [Object] the result of JSON.parse
    # @raise [MalformedError] it cannot be read, or is not UTF-8, which some parsers accept; it has a number beyond a
    #   Float, which JSON.parse takes for Infinity or 0.0; neither the message nor a cause quotes the text
    def self.parse(text)
      raise MalformedError, 'not a JSON document' unless utf8?(text)
      raise MalformedError, 'a number is too large or too near to zero for a Float' if beyond_float?(text)

      JSON.parse(text, **OPTIONS)
    rescue JSON::NestingError
      raise MalformedError, 'nested too deeply', cause: nil
    rescue JSON::ParserError, EncodingError
      raise MalformedError, 'not a JSON document', cause: nil
    end

    # @param text [String] JSON that can be read
    # @param content [Object] what {parse} makes of it
    # @return [Boolean] whether no object has a member twice
    def self.unique?(text, content)
      JSON.parse(text, **OPTIONS, allow_duplicate_key: false, object_class: Members) unless generated?(text, content)
      true
    rescue JSON::ParserError
      false
    end

    # Most programs write JSON as simpkv does. It is compared in a fifth of the time that Ruby's parser takes.
    def self.generated?(text, content)
      Native.generate(content) == text
    rescue UnencodableError, TooLargeError
      false
    end
    private_class_method :generated?

    # Binary text may be UTF-8 without the tag.
    def self.utf8?(text)
      text = String.try_convert(text)
      return true unless text

      text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
      text.valid_encoding?
    end
    private_class_method :utf8?

    def self.beyond_float?(text)
      text = String.try_convert(text)
      return false unless text

      text = text.encode(Encoding::UTF_8) unless text.encoding.ascii_compatible?
      bytes = text.b
      bytes.match?(EXTREME) && bytes.gsub(STRING, '""').scan(REAL).any? { |number| lost?(number) }
    end
    private_class_method :beyond_float?

    def self.lost?(number)
      float = Float(number)
      float.infinite? || (float.zero? && number.match?(/\A[0.]*[1-9]/))
    end
    private_class_method :lost?
  end
end
