# frozen_string_literal: true

require 'parslet'

module Simpkv
  module Query
    module Pql
      # A token: one regular expression instead of an atom of Parslet for each character.
      class Token < Parslet::Atoms::Base
        # @return [String, nil] what a message calls it
        attr_reader :expected

        # @param pattern [Regexp]
        # @param expected [String, nil] nil if no message needs to name it
        def initialize(pattern, expected = nil)
          super()
          @pattern = pattern
          @expected = expected
        end

        # @param source [Text]
        def try(source, context, _consume_all)
          slice = source.take(@pattern)
          slice ? succ(slice) : context.err(self, source, nil)
        end

        def to_s_inner(_precedence)
          @pattern.inspect
        end
      end

      # One or more items with separators between them: what Parslet makes of a repetition inside of a sequence, in half
      # of the stack.
      class Separated < Parslet::Atoms::Base
        # @param item [Parslet::Atoms::Base]
        # @param separator [Parslet::Atoms::Base]
        def initialize(item, separator)
          super()
          @item = item
          @separator = separator
        end

        def try(source, context, _consume_all)
          success, value = result = @item.apply(source, context)
          return result unless success

          items = [:repetition]
          while success
            items << value
            last = source.bytepos
            success, = @separator.apply(source, context)
            success, value = @item.apply(source, context) if success
          end
          source.bytepos = last
          succ(items)
        end

        def to_s_inner(precedence)
          "#{@item.to_s(precedence)} ..."
        end
      end

      # Something inside of something else, which the source counts.
      class Nested < Parslet::Atoms::Base
        # @param parslet [Parslet::Atoms::Base]
        def initialize(parslet)
          super()
          @parslet = parslet
        end

        # @param source [Text]
        def try(source, context, consume_all)
          source.enter
          @parslet.apply(source, context, consume_all)
        ensure
          source.leave
        end

        def to_s_inner(precedence)
          @parslet.to_s(precedence)
        end
      end
    end
  end
end
