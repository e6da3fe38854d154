# frozen_string_literal: true

require 'simpkv/document/json_pointer'

module Simpkv
  module Cli
    # The name of a part of a value: names of members of Hashes and numbers of elements of Arrays, joined with dots
    # (`servers.0.port`), or a JSON pointer (`/servers/0/port`), in which names may have dots.
    class Field
      # @return [Array<String>]
      attr_reader :parts

      # @param text [String] as it is typed
      # @raise [Failure] it names no part
      def initialize(text)
        @text = text
        @parts = text.start_with?('/') ? JsonPointer.parts(text) : text.split('.', -1)
        valid = text.start_with?('/') ? JsonPointer.valid?(text) : !@parts.empty? && @parts.none?(&:empty?)
        return if valid

        raise Failure.new('--field must be names joined with dots, such as db.user, or a JSON pointer, such as ' \
                          '/db/user.name', Failure::USAGE)
      end

      # @param value [Object] plain data
      # @return [Object] the part of the value
      # @raise [NotFoundError] there is none; the message quotes nothing of the value
      def of(value)
        parts.each_with_index.inject(value) do |data, (name, index)|
          next JsonPointer.member(data, name) if JsonPointer.member?(data, name)

          raise NotFoundError, "its value has no field '#{place(index + 1)}'"
        end
      end

      private

      # @return [String] the beginning of the text, with so many parts
      def place(count)
        @text.start_with?('/') ? JsonPointer.of(parts.first(count)) : parts.first(count).join('.')
      end
    end
  end
end
