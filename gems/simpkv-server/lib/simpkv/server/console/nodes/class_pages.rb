# frozen_string_literal: true

require 'simpkv/server/console/nodes/catalog_view'
require 'simpkv/server/console/nodes/fact_list'
require 'simpkv/server/console/nodes/node_page'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # The records of a node, and the classes of its catalog.
        class ClassesPage < NodePage
          TITLE = 'Classes'

          private

          def content
            response.status = 500 if node['errors'].any?
            view(TITLE, 'nodes/classes', records: records, classes: classes)
          end

          # @return [Hash{String => Hash}] those that there are: `declared` and `effective`
          def records
            { 'declared' => node['record'], 'effective' => (node['inspection'] || {})['record'] }.compact
          end

          # @return [Api::Found, Missing] the classes of the catalog; no rows if none is stored
          def classes
            catalog = CatalogView.new(api, @certname)
            part { catalog.header ? catalog.resources('Class', '', 0, ROWS) : Api::Found.new([], 0) }
          end
        end

        # A part of a record of a node.
        class RecordPage < ClassesPage
          private

          def content
            records = records()
            response.status = 500 if node['errors'].any?
            of = given('of')
            record = records[of] || raise(Problem.new(404, "'#{@certname}' has no such record"))
            path = given('path')
            view(TITLE, 'nodes/record', of: of, path: path, value: FactList.new(record).at(path))
          end
        end
      end
    end
  end
end
