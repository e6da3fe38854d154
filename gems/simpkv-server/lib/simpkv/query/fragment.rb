# frozen_string_literal: true

module Simpkv
  module Query
    # A piece of SQL, and the values of its placeholders in their order. Nothing that a client sends is in the text.
    #
    #   name = Fragment.new('f.name')
    #   Fragment.of('? = ?', name, 'kernel')   # the SQL f.name = ?, with the value kernel
    class Fragment
      # So many conditions are joined without parentheses.
      GROUP = 100

      # @return [String]
      attr_reader :sql

      # @return [Array]
      attr_reader :binds

      # @param template [String] each question mark stands for one of the parts
      # @param parts [Array<Fragment, Object>] a Fragment is inserted; any other object is the value of a placeholder
      # @return [Fragment]
      def self.of(template, *parts)
        pieces = template.split('?', -1)
        raise ArgumentError, 'as many parts as question marks are needed' unless pieces.length == parts.length + 1

        fragments = parts.map { |part| part.is_a?(Fragment) ? part : new('?', [bound(part)]) }
        sql = pieces.zip(fragments.map(&:sql)).join
        new(sql, fragments.flat_map(&:binds))
      end

      # @param value [Object]
      # @return [Boolean] whether it is an integer that SQLite has as a float only: its integers have 64 bits
      def self.large?(value)
        value.is_a?(Integer) && value.bit_length > 63
      end

      # No column has a larger integer, so that a float compares with it as the integer does.
      def self.bound(value)
        large?(value) ? value.to_f : value
      end
      private_class_method :bound

      # @param fragments [Array<Fragment>]
      # @return [Fragment] them with the separator between them
      def self.join(fragments, separator)
        new(fragments.map(&:sql).join(separator), fragments.flat_map(&:binds))
      end

      # Joins conditions in groups: SQLite bounds the depth of an expression, which grows with each condition that has
      # no parentheses, and the nesting of parentheses, which grows with each group of groups.
      #
      # @param fragments [Array<Fragment>]
      # @param operator [String] AND or OR
      # @return [Fragment] them in parentheses
      def self.junction(fragments, operator)
        return of('(?)', join(fragments, " #{operator} ")) if fragments.length <= GROUP

        junction(fragments.each_slice(GROUP).map { |group| junction(group, operator) }, operator)
      end

      def initialize(sql, binds = [])
        @sql = sql
        @binds = binds
      end
    end
  end
end
