# frozen_string_literal: true

require 'simpkv/cli/value'

module Simpkv
  module Cli
    # A stored document, and the document with another value and the same metadata.
    class Revision
      # @param document [String]
      # @raise [MalformedError]
      def initialize(document)
        decoded = RichData.decode(document)
        @metadata = decoded[:metadata]
        @rich = decoded.key?(:encoding)
        @content = decoded[:value]
        @sensitive = 0
        unwrap if @rich
      end

      # @param value [Object] plain data
      # @param sensitive [Boolean] whether it becomes a Sensitive
      # @return [String] the document with this value and the stored metadata
      # @raise [UnencodableError]
      def with(value, sensitive: false)
        typed = @rich && RichData.any?(@metadata)
        return sensitive ? RichData.sensitive(value, @metadata) : Codec.encode(value, @metadata) unless typed

        if RichData.any?(value)
          raise UnencodableError, "a hash key '__ptype' in the value cannot stand beside metadata of Puppet's types"
        end
        return RichData.sensitive(value, @metadata, typed: true) if sensitive

        Codec.encode(RichData.binary?(value) ? RichData.binary(value) : value, @metadata, RichData::ENCODING)
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

        value = RichData.binary(value) if @bytes
        @sensitive.times { value = RichData.object('Sensitive', value) }
        Codec.encode(value, @metadata, RichData::ENCODING)
      end

      private

      def unwrap
        while RichData.object?(@content, 'Sensitive')
          @content = @content[RichData::CONTENT]
          @sensitive += 1
        end
        return unless RichData.object?(@content, 'Binary')

        @bytes = true
        @content = RichData.bytes(@content)
      end

      def string(text)
        return text.b if RichData.binary?(@content)

        Value.utf8(text) || raise(Failure.new('the edited text is not UTF-8', Failure::DATA))
      end
    end
  end
end
