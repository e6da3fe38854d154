# frozen_string_literal: true

require 'simpkv/query/place'

module Simpkv
  module Query
    class Compiler
      # Paths into JSON, such as facts.os.release, trusted.extensions."1.3.6", facts.list[0], facts.disks.match("sd.*").
      module Dotted
        # A quoted component ends at the first double quote without a backslash before it and with a dot or the end
        # after it.
        QUOTED = /\A"(.*?)(?<!\\)"(?=\.|\z)/m.freeze
        MATCH = /\Amatch\("(.*?)(?<!\\)"\)(?=\.|\z)/m.freeze
        PLAIN = /\A[^.]+/m.freeze
        INDEXES = /(?:\[\d{1,9}\])+\z/.freeze

        # @param text [String]
        # @return [Array<String, Integer, Place::Match>] the first is the name of a field
        def self.parse(text)
          keys = []
          rest = text
          loop do
            part, rest = component(rest) || raise(InvalidError, "Don't recognize AST field component in #{text}")
            keys.concat(part)
            return keys if rest.empty?

            rest = rest[1..]
          end
        end

        def self.component(text)
          case text
          when QUOTED then [[Regexp.last_match(1)], Regexp.last_match.post_match]
          when MATCH then [[Place::Match.new(Regexp.last_match(1))], Regexp.last_match.post_match]
          when PLAIN then [plain(Regexp.last_match(0)), Regexp.last_match.post_match]
          end
        end
        private_class_method :component

        def self.plain(text)
          indexes = text[INDEXES].to_s
          name = text.delete_suffix(indexes)
          name.empty? ? [text] : [name, *indexes.scan(/\d+/).map { |digits| Integer(digits, 10) }]
        end
        private_class_method :plain
      end
    end
  end
end
