# frozen_string_literal: true

require 'simpkv/errors'

module Simpkv
  # The text that stands for a secret where none may be made: in a run that stores nothing, in `puppet lookup`, in unit
  # tests of modules. No document has it, and no catalog that changes a node.
  module Placeholder
    # In a shadow file, it locks the account.
    MARK = '!simpkv-placeholder!'

    # Why a catalog that has a placeholder stores nothing.
    DOUBT = 'it may depend on the placeholder of a secret that was not made, because this run in noop mode stores ' \
            "nothing: set 'noop_writes' to skip for this call, too, or make the secret first, with simpkv secret or " \
            'a run without noop'

    class << self
      # @param key [String]
      # @return [String]
      def text(key)
        "#{MARK}#{key}"
      end

      # @param data [Object] what is to be stored: texts, and Arrays, Hashes and Sensitives of them
      # @return [void]
      # @raise [UnencodableError] it has a placeholder
      def refuse(data)
        return unless in?(data)

        raise UnencodableError, 'it holds the placeholder of a secret that was not made: make the secret first, with ' \
                                'simpkv secret or a run without noop'
      rescue SystemStackError
        nil # No document can hold data that nest so deeply, either.
      end

      private

      def in?(data)
        case data
        when String then data.encoding.ascii_compatible? && data.include?(MARK)
        when Array, Hash then data.any? { |each| in?(each) }
        else data.respond_to?(:unwrap) && in?(data.unwrap)
        end
      end
    end
  end
end
