# frozen_string_literal: true

require 'simpkv/document/rich_data'

module Simpkv
  module RichData
    # Converts values of Puppet's types to rich data, and back, inside Puppet.
    module Converter
      SENSITIVE = Puppet::Pops::Types::PSensitiveType::Sensitive
      BINARY = Puppet::Pops::Types::PBinaryType::Binary

      # Puppet's own converter. Its messages quote the value.
      class Quiet < Puppet::Pops::Serialization::ToDataConverter
        FLAGS = Regexp::IGNORECASE | Regexp::MULTILINE | Regexp::EXTENDED
        private_constant :FLAGS

        private

        # Puppet takes the encoding of a Regexp for a flag, and adds a group of flags to one with a character beyond
        # ASCII, each time anew.
        def unknown_to_data(value)
          return super unless value.is_a?(Regexp)

          source = value.source.encode(Encoding::UTF_8)
          RichData.object('Regexp', Puppet::Pops::Types::PRegexpType.append_flags_group(source, value.options & FLAGS))
        end

        def serialization_issue(*)
          raise TypeError
        end
      end
      private_constant :Quiet

      class << self
        # Converts without references inside the data: these depend on the identity of objects, so equal values would
        # have different documents.
        #
        # @param value [Object]
        # @return [Object] rich data
        # @raise [TypeError] it has no form as data; quotes nothing
        def dump(value)
          with_loaders { Quiet.convert(value, rich_data: true, local_reference: false) }
        rescue StandardError
          raise TypeError, 'no form as data', cause: nil
        end

        # @param data [Object] rich data
        # @param types [Array<String>] those that the data may name
        # @yieldparam object [Hash] as of {RichData.check}
        # @return [Object] the value
        # @raise [MalformedError] the data name other types, or cannot be read; quotes nothing
        def load(data, types = TYPES, &block)
          RichData.check(data, types, &block)
          with_loaders { Puppet::Pops::Serialization::FromDataConverter.convert(data) }
        rescue StandardError # Puppet's own messages quote the value.
          raise MalformedError, 'not rich data that can be read', cause: nil
        end

        # @param stored [Hash] `{ value:, metadata: }` of a document with {ENCODING}
        # @return [Hash] `{ value:, metadata: }`
        # @raise [MalformedError] as {load}
        def load_entry(stored)
          metadata = load(stored[:metadata])
          raise MalformedError, 'not rich data that can be read' unless metadata.is_a?(Hash)

          { value: bytes_of(load(stored[:value])), metadata: metadata }
        rescue MalformedError => e
          raise MalformedError, "Failed to deserialize: #{e.message}", cause: nil
        end

        # @param value [Object] one that can be stored
        # @return [Object] the value for comparisons with `eql?`: without any Sensitive, and bytes as a Binary
        def bare(value)
          case value
          when SENSITIVE then bare(value.unwrap)
          when Hash then value.transform_values { |member| bare(member) }
          when Array then value.map { |member| bare(member) }
          else bytes_as_binary(value)
          end
        end

        # A Binary that is the whole value comes back as a String of bytes, whatever the envelope.
        #
        # @param value [Object]
        # @return [Object] the bytes of a Binary; other values as they are
        def bytes_of(value)
          value.is_a?(BINARY) ? value.binary_buffer.dup : value
        end

        # Beside metadata that need rich data, and inside a value, bytes have no other form.
        #
        # @param value [Object]
        # @return [Object] a Binary of a String that is not text; other values as they are
        def bytes_as_binary(value)
          value.is_a?(String) && !Codec.text?(value) ? BINARY.from_binary_string(value.b) : value
        end

        private

        # Every compiler has loaders. Without them Puppet can restore few types, and would bind a data type to a class
        # that it generates, for the rest of the process.
        def with_loaders(&block)
          return yield if Puppet.lookup(:loaders) { nil }

          loaders = Puppet::Pops::Loaders.new(Puppet.lookup(:current_environment))
          Puppet.override({ loaders: loaders }, 'rich data of simpkv', &block)
        end
      end
    end
  end
end
