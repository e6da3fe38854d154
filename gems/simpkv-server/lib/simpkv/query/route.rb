# frozen_string_literal: true

require 'simpkv/query/entities'

module Simpkv
  module Query
    # What a path of the API asks for: an entity, and a condition on it.
    #
    #   Route.of(%w[nodes web1 facts os]).ast   # ["and", ["=", "certname", "web1"], ["=", "name", "os"]]
    class Route
      # A path with rows below it: what it is in a message, the field that names its row, the entities below it, their
      # field that has the same value, and whether inactive nodes are among the rows below it.
      Parent = Struct.new(:kind, :field, :children, :reference, :any)

      PARENTS = {
        'nodes' => Parent.new('node', 'certname', %w[facts resources], 'certname', false),
        'factsets' => Parent.new('factset', 'certname', %w[facts], 'certname', true),
        'catalogs' => Parent.new('catalog', 'certname', %w[edges resources], 'certname', true),
        'environments' => Parent.new('environment', 'name', %w[events facts reports resources], 'environment', false),
        'producers' => Parent.new('producer', 'name', %w[catalogs factsets reports], 'producer', false),
        'reports' => Parent.new('report', 'hash', %w[events metrics logs], 'report', true)
      }.freeze

      # The entities below a path of which one row is the whole list.
      WHOLE = %w[logs].freeze

      # The fields that further segments of a path compare with.
      SUFFIXES = { 'facts' => %w[name value], 'resources' => %w[type title],
                   'package-inventory' => %w[certname] }.freeze

      # The first segments of paths.
      PATHS = [*Entities::ALL.keys.map { |name| name.tr('_', '-') }, 'event-counts', 'aggregate-event-counts'].freeze

      ANY = %w[= node_state any].freeze

      # @return [String] the name of the entity, as in a path
      attr_reader :entity

      # @return [Array, nil] the condition
      attr_reader :ast

      # @return [Boolean] whether the answer is one row, and not a list
      attr_reader :one

      # @return [String] what there is no information about if there is no row, such as "node web1"
      attr_reader :subject

      # @return [Route, nil] of a row that must exist: the answer is an error if there is none
      attr_reader :parent

      # @param segments [Array<String>] of the path below /pdb/query/v4, decoded
      # @return [Route, nil] nil if there is no such path
      def self.of(segments)
        entity, name, *rest = segments
        return unless PATHS.include?(entity)
        return plain(entity, [name, *rest].compact) unless PARENTS.key?(entity) && name

        rest.empty? ? single(entity, name) : below(entity, name, rest)
      end

      def self.plain(entity, values)
        fields = SUFFIXES.fetch(entity, [])
        return if values.length > fields.length

        conditions = fields.zip(values).select(&:last).map { |field, value| ['=', field, value] }
        conditions << ANY if entity == 'package-inventory' && conditions.any?
        new(entity, conjunction(conditions))
      end
      private_class_method :plain

      def self.single(entity, name)
        parent = PARENTS.fetch(entity)
        return if entity == 'reports'

        row(entity, parent, name)
      end
      private_class_method :single

      def self.row(entity, parent, name)
        new(entity, ['and', ['=', parent.field, name], ANY], one: true, subject: "#{parent.kind} #{name}")
      end
      private_class_method :row

      def self.below(entity, name, rest)
        parent = PARENTS.fetch(entity)
        child, *values = rest
        route = plain(child, values) if parent.children.include?(child)
        return unless route

        conditions = [['=', parent.reference, name], (ANY if parent.any), route.ast].compact
        condition = conjunction(conditions)
        return new(child, condition, one: true, subject: "#{parent.kind} #{name}") if WHOLE.include?(child)

        new(child, condition, parent: row(entity, parent, name))
      end
      private_class_method :below

      def self.conjunction(conditions)
        conditions.length > 1 ? ['and', *conditions] : conditions.first
      end
      private_class_method :conjunction

      def initialize(entity, ast = nil, one: false, subject: nil, parent: nil)
        @entity = entity
        @ast = ast
        @one = one
        @subject = subject
        @parent = parent
      end

      # @return [Array] the entity, the condition, and whether the answer is one row
      def to_ary
        [entity, ast, one]
      end

      # @param query [Array, nil] of the client
      # @return [Array, nil] the query, restricted to the rows of the path
      def narrow(query)
        return query || ast if ast.nil? || query.nil?
        return ['and', ast, query] unless operation?(query, 'extract')

        operator, columns, *clauses = query
        condition = clauses.shift unless operation?(clauses.first, 'group_by')
        [operator, columns, condition ? ['and', ast, condition] : ast, *clauses]
      end

      private

      def operation?(item, name)
        item.is_a?(Array) && item.first == name
      end
    end
  end
end
