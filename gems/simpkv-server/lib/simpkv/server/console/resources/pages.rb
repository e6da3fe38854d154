# frozen_string_literal: true

require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Resources < Section
        # The types of resources. There are few, and counting them is one look at all resources: pages of them would
        # need two.
        class TypesPage < Page
          include Rows

          # @return [String] HTML
          def show
            filter = given('filter')
            types = api.find('resources', ['extract', [%w[function count], 'type'], %w[group_by type]],
                             order: [%w[type asc]]).rows
            found = types.select { |row| row['type'].downcase.include?(filter.downcase) }
            found = in_order(found, { 'type' => ->(row) { row['type'] }, 'count' => ->(row) { row['count'] } })
            types = page_of(found)
            file_of('types') { types.rows } || page('Resources', 'resources/types', filter: filter, types: types)
          end
        end

        # The resources of a type.
        class TitlesPage < Page
          include Rows

          # What the titles can be limited to, and the condition.
          EXPORTED = { '' => nil, 'yes' => ['=', 'exported', true], 'no' => ['=', 'exported', false] }.freeze
          private_constant :EXPORTED

          # @param visit [Visit]
          # @param type [String]
          def initialize(visit, type)
            super(visit)
            @type = type
          end

          # @return [String] HTML
          def show
            filter, exported = %w[filter exported].map { |name| given(name) }
            conditions = [of_type, EXPORTED[exported], (having('title', filter) unless filter.empty?)].compact
            titles = rows_page('resources', ['extract', [%w[function count], 'title', 'exported'],
                                             ['and', *conditions], %w[group_by title exported]],
                               order_of('title' => %w[title], 'exported' => %w[exported], 'count' => %w[count]))
            file = file_of('titles') { titles.rows }
            return file if file

            response.status = 404 if titles.total.zero? && !known?
            page(cut(@type), 'resources/titles', type: @type, titles: titles, filter: filter, exported: exported)
          end

          private

          def of_type
            ['=', 'type', @type]
          end

          # @return [Boolean] whether an active node has a resource of the type
          def known?
            api.find('resources', ['extract', [%w[function count]], of_type]).rows.first['count'].positive?
          end
        end

        # A resource, with its parameters on each node.
        class ResourcePage < Page
          include Rows

          # Nodes of a page.
          NODES = 20
          private_constant :NODES

          # @param visit [Visit]
          # @param type [String]
          # @param title [String]
          def initialize(visit, type, title)
            super(visit)
            @type = type
            @title = title
          end

          # @return [String] HTML
          def show
            nodes = rows_page('resources', ['and', ['=', 'type', @type], ['=', 'title', @title]],
                              order_of('node' => %w[certname], 'environment' => %w[environment]), size: NODES)
            file = file_of('resource') { nodes.rows }
            return file if file

            response.status = 404 if nodes.total.zero?
            page(cut("#{@type}[#{@title}]"), 'resources/resource', type: @type, title: @title, nodes: nodes,
                                                                   excerpt: Excerpt.new)
          end
        end
      end
    end
  end
end
