# frozen_string_literal: true

module Simpkv
  module Server
    module Console
      # The stored catalog of a node, and what it collects, from the index.
      class CatalogView
        HEADER = %w[version environment producer_timestamp catalog_uuid code_id].freeze
        # Resources of expired nodes, too.
        ANY = %w[= node_state any].freeze
        ORDER = [%w[type asc], %w[title asc]].freeze
        private_constant :HEADER, :ANY, :ORDER

        # An edge to or from a resource.
        Edge = Struct.new(:relationship, :type, :title)

        # @param api [Api]
        # @param certname [String]
        def initialize(api, certname)
          @api = api
          @certname = certname
        end

        # @return [Hash, nil] what is known of the catalog; nil if none is stored
        # @raise [Problem, Error] as all methods here
        def header
          @api.find('catalogs', ['extract', HEADER, of_node]).rows.first
        end

        # @return [Hash{String => Integer}] the numbers of resources, by type
        def types
          count = ['extract', [%w[function count], 'type'], ['and', of_node, ANY], %w[group_by type]]
          @api.find('resources', count, order: [%w[type asc]]).rows.to_h { |row| row.values_at('type', 'count') }
        end

        # @param type [String] empty for all
        # @param text [String] a regular expression for the title; empty for all
        # @return [Api::Found]
        def resources(type, text, offset, limit, order: ORDER)
          conditions = [(['=', 'type', type] unless type.empty?), (['~', 'title', text] unless text.empty?)].compact
          page(['and', of_node, ANY, *conditions], offset, limit, order)
        end

        # @return [Hash, nil]
        def resource(type, title)
          @api.find('resources', ['and', of_node, ANY, ['=', 'type', type], ['=', 'title', title]]).rows.first
        end

        # @param limit [Integer]
        # @return [Array(Api::Found, Api::Found)] edges from a resource, and to it
        def edges(type, title, limit)
          [%w[source target], %w[target source]].map do |own, other|
            condition = ['and', of_node, ANY, ['=', "#{own}_type", type], ['=', "#{own}_title", title]]
            order = ['relationship', "#{other}_type", "#{other}_title"].map { |field| [field, 'asc'] }
            found = @api.find('edges', condition, order: order, limit: limit)
            Api::Found.new(found.rows.map do |row|
              Edge.new(*row.values_at('relationship', "#{other}_type", "#{other}_title"))
            end, found.total)
          end
        end

        # @return [Api::Found] the resources that other nodes export
        def collected(offset, limit)
          exported = ['extract', %w[type title], ['select_resources', exported_elsewhere]]
          page(['and', of_node, ANY, ['=', 'exported', false], ['in', %w[type title], exported]], offset, limit)
        end

        # @param resources [Array<Hash>]
        # @return [Hash{Array(String, String) => Array<String>}] the nodes that export them, by type and title
        def exporters(resources)
          return {} if resources.empty?

          named = resources.map { |row| ['and', ['=', 'type', row['type']], ['=', 'title', row['title']]] }
          rows = @api.find('resources', ['extract', %w[certname type title],
                                         ['and', exported_elsewhere, ['or', *named]]], order: [%w[certname asc]]).rows
          rows.group_by { |row| row.values_at('type', 'title') }
              .transform_values { |same| same.map { |row| row['certname'] } }
        end

        private

        def of_node
          ['=', 'certname', @certname]
        end

        def exported_elsewhere
          ['and', ['=', 'exported', true], ['not', of_node]]
        end

        def page(condition, offset, limit, order = ORDER)
          @api.find('resources', condition, order: order, limit: limit, offset: offset)
        end
      end
    end
  end
end
