# frozen_string_literal: true

require 'simpkv/query/entities/catalogs'
require 'simpkv/query/entities/facts'
require 'simpkv/query/entities/nodes'
require 'simpkv/query/entities/reports'

module Simpkv
  module Query
    # The entities of PuppetDB's query API, and how they relate to each other.
    module Entities
      ALL = [*Nodes::ALL, *Facts::ALL, *Catalogs::ALL, *Reports::ALL].to_h { |entity| [entity.name, entity] }.freeze

      # Those that queries can name, and others that are paths only.
      PATHS = Reports::NAMELESS.to_h { |entity| [entity.name, entity] }.merge(ALL).freeze

      # The fields that join two entities, if these are not the name of the node.
      PAIRS = { %w[reports events] => %w[hash report], %w[fact_paths facts] => %w[name name],
                %w[fact_paths fact_contents] => %w[path path] }.freeze

      # The fields that join an entity of names with others.
      NAMES = { 'environments' => 'environment', 'producers' => 'producer' }.freeze

      # @param name [String] with underscores, or with hyphens as in a path
      # @return [Entity, nil]
      def self.[](name)
        PATHS[name.tr('-', '_')]
      end

      # @return [Array, nil] the names of the fields of both that an implicit subquery compares, two lists
      def self.relation(outer, inner)
        names = [outer.name, inner.name]
        return [[PAIRS[names].first], [PAIRS[names].last]] if PAIRS.key?(names)
        return relation(inner, outer).reverse if PAIRS.key?(names.reverse)
        return [%w[certname name]] * 2 if names.sort == %w[fact_contents facts]

        by_name(outer, inner) || ([['certname']] * 2 if outer['certname'] && inner['certname'])
      end

      def self.by_name(outer, inner)
        return by_name(inner, outer)&.reverse if NAMES.key?(inner.name) && !NAMES.key?(outer.name)

        field = NAMES[outer.name]
        [['name'], [field]] if field && inner[field]
      end
      private_class_method :by_name
    end
  end
end
