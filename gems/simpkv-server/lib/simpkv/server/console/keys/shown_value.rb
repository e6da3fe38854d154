# frozen_string_literal: true

require 'json'
require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/section'
require 'simpkv/unsafe_characters'

module Simpkv
  module Server
    module Console
      class Keys < Section
        # A value of the API as a text for people.
        class ShownValue
          # The number of characters on a page at most, and of their bytes in HTML.
          SHOWN = 10_000
          BYTES = 30_000
          private_constant :SHOWN, :BYTES

          # @return [String] how the text stands for the value: `text`, `json` or `base64`
          attr_reader :format

          # @return [String]
          attr_reader :text

          # @param data [Object]
          # @return [String] JSON in lines. Characters that nobody sees are escaped
          def self.json(data)
            UnsafeCharacters.escaped_in_json(JSON.pretty_generate(data, max_nesting: 0))
          end

          # @param body [Hash] of a key with its value
          def initialize(body)
            value = body['value']
            @format = format_of(body)
            @text = @format == 'json' ? self.class.json(value) : value
          end

          # @return [String] the text, or its beginning
          def beginning
            @beginning ||= Excerpt.beginning(text[0, SHOWN], BYTES)
          end

          # @return [Boolean] whether {#beginning} is not all
          def cut?
            text.length > beginning.length
          end

          private

          def format_of(body)
            return 'base64' if body['encoding']

            value = body['value']
            value.is_a?(String) && visible?(value) ? 'text' : 'json'
          end

          # A form changes the ends of lines, and nobody sees other control characters, or an empty text.
          def visible?(text)
            return false if text.empty?

            text = text.delete("\t")
            UnsafeCharacters.escaped(text) == text
          end
        end
      end
    end
  end
end
