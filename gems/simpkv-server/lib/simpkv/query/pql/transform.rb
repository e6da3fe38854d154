# frozen_string_literal: true

require 'simpkv/query'

module Simpkv
  module Query
    module Pql
      # Makes the AST from the tree of the grammar: a method for each name of a node.
      class Transform
        ESCAPES = { 'b' => "\b", 'f' => "\f", 'n' => "\n", 'r' => "\r", 't' => "\t" }.freeze
        ESCAPE = /(?:\\u\h{4})+|\\./.freeze

        # @param text [Text] that the tree comes from
        def initialize(text)
          @text = text
        end

        # @param node [Hash] with one key, the name
        # @return [Object] a part of the AST
        def apply(node)
          name, content = node.first
          send(:"transform_#{name}", content)
        end

        private

        # @param nodes [Array<Hash>, Parslet::Slice, nil] no Array if there are none
        def all(nodes)
          nodes.is_a?(Array) ? nodes.map { |node| apply(node) } : []
        end

        # PuppetDB's AST has the condition and the groups inside of the fields, and the pages outside.
        def transform_from(parts)
          clauses = []
          clauses << apply(parts[:condition]) if parts[:condition]
          clauses << ['group_by', *all(parts[:group])] if parts[:group]
          clauses = [['extract', all(parts[:columns]), *clauses]] if parts[:columns]
          ['from', parts[:entity].to_s, *clauses, *all(parts[:pages])]
        end

        def transform_function(parts)
          ['function', parts[:name].to_s, *all(parts[:arguments])]
        end

        def transform_field(slice)
          slice.to_s
        end

        def transform_columns(nodes)
          all(nodes)
        end

        def transform_or(nodes)
          chain('or', nodes)
        end

        def transform_and(nodes)
          chain('and', nodes)
        end

        # A chain of conditions is one list, however long it is.
        def chain(operator, nodes)
          nodes.one? ? apply(nodes.first) : [operator, *all(nodes)]
        end

        def transform_not(node)
          ['not', apply(node)]
        end

        def transform_subquery(parts)
          ['subquery', parts[:entity].to_s, apply(parts[:condition])]
        end

        def transform_comparison(parts)
          left = apply(parts[:left])
          name, test = parts[:test].first
          case name
          when :null then ['null?', left, test == 'is null']
          when :member then ['in', left, apply(test)]
          when :negate then ['not', [test[:operator].to_s.delete('!'), left, apply(test[:value])]]
          else [test[:operator].to_s, left, apply(test[:value])]
          end
        end

        def transform_array(nodes)
          ['array', all(nodes)]
        end

        def transform_list(nodes)
          all(nodes)
        end

        def transform_order(parts)
          name = apply(parts[:name])
          parts[:direction] ? [name, parts[:direction].to_s] : name
        end

        def transform_order_by(nodes)
          ['order_by', all(nodes)]
        end

        def transform_limit(slice)
          ['limit', transform_number(slice)]
        end

        def transform_offset(slice)
          ['offset', transform_number(slice)]
        end

        def transform_boolean(slice)
          slice == 'true'
        end

        def transform_number(slice)
          return slice.to_i unless slice.to_s.include?('.')
          return slice.to_f if slice.to_f.finite?

          raise @text.mistake('the number is too large', slice.position.bytepos)
        end

        def transform_single(slice)
          slice.to_s.gsub("\\'", "'")
        end

        def transform_double(slice)
          slice.to_s.gsub(ESCAPE) do |escape|
            escape.start_with?('\\u') ? characters(escape) : ESCAPES.fetch(escape[1], escape[1])
          end
        rescue EncodingError
          raise @text.mistake('the text has half of a surrogate pair', slice.position.bytepos)
        end

        # @param escapes [String] such as \ud83d\ude00
        def characters(escapes)
          escapes.scan(/\h{4}/).map(&:hex).pack('n*').force_encoding('UTF-16BE').encode('UTF-8')
        end
      end
    end
  end
end
