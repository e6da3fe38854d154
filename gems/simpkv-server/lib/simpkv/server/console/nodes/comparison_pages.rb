# frozen_string_literal: true

require 'simpkv/server/console/nodes/catalog_comparison'
require 'simpkv/server/console/nodes/catalog_view'
require 'simpkv/server/console/nodes/node_page'
require 'simpkv/server/console/nodes/report_comparison'
require 'simpkv/server/console/nodes/report_pages'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # The forms that compare two reports, or the catalogs of two nodes.
        class ComparisonPage < ReportedPage
          TITLE = 'Compare'

          private

          def content
            last = part { reports.first(ROWS) }
            demand_node if missing?(last) || no_reports?
            view(TITLE, 'nodes/compare', reports: last)
          end
        end

        # What differs between two reports.
        class ReportsComparedPage < ComparisonPage
          private

          def content
            from, to = %w[from to].map { |name| given(name) }.map { |id| report(id) }
            comparison = ReportComparison.new(from, to)
            tables = { 'Runs' => comparison.members, 'Numbers of resources' => comparison.resources,
                       'Seconds' => comparison.times }
            view(TITLE, 'nodes/compare_reports',
                 from: from, to: to, tables: tables, list: page_of(comparison.events), more: comparison.left_out,
                 only: { from => comparison.only_from, to => comparison.only_to })
          end
        end

        # What differs between the last catalogs of two nodes.
        class CatalogsComparedPage < NodePage
          TITLE = 'Compare'

          private

          def content
            other = given('with')
            [@certname, other].each { |certname| demand_catalog(certname) }
            comparison = CatalogComparison.new(api, [@certname, other])
            list = page_of(comparison.differences)
            view(TITLE, 'nodes/compare_catalogs', other: other, list: list, values: comparison.values(list.rows))
          end

          def demand_catalog(certname)
            return if CatalogView.new(api, certname).header

            raise Problem.new(404, "no catalog of '#{certname}' is stored. The option 'catalogs' of 'estate' says " \
                                   'whether catalogs are')
          end
        end
      end
    end
  end
end
