# frozen_string_literal: true

require 'simpkv/server/console/chart'
require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/facts/path'
require 'simpkv/server/console/facts/values'

module Simpkv
  module Server
    # The facts of all nodes.
    class Console
      # Values of a fact that its page shows, and those in its chart.
      FACT_VALUES = 50
      FACT_BARS = 15
      private_constant :FACT_VALUES, :FACT_BARS

      hash_branch('', 'facts') do |r|
        r.get do
          path = FactPath.of(env.fetch(Gate::SEGMENTS).drop(1), given('path'))
          next fact_names unless path

          given('value').empty? ? fact(path) : fact_nodes(path, given('value'))
        end
      end

      private

      def fact_names
        at('/facts')
        filter = given('filter')
        names = rows_page('fact-names', filter.empty? ? nil : having('name', filter), [%w[name asc]])
        counts = fact_counts(names.rows)
        links = names.rows.map { |name| [name, fact_url([name]), counts.fetch(name, 0)] }
        page('Facts', 'facts', filter: filter, names: names, links: links)
      end

      # @return [Hash{String => Integer}] the numbers of nodes that have the facts
      def fact_counts(names)
        return {} if names.empty?

        counts = api.find('facts', ['extract', [%w[function count], 'name'], ['in', 'name', ['array', names]],
                                    %w[group_by name]])
        counts.rows.to_h { |row| row.values_at('name', 'count') }
      end

      # @param keys [Array<String, Integer>] the path of a fact
      # @param value [String, nil] JSON: the page of the nodes that have it
      # @return [String] the address of the page
      def fact_url(keys, value: nil)
        path = FactPath.new(keys)
        url('facts', *path.segments, path: path.parameter, value: value)
      end

      def fact(path)
        at('/facts/{path}')
        below = rows_page('fact-paths', ['extract', ['path'], path.below, %w[group_by path]], [%w[path asc]])
        paths = below.rows.map { |row| [FactPath.new(row['path']).to_s, fact_url(row['path'])] }
        source = FactValues.new(path)
        values, others = fact_values(source)
        response.status = 404 if paths.empty? && below.total.zero? && values.all?(&:absent)
        page(cut(path), 'facts_fact', path: path, values: values, others: others, excerpt: Excerpt.new,
                                      below: below, paths: paths, chart: fact_chart(path, values),
                                      without: source.without)
      end

      # @return [Array(Array<FactValues::Row>, Integer)] the most frequent values; the number of others
      def fact_values(source)
        found = api.find(source.entity, source.counts, order: [%w[count desc]], limit: FACT_VALUES)
        [source.read(found.rows), found.total - found.rows.length]
      end

      # @return [String] HTML
      def fact_chart(path, values)
        excerpt = Excerpt.new
        Chart.bars("Nodes by the value of #{cut(path)}", values.first(FACT_BARS).map do |row|
          [row.absent ? 'no value' : excerpt.line(row.value), row.nodes]
        end)
      end

      def fact_nodes(path, text)
        at('/facts/{path}')
        value = fact_value(text)
        source = FactValues.new(path)
        nodes = rows_page(source.entity, source.nodes(value), [%w[certname asc]])
        page("Nodes by #{cut(path)}", 'facts_nodes', path: path, value: Excerpt.new.line(value), nodes: nodes)
      end

      # @param text [String] JSON
      def fact_value(text)
        Native.parse(text)
      rescue MalformedError
        raise Problem.new(400, "the parameter 'value' is not JSON"), cause: nil
      end
    end
  end
end
