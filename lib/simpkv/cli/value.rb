# frozen_string_literal: true

module Simpkv
  module Cli
    # A stored value as a command has it, without Puppet: a Sensitive is what it holds; a Binary is its bytes where it
    # is the whole value, else its base64. Puppet's other types stay as the document spells them.
    module Value
      class << self
        # @param document [String]
        # @return [Hash] `{value:, metadata:}`
        # @raise [MalformedError]
        def read(document)
          found = Codec.decode(document, foreign: 'pcore')
          return found unless found.delete(:encoding)

          value = found[:value]
          value = value['__pvalue'] while rich?(value, 'Sensitive')
          value = rich?(value, 'Binary') ? value['__pvalue'].to_s.unpack1('m') : plain(value)
          { value: value, metadata: plain(found[:metadata]) }
        end

        # @param found [Hash] what {read} answers
        # @return [Hash{String => Object}] the same for JSON and YAML; bytes are in base64
        def presentable(found)
          value = found[:value]
          shown = binary?(value) ? { 'value' => [value].pack('m0'), 'encoding' => 'base64' } : { 'value' => value }
          shown.merge('metadata' => found[:metadata])
        end

        # @return [Boolean] whether it is bytes, not text
        def binary?(value)
          value.is_a?(String) && !Codec.text?(value)
        end

        private

        def rich?(value, type)
          value.is_a?(Hash) && value['__ptype'] == type && value.key?('__pvalue')
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
