# frozen_string_literal: true

module Simpkv
  # Turns a value and its metadata into the bytes of a document, and back:
  #
  #     {"value":V,"metadata":{...}}
  #     {"value":"<base64>","encoding":"base64","original_encoding":"ASCII-8BIT","metadata":{...}}
  #
  # The second is for a String that is binary (ASCII-8BIT) or has no UTF-8 form. A caller may have another encoding:
  #
  #     {"value":V,"encoding":"...","metadata":{...}}
  #
  # A document may have further members: see {Versions}.
  module Codec
    # Why a document is neither read nor replaced without keys. The core has the same text.
    ENCRYPTED = "it is encrypted: set 'encryption_keys' of the backend"

    class << self
      # @param value [nil, true, false, Integer, Float, String, Symbol, Array, Hash] plain data; a Symbol is stored as
      #   its name, and so is a Hash's key
      # @param metadata [Hash] plain data as well
      # @param encoding [String, nil] the name of the caller's own encoding of both, for {.decode} with `foreign`
      # @return [String] the document, in UTF-8
      # @raise [UnencodableError] something in it cannot be stored; the message names its place, such as
      #   `value['a'][3]`, and never quotes it
      # @raise [TooLargeError] the document is above 1 GiB
      #
      # @example
      #   Simpkv::Codec.encode('x', 'id' => 5) #=> '{"value":"x","metadata":{"id":5}}'
      def encode(value, metadata = {}, encoding = nil)
        raise UnencodableError, "cannot encode metadata: #{metadata.class} is not a Hash" unless metadata.is_a?(Hash)
        return Native.generate('value' => value, 'encoding' => encoding, 'metadata' => metadata) if encoding
        return Native.generate(base64(value, metadata)) if value.is_a?(String) && !text?(value)

        Native.generate('value' => value, 'metadata' => metadata)
      end

      # @param bytes [String] a document
      # @param foreign [String, nil] an encoding that the caller decodes
      # @return [Hash{Symbol=>Object}] `{value:, metadata:}`; metadata is `{}` if the document has none. In the foreign
      #   encoding both are as they are stored, and the result has `encoding:` as well. It has `expires:` if the
      #   document has that, as it is stored: see {Versions.past?}
      # @raise [MalformedError] it is not a document, or its value has an unknown encoding
      def decode(bytes, foreign: nil)
        Native.plain_document(bytes) || decode_any(bytes, foreign)
      end

      # @param bytes [String] a document
      # @return [Hash{String => Object}] its members, as they are stored; one of them is `value`
      # @raise [MalformedError] it is not a document
      def members(bytes)
        document = read(bytes)
        return document if document.is_a?(Hash) && document.key?('value')

        malformed("'value' missing")
      end

      # @param bytes [String] a document
      # @return [Boolean] whether it is encrypted, perhaps damaged
      def encrypted?(bytes)
        !Native::Keyring.kid_of(bytes).nil?
      rescue MalformedError
        true
      end

      # @param string [String]
      # @return [Boolean] whether it is stored as text if it is the whole value; otherwise it is stored in base64
      def text?(string)
        return false if string.encoding == Encoding::BINARY || !string.valid_encoding?
        return true if string.encoding == Encoding::UTF_8

        string.encode(Encoding::UTF_8)
        true
      rescue EncodingError
        false
      end

      private

      def decode_any(bytes, foreign)
        document = members(bytes)
        metadata = document['metadata']
        metadata = {} if metadata.nil?
        malformed("'metadata' is not a Hash") unless metadata.is_a?(Hash)
        entry = { value: document['value'], metadata: metadata }
        encoding, expires = document.values_at('encoding', 'expires')
        entry[:expires] = expires unless expires.nil?
        return entry if encoding.nil?
        return entry.merge(encoding: foreign) if encoding == foreign

        entry.merge(value: plain(entry[:value], encoding))
      end

      def base64(string, metadata)
        { 'value' => [string].pack('m0'), 'encoding' => 'base64', 'original_encoding' => 'ASCII-8BIT',
          'metadata' => metadata }
      end

      def read(bytes)
        Native.parse(bytes)
      rescue MalformedError => e
        malformed("JSON parse error: #{e.message}")
      end

      def plain(value, encoding)
        malformed(ENCRYPTED) if encoding == 'jwe'
        malformed('Unsupported encoding') unless encoding == 'base64'
        malformed("'value' is not base64") unless value.is_a?(String)
        value.unpack1('m0')
      rescue ArgumentError
        malformed("'value' is not base64")
      end

      # Without a cause: a parser's message quotes the document.
      def malformed(why)
        raise MalformedError, "Failed to deserialize: #{why}", cause: nil
      end
    end
  end
end
