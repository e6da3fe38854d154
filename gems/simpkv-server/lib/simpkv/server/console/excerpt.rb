# frozen_string_literal: true

require 'roda'

module Simpkv
  module Server
    module Console
      # Values in a size that suits a page. An object has a number of bytes of HTML for all values that it shortens, so
      # that a page stays small whatever is stored.
      class Excerpt
        # Bytes of HTML: for all values of a page, for one text, and around a member of a tree or a cell of a table.
        PAGE = 60_000
        TEXT = 400
        AROUND = 60
        # The bytes of characters that are escaped. Others have those of UTF-8.
        ESCAPED = { '&' => 5, '<' => 4, '>' => 4, '"' => 6, "'" => 5 }.freeze
        # A text that looks like another value in JSON, or like nothing.
        AMBIGUOUS = /\A(?:-?\d|(?:true|false|null)\z|["\[{]|\s*\z)/.freeze
        private_constant :AROUND, :ESCAPED, :AMBIGUOUS

        # @param value [Object] of JSON
        # @return [String] the value in one line: a text as it is if it looks like no other value, all else in JSON
        def self.plain(value)
          value.is_a?(String) && !value.match?(AMBIGUOUS) ? value : Native.generate(value)
        end

        # @param text [String]
        # @return [Integer] bytes of HTML
        def self.bytes(text)
          text.each_char.sum { |character| ESCAPED.fetch(character) { character.bytesize } }
        end

        # @param text [String]
        # @param most [Integer] bytes of HTML
        # @return [String] the text, or as much of it as has so many
        def self.beginning(text, most)
          text.each_char.take_while { |character| (most -= bytes(character)) >= 0 }.join
        end

        # @param bytes [Integer] of HTML
        def initialize(bytes = PAGE)
          @left = bytes
          @cut = false
        end

        # @return [Boolean] whether a value was shortened
        def cut?
          @cut
        end

        # @param value [Object] of JSON
        # @return [String] it in one line, shortened
        def line(value, most = TEXT)
          shorten(self.class.plain(value), most)
        end

        # @param value [Object] of JSON
        # @return [Object] it, with fewer members and shorter texts if it is too large
        def of(value)
          case value
          when Hash then members(value) { |name, member| [shorten(name, TEXT), of(member)] }.to_h
          when Array then members(value) { |member| of(member) }
          when String then shorten(value, TEXT)
          else value
          end
        end

        private

        def members(list)
          list.each_with_object([]) do |member, kept|
            if @left <= 0
              @cut = true
              break kept
            end
            @left -= AROUND
            kept << yield(*member_of(list, member))
          end
        end

        def member_of(list, member)
          list.is_a?(Hash) ? member : [member]
        end

        def shorten(text, most)
          most = @left.clamp(0, most)
          shown = self.class.beginning(text, most)
          whole = shown.length == text.length
          @left -= whole ? self.class.bytes(text) : most
          return text if whole

          @cut = true
          "#{shown}…"
        end
      end
    end
  end
end
