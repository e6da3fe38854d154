# frozen_string_literal: true

require 'simpkv/query/fragment'

module Simpkv
  module Query
    # What queries can ask for, such as `nodes`: the SQL that has its rows, and its fields.
    class Entity
      # A member of an entity.
      #
      # type:: string, integer, boolean, timestamp, tags (a JSON list of texts), path (of a fact, a JSON list), leaf
      #        (the same, of a row of json_tree), value (any JSON), element (a row of json_tree), document (a JSON
      #        object with dotted paths), facts (the same, from the table of that name), expanded (JSON that is made
      #        for the answer only), detail (JSON that is read from the store for the answer only),
      #        detailed (the same as expanded, with such details)
      # sql:: of the column; of an element, the name of the row
      # query:: whether a condition may name it
      # answer:: whether rows have it
      Field = Struct.new(:name, :type, :sql, :query, :answer)

      # @return [String] with underscores, such as fact_contents
      attr_reader :name

      # @return [String] what stands after FROM
      attr_reader :source

      # @return [String, nil] SQL of the id of the node that a row belongs to
      attr_reader :node

      # @return [String, nil] a condition that all rows meet
      attr_reader :where

      # @return [String, nil] the field that is the whole answer, and that sorts it
      attr_reader :sole

      # @param types [Hash{Symbol => Hash{String => String}}] for each type, SQL by the name of the field
      # @param hidden [Array<String>] fields that rows do not have
      # @param more [Hash] `extra`: fields that PuppetDB lacks, so that rows have them only if a query names them; and
      #   what there are readers for; `active`: whether its path leaves out rows of deactivated
      #   and expired nodes unless a query says otherwise
      def initialize(name, source, types, hidden: [], **more)
        @name = name
        @source = source
        @node, @where, @sole, @active = more.values_at(:node, :where, :sole, :active)
        @extra = more.fetch(:extra, [])
        @fields = types.flat_map { |type, columns| columns.map { |column, sql| field(column, type, sql, hidden) } }
        @by_name = @fields.to_h { |field| [field.name, field] }
      end

      def active?
        @active
      end

      # @return [Field, nil]
      def [](name)
        @by_name[name]
      end

      # @return [Array<Field>]
      def answered
        known.select(&:answer)
      end

      # @return [Array<Field>]
      def queried
        known.select(&:query)
      end

      private

      def known
        @fields.reject { |field| @extra.include?(field.name) }
      end

      def field(name, type, sql, hidden)
        Field.new(name, type, sql, !%i[expanded detailed detail].include?(type), !hidden.include?(name))
      end
    end
  end
end
