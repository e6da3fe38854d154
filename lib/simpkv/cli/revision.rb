# frozen_string_literal: true

require 'simpkv/cli/value'

module Simpkv
  module Cli
    # A stored document, and the document with another value and the same metadata.
    class Revision
      # The adapter's name for the encoding of Puppet's own types.
      RICH = 'pcore'
      private_constant :RICH

      # @param document [String]
      # @raise [MalformedError]
      def initialize(document)
        decoded = Codec.decode(document, foreign: RICH)
        @metadata = decoded[:metadata]
        @rich = decoded.key?(:encoding)
        @content = decoded[:value]
        @sensitive = 0
        unwrap if @rich
      end

      # @param value [Object] plain data
      # @return [String] the document with this value and the stored metadata
      # @raise [UnencodableError]
      def with(value)
        return Codec.encode(value, @metadata) unless @rich && reserved?(@metadata)

        if reserved?(value)
          raise UnencodableError, "a hash key '__ptype' in the value cannot stand beside metadata of Puppet's types"
        end

        Codec.encode(Value.binary?(value) ? binary(value) : value, @metadata, RICH)
      end

      # @return [Boolean] whether {text} is JSON
      def json?
        !@content.is_a?(String)
      end

      # @return [String] the value for an editor: text and bytes as they are, other values as JSON, with the types of
      #   Puppet as they are stored
      def text
        return @content.b unless json?

        require 'json'
        "#{JSON.pretty_generate(@content)}\n".b
      end

      # @param text [String] the edited {text}. The newline that an editor adds at the end is removed if {text} had none
      # @return [String, nil] the document with the changed value, of the same types as before; nil if it is the same
      # @raise [Failure] the text is no longer UTF-8 or JSON
      def edited(text)
        text = text.delete_suffix("\n") unless self.text.end_with?("\n")
        return if text == self.text

        value = json? ? Value.from_json(text, 'the edited text') : string(text)
        return Codec.encode(value, @metadata) unless @rich

        value = binary(value) if @bytes
        @sensitive.times { value = { '__ptype' => 'Sensitive', '__pvalue' => value } }
        Codec.encode(value, @metadata, RICH)
      end

      private

      def unwrap
        while Value.rich?(@content, 'Sensitive')
          @content = @content['__pvalue']
          @sensitive += 1
        end
        return unless Value.rich?(@content, 'Binary')

        @bytes = true
        @content = @content['__pvalue'].to_s.unpack1('m')
      end

      def string(text)
        return text.b if Value.binary?(@content)

        Value.utf8(text) || raise(Failure.new('the edited text is not UTF-8', Failure::DATA))
      end

      def binary(bytes)
        { '__ptype' => 'Binary', '__pvalue' => [bytes].pack('m0') }
      end

      # Returns true if the data have a hash key of rich data, at any depth.
      def reserved?(data)
        case data
        when Hash then data.key?('__ptype') || data.each_value.any? { |member| reserved?(member) }
        when Array then data.any? { |member| reserved?(member) }
        end
      end
    end
  end
end
