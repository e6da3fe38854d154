# frozen_string_literal: true

require 'simpkv/query/pql/atoms'

module Simpkv
  module Query
    module Pql
      # Remembers which tokens the parser has looked for at the last place that it came to: there is the mistake.
      # Parslet reports errors to it.
      class Expectations
        # What a message adds, by the last characters before the mistake.
        HINTS = { /\bnot\s*\z/ => '; "!" negates a condition',
                  /\b(?:facts|trusted|parameters)\.\S*[)}]\s*\z/ => '; a field with dots ends at a space' }.freeze
        private_constant :HINTS

        def initialize
          @byte = -1
          @names = []
        end

        # An atom has not matched.
        def err(atom, source, _message, _children = nil)
          note(source, atom.expected) if atom.is_a?(Token)
          self
        end

        # An atom has not matched.
        def err_at(*)
          self
        end

        # An atom has matched.
        def succ(_source); end

        # Parslet calls this after all.
        # @raise [InvalidError]
        def raise
          ends = @source.ends?(@byte) ? ', but the text ends' : ''
          Kernel.raise @source.mistake("expected #{alternatives}#{ends}#{hint}", @byte)
        end

        private

        def note(source, name)
          return if source.bytepos < @byte

          @names.clear if source.bytepos > @byte
          @source = source
          @byte = source.bytepos
          @names |= [name].compact
        end

        def hint
          last = @source.before(@byte).chars.last(100).join
          HINTS.find { |pattern, _| last.match?(pattern) }&.last
        end

        # @return [String] such as "a, b or c"
        def alternatives
          [@names[0..-2].join(', '), @names.last].reject(&:empty?).join(' or ')
        end
      end
    end
  end
end
