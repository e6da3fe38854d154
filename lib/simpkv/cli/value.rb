# frozen_string_literal: true

module Simpkv
  module Cli
    # A stored value, read without Puppet. A Sensitive becomes its content. A Binary becomes its bytes if it is the
    # whole value, else its base64. Other types of Puppet stay as they are stored.
    module Value
      # The text that simpkv 1.0.0 stored in place of a Sensitive.
      LOST_SECRET = 'Sensitive [value redacted]'

      class << self
        # @param document [String]
        # @return [Hash] `{value:, metadata:}`
        # @raise [MalformedError]
        def read(document)
          decoded = Codec.decode(document, foreign: 'pcore')
          return decoded unless decoded.delete(:encoding)

          value = decoded[:value]
          value = value['__pvalue'] while rich?(value, 'Sensitive')
          value = rich?(value, 'Binary') ? value['__pvalue'].to_s.unpack1('m') : plain(value)
          { value: value, metadata: plain(decoded[:metadata]) }
        end

        # @param decoded [Hash] the result of {read}
        # @return [Hash{String => Object}] the same for JSON and YAML, with bytes in base64
        def presentable(decoded)
          value = decoded[:value]
          shown = binary?(value) ? { 'value' => [value].pack('m0'), 'encoding' => 'base64' } : { 'value' => value }
          shown.merge('metadata' => decoded[:metadata])
        end

        # @param document [String]
        # @return [Boolean] whether its key has expired; false for a document that cannot be read
        def expired?(document)
          Versions.expired?(document)
        rescue MalformedError
          false
        end

        # @param document [String]
        # @return [Boolean] whether it has {LOST_SECRET} at any place: the secret itself is not stored
        def lost_secret?(document)
          document.b.include?(LOST_SECRET)
        end

        # @return [Boolean] whether the value is bytes, not text
        def binary?(value)
          value.is_a?(String) && !Codec.text?(value)
        end

        # @return [Boolean] whether the value is a stored object of that type of Puppet
        def rich?(value, type)
          value.is_a?(Hash) && value['__ptype'] == type && value.key?('__pvalue')
        end

        # @param bytes [String]
        # @return [String, nil] the same as text; nil if it is not UTF-8
        def utf8(bytes)
          text = bytes.dup.force_encoding(Encoding::UTF_8)
          text if text.valid_encoding?
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
        #   `metadata`, the number of their entries, and `expires`, if the document has that
        def summary(document)
          decoded = Codec.decode(document, foreign: 'pcore')
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
          return value['__ptype'] if rich && value.is_a?(Hash) && value['__ptype'].is_a?(String)

          binary?(value) ? 'Binary' : TYPES.fetch(value.class, value.class.name)
        end

        def plain(value)
          return plain(value['__pvalue']) if rich?(value, 'Sensitive') || rich?(value, 'Binary')

          case value
          when Hash then value.transform_values { |member| plain(member) }
          when Array then value.map { |member| plain(member) }
          else value
          end
        end
      end
    end
  end
end
