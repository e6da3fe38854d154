# frozen_string_literal: true

module Simpkv
  class Adapter
    # What functions return, made of what {Operations} return. {Calls::TABLE} names the method for each operation.
    module Results
      class << self
        # @return [Object] the same
        def as_is(result, _merged)
          result
        end

        # @param text [String] or bytes
        # @return [Sensitive] of a String, or of a Binary
        def secret(text, _merged)
          sensitive(RichData.binary?(text) ? RichData::Converter.bytes_as_binary(text) : text)
        end

        # @param data [Hash, nil] `{ value:, metadata: }`; an empty one for a name without its value
        # @param merged [Hash] merged options
        # @return [Hash, nil] that of simpkv::get
        def entry(data, merged)
          return data if !data || data.empty?

          value = data[:value]
          value = sensitive(value) if merged['sensitive'] && Config.flag(merged, 'sensitive')
          data[:metadata].empty? ? { 'value' => value } : { 'value' => value, 'metadata' => data[:metadata] }
        end

        # @return [Object] that of simpkv::value
        def value(data, merged)
          entry(data, merged)['value']
        end

        # @param data [Hash{Symbol => Object}] with `keys:`, entries by name
        # @return [Hash{String => Object}] that of simpkv::list and others
        def collection(data, merged)
          result = data.transform_keys(&:to_s)
          result['keys'] = data[:keys].transform_values { |each| entry(each, merged) } if data.key?(:keys)
          result
        end

        private

        def sensitive(value)
          type = Puppet::Pops::Types::PSensitiveType::Sensitive
          value.is_a?(type) ? value : type.new(value)
        end
      end
    end
  end
end
