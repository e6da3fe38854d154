# frozen_string_literal: true

module Simpkv
  module Cli
    # Values on a command line, in the output and in an editor.
    module Value
      class << self
        # @param document [String]
        # @return [Boolean] whether its key has expired; false for a document that cannot be read
        def expired?(document)
          Versions.expired?(document)
        rescue MalformedError
          false
        end

        # @param document [String]
        # @return [:whole, :part, nil] `:whole` if its value is a Sensitive, `:part` if only a part of the value is one
        # @raise [MalformedError]
        def secret(document)
          decoded = RichData.decode(document)
          return unless decoded.key?(:encoding)
          return :whole if RichData.object?(decoded[:value], 'Sensitive')

          found = nil
          RichData.replace(decoded[:value], 'Sensitive') { found = :part }
          found
        end

        # @param document [String]
        # @yieldparam value [Object]
        # @yieldreturn [Object] the part of the value to show
        # @return [Hash{String => Object}] see {RichData.presentable}, with `sensitive` if there is a {secret}
        # @raise [MalformedError]
        def presentable(document)
          read = RichData.read(document)
          read[:value] = yield(read[:value]) if block_given?
          shown = RichData.presentable(read)
          secret(document) ? shown.merge('sensitive' => true) : shown
        end

        # @param bytes [String]
        # @return [String, nil] the same as text; nil if it is not UTF-8
        def utf8(bytes)
          text = bytes.dup.force_encoding(Encoding::UTF_8)
          text if text.valid_encoding?
        end

        # @param value [Object]
        # @return [String] text and bytes as they are, other values as JSON
        def text(value)
          value.is_a?(String) ? value : UnsafeCharacters.escaped_in_json(Native.generate(value))
        end

        # @param text [String] JSON
        # @param what [String] its name, for the message; the message of the parser would quote the text
        # @return [Object]
        # @raise [Failure]
        def parse(text, what)
          Native.parse(text.dup.force_encoding(Encoding::UTF_8))
        rescue MalformedError
          raise Failure.new("#{what} is not JSON", Failure::DATA), cause: nil
        end

        # @return [Object] a value that can be stored; null cannot, as in simpkv::put
        # @raise [Failure]
        def from_json(text, what)
          parsed = parse(text, what)
          return parsed unless parsed.nil?

          raise Failure.new("#{what} is null, which is not stored: simpkv rm deletes the key", Failure::DATA)
        end

        # @param document [String]
        # @return [Hash{String => Object}] a description without the value: its `type`, the `bytes` of the document,
        #   `metadata`, the number of their entries, and `expires`, if the document has that. The type of a document
        #   that cannot be read is `malformed`, and its `metadata` is nil
        def summary(document)
          decoded = RichData.decode(document)
          { 'type' => type(decoded[:value], decoded.key?(:encoding)), 'bytes' => document.bytesize,
            'metadata' => decoded[:metadata].length, **Versions.log(document).first.slice('expires').compact }
        rescue MalformedError
          { 'type' => 'malformed', 'bytes' => document.bytesize, 'metadata' => nil }
        end

        private

        TYPES = { NilClass => 'Undef', TrueClass => 'Boolean', FalseClass => 'Boolean' }.freeze
        private_constant :TYPES

        # The name of the type in Puppet.
        def type(value, rich)
          return value[RichData::TYPE] if rich && value.is_a?(Hash) && value[RichData::TYPE].is_a?(String)

          RichData.binary?(value) ? 'Binary' : TYPES.fetch(value.class, value.class.name)
        end
      end
    end
  end
end
