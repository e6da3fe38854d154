# frozen_string_literal: true

require 'simpkv/server/console/excerpt'

module Simpkv
  module Server
    # The resources of all nodes: exported ones, and those of stored catalogs.
    class Console
      # Nodes of a page about a resource, which shows the parameters of each.
      RESOURCE_NODES = 20
      # What the titles of a type can be limited to, and the condition.
      EXPORTED = { '' => nil, 'yes' => ['=', 'exported', true], 'no' => ['=', 'exported', false] }.freeze
      private_constant :RESOURCE_NODES, :EXPORTED

      hash_branch('', 'resources') do |r|
        r.is { r.get { resource_types } }
        r.is(String) do |type|
          r.get { given('title').empty? ? resource_titles(type) : resource(type, given('title')) }
        end
        r.is(String, String) { |type, title| r.get { resource(type, title) } }
      end

      private

      # @param type [String]
      # @param title [String] any text, also one that is no segment of a path
      # @return [String] the address of the page of a resource
      def resource_url(type, title)
        url('resources', type, title: title)
      end

      # There are few types, and counting them is one look at all resources: pages of them would need two.
      def resource_types
        at('/resources')
        filter = given('filter')
        types = api.find('resources', ['extract', [%w[function count], 'type'], %w[group_by type]],
                         order: [%w[type asc]]).rows
        found = types.select { |row| row['type'].downcase.include?(filter.downcase) }
        page('Resources', 'resources', filter: filter, types: page_of(found))
      end

      def resource_titles(type)
        at('/resources/{type}')
        filter, exported = %w[filter exported].map { |name| given(name) }
        conditions = [['=', 'type', type], EXPORTED[exported], (having('title', filter) unless filter.empty?)].compact
        titles = rows_page('resources', ['extract', [%w[function count], 'title', 'exported'], ['and', *conditions],
                                         %w[group_by title exported]], [%w[title asc], %w[exported asc]])
        response.status = 404 if titles.total.zero? && !type?(type)
        page(cut(type), 'resources_type', type: type, titles: titles, filter: filter, exported: exported)
      end

      # @return [Boolean] whether an active node has a resource of the type
      def type?(type)
        api.find('resources', ['extract', [%w[function count]], ['=', 'type', type]]).rows.first['count'].positive?
      end

      def resource(type, title)
        at('/resources/{type}/{title}')
        nodes = rows_page('resources', ['and', ['=', 'type', type], ['=', 'title', title]], [%w[certname asc]],
                          size: RESOURCE_NODES)
        response.status = 404 if nodes.total.zero?
        page(cut("#{type}[#{title}]"), 'resources_resource', type: type, title: title, nodes: nodes,
                                                             excerpt: Excerpt.new)
      end
    end
  end
end
