# frozen_string_literal: true

require 'simpkv/server/console/chart'
require 'simpkv/server/console/excerpt'
require 'simpkv/server/console/facts/path'
require 'simpkv/server/console/facts/values'
require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Facts < Section
        # The names of all facts.
        class NamesPage < Page
          include Rows

          # @return [String] HTML
          def show
            filter = given('filter')
            names = rows_page('fact-names', filter.empty? ? nil : having('name', filter),
                              order_of('name' => %w[name]))
            counts = counts(names.rows)
            file = file_of('facts') { names.rows.map { |name| { 'name' => name, 'nodes' => counts.fetch(name, 0) } } }
            return file if file

            links = names.rows.map { |name| [name, FactPath.new([name]).address, counts.fetch(name, 0)] }
            page('Facts', 'facts/names', filter: filter, names: names, links: links)
          end

          private

          # @return [Hash{String => Integer}] the numbers of nodes that have the facts
          def counts(names)
            return {} if names.empty?

            counts = api.find('facts', ['extract', [%w[function count], 'name'], ['in', 'name', ['array', names]],
                                        %w[group_by name]])
            counts.rows.to_h { |row| row.values_at('name', 'count') }
          end
        end

        # A fact, or a part of one: its parts, and its values with the numbers of nodes.
        class FactPage < Page
          include Rows

          # Values that the page shows, and those in its chart.
          VALUES = 50
          BARS = 15
          private_constant :VALUES, :BARS

          # @param visit [Visit]
          # @param path [FactPath]
          def initialize(visit, path)
            super(visit)
            @path = path
            @source = FactValues.new(path)
          end

          # @return [String] HTML
          def show
            below = rows_page('fact-paths', ['extract', ['path'], @path.below, %w[group_by path]], [%w[path asc]])
            paths = below.rows.map { |row| FactPath.new(row['path']) }
            values, others = values()
            (missing if below.total.zero? && values.all?(&:absent)) || shown(below, paths, values, others)
          end

          private

          # @return [String, nil] HTML: the page of the path that the name of the fact may stand for
          def missing
            return self.class.new(@visit, @path.dotted).show if @path.dotted

            response.status = 404
            nil
          end

          # @return [String] HTML
          def shown(below, paths, values, others)
            page(cut(@path), 'facts/fact', path: @path, values: values, others: others, excerpt: Excerpt.new,
                                           below: below, paths: paths, chart: chart(values), without: @source.without)
          end

          # @return [Array(Array<FactValues::Row>, Integer)] the most frequent values; the number of others
          def values
            found = api.find(@source.entity, @source.counts, order: [%w[count desc]], limit: VALUES)
            [@source.read(found.rows), found.total - found.rows.length]
          end

          # @return [String] HTML
          def chart(values)
            excerpt = Excerpt.new
            Chart.bars("Nodes by the value of #{cut(@path)}", values.first(BARS).map do |row|
              [row.absent ? 'no value' : excerpt.line(row.value), row.nodes, row.link && @path.address(value: row.link)]
            end)
          end
        end

        # The nodes that have a value of a fact.
        class NodesPage < Page
          include Rows

          # @param visit [Visit]
          # @param path [FactPath]
          # @param text [String] the value, JSON
          def initialize(visit, path, text)
            super(visit)
            @path = path
            @text = text
          end

          # @return [String] HTML
          def show
            value = value()
            source = FactValues.new(@path)
            nodes = rows_page(source.entity, source.nodes(value),
                              order_of('node' => %w[certname], 'environment' => %w[environment]))
            file = file_of('nodes') { nodes.rows }
            return file if file

            page("Nodes by #{cut(@path)}", 'facts/nodes', path: @path, value: Excerpt.new.line(value), nodes: nodes)
          end

          private

          def value
            Native.parse(@text)
          rescue MalformedError
            raise Problem.new(400, "the parameter 'value' is not JSON"), cause: nil
          end
        end
      end
    end
  end
end
