# frozen_string_literal: true

require 'simpkv/document/codec'

module Simpkv
  # Documents with values of Puppet's types, in the form of Puppet's rich data: docs/adr/0008-rich-data.md.
  #
  #     {"value":{"__ptype":"Sensitive","__pvalue":"x"},"encoding":"pcore","metadata":{...}}
  #
  # This file needs no Puppet. {Converter} makes Puppet's objects of such data, and data of objects. {Encoder} makes
  # documents, for functions.
  module RichData
    # The encoding of such a document. The value and the metadata have it.
    ENCODING = 'pcore'

    # The members of an object: the name of its type, and its content.
    TYPE = '__ptype'
    CONTENT = '__pvalue'

    # The types that a document may name. Types as values are not among them, nor are references (LocalRef): Puppet
    # generates classes from the former, and calls methods that the latter name. With either, a client that can write to
    # the store could run Ruby code.
    TYPES = %w[Sensitive Binary Symbol Default Regexp URI SemVer SemVerRange Timestamp Timespan Hash].freeze

    class << self
      # @param document [String]
      # @return [Hash{Symbol => Object}] as {Codec.decode}; value and metadata are rich data if it has `encoding:`
      # @raise [MalformedError]
      def decode(document)
        Codec.decode(document, foreign: ENCODING)
      end

      # Reads a document without Puppet. A Sensitive becomes its content. A Binary becomes its bytes if it is the whole
      # value, else its base64. Other types stay as they are stored.
      #
      # @param document [String]
      # @return [Hash] `{value:, metadata:}`
      # @raise [MalformedError]
      def read(document)
        decoded = decode(document)
        return decoded unless decoded.delete(:encoding)

        value = decoded[:value]
        value = value[CONTENT] while object?(value, 'Sensitive')
        value = object?(value, 'Binary') ? bytes(value) : revealed(value)
        { value: value, metadata: revealed(decoded[:metadata]) }
      end

      # @param decoded [Hash] the result of {read}
      # @return [Hash{String => Object}] the same for JSON and YAML, with bytes in base64
      def presentable(decoded)
        value = decoded[:value]
        shown = binary?(value) ? { 'value' => [value].pack('m0'), 'encoding' => 'base64' } : { 'value' => value }
        shown.merge('metadata' => decoded[:metadata])
      end

      # @return [Boolean] whether the value is bytes, not text
      def binary?(value)
        value.is_a?(String) && !Codec.text?(value)
      end

      # @return [Boolean] whether the data are an object of that type
      def object?(data, type)
        data.is_a?(Hash) && data[TYPE] == type && data.key?(CONTENT)
      end

      # A Hash is stored as an object with a list if one of its keys is a number, for instance.
      #
      # @param data [Hash] of rich data
      # @return [Array<Array>, nil] keys and values of such a Hash; nil for other data
      def pairs(data)
        data[CONTENT].each_slice(2).to_a if list?(data)
      end

      # @param data [Hash] of rich data
      # @yieldparam name [String] of each member, or the text of another key: see {pairs}
      # @yieldparam value [Object]
      # @yieldreturn [Object] the value in its place
      # @return [Hash] a copy in the same form
      def map_members(data)
        pairs = pairs(data)
        return data.to_h { |name, value| [name, yield(name, value)] } unless pairs

        object('Hash', pairs.flat_map { |name, value| [name, yield(name.to_s, value)] })
      end

      # @return [Boolean] whether the data hold an object, or a Hash that could be taken for one, at any depth
      def any?(data)
        case data
        when Array then data.any? { |member| any?(member) }
        when Hash then data.key?(TYPE) || data.each_value.any? { |member| any?(member) }
        else false
        end
      end

      # @param data [Object]
      # @param types [Array<String>]
      # @yieldparam object [Hash] each object of these types that is not inside another one
      # @yieldreturn [Object] its replacement
      # @return [Object] a copy
      def replace(data, *types, &block)
        return yield data if types.any? { |type| object?(data, type) }

        case data
        when Hash then data.transform_values { |member| replace(member, *types, &block) }
        when Array then data.map { |member| replace(member, *types, &block) }
        else data
        end
      end

      # @return [Hash{String => Object}] an object of that type
      def object(type, content)
        { TYPE => type, CONTENT => content }
      end

      # Makes the document that simpkv::put makes of a Sensitive.
      #
      # @param value [Object] plain data, or bytes
      # @param metadata [Hash] plain data
      # @param typed [Boolean] whether the metadata are rich data
      # @return [String] the document of the value as a Sensitive
      # @raise [UnencodableError, TooLargeError] as {Codec.encode}; or it would be read as another value
      def sensitive(value, metadata = {}, typed: false)
        refuse_types(value, 'value')
        refuse_types(metadata, 'metadata') unless typed
        value = binary(value) if binary?(value)
        Codec.encode(object('Sensitive', value), metadata, ENCODING)
      end

      # @param bytes [String]
      # @return [Hash{String => Object}] a Binary
      def binary(bytes)
        object('Binary', [bytes].pack('m0'))
      end

      # @param binary [Hash] an object of the type Binary
      # @return [String]
      def bytes(binary)
        binary[CONTENT].to_s.unpack1('m')
      end

      # Refuses objects of other types: from them Puppet could make other objects, such as a Deferred, which an agent
      # would call.
      #
      # @param data [Object]
      # @param types [Array<String>]
      # @yieldparam object [Hash] each object, for further checks
      # @return [void]
      # @raise [TypeError]
      def check(data, types = TYPES, &block)
        case data
        when Array then data.each { |member| check(member, types, &block) }
        when Hash
          check_object(data, types, &block) if data.key?(TYPE)
          data.each_value { |member| check(member, types, &block) }
        end
      end

      private

      def list?(data)
        object?(data, 'Hash') && data[CONTENT].is_a?(Array)
      end

      def refuse_types(data, place)
        return unless any?(data)

        raise UnencodableError, "cannot encode the #{place}: beside a Sensitive, no Hash may have a key '#{TYPE}'"
      end

      def check_object(object, types)
        raise TypeError unless types.include?(object[TYPE])

        yield object if block_given?
      end

      def revealed(data)
        replace(data, 'Sensitive', 'Binary') { |object| revealed(object[CONTENT]) }
      end
    end
  end
end
