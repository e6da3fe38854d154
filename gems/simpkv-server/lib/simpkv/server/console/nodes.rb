# frozen_string_literal: true

require 'simpkv/server/console/nodes/catalog_pages'
require 'simpkv/server/console/nodes/comparison_pages'
require 'simpkv/server/console/nodes/class_pages'
require 'simpkv/server/console/nodes/deactivation_page'
require 'simpkv/server/console/nodes/report_pages'
require 'simpkv/server/console/nodes/export_pages'
require 'simpkv/server/console/nodes/facts_page'
require 'simpkv/server/console/nodes/inspection_page'
require 'simpkv/server/console/nodes/summary_page'
require 'simpkv/server/console/nodes/table_page'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # The table of nodes, and the pages of a node: /nodes. Each tab is a page of its own.
      class Nodes < Section
        # The pages of the tabs, by the segment of the path.
        TABS = { 'facts' => FactsPage, 'reports' => ReportsPage, 'classes' => ClassesPage, 'resources' => ExportsPage,
                 'catalog' => CatalogPage, 'inspection' => InspectionPage, 'compare' => ComparisonPage }.freeze
        private_constant :TABS

        route do |r|
          r.is(['', true]) do
            at('/nodes')
            r.get { TablePage.new(visit).show }
          end
          r.on(String) do |certname|
            @certname = certname
            r.is do
              at('/nodes/{certname}')
              r.get { show(SummaryPage) }
            end
            r.is('reports', String) { |id| r.get { report(id) } }
            r.is('deactivate') do
              at('/nodes/{certname}/deactivate')
              r.get { show(DeactivationPage) }
              r.post { submit(DeactivationPage) }
            end
            r.is(TABS.keys) do |tab|
              at("/nodes/{certname}/#{tab}")
              r.get { show(part(tab) || TABS.fetch(tab)) }
              r.post { submit(InspectionPage) } if tab == 'inspection'
            end
          end
        end

        private

        # @param page [Class]
        # @param more [Array<String>] beside the node, what it is about
        # @return [String] HTML
        def show(page, *more)
          page.new(visit, @certname, *more).show
        end

        # @return [String] HTML
        def submit(page)
          page.new(visit, @certname).submit
        end

        def report(id)
          at('/nodes/{certname}/reports/{hash}')
          event = visit.given('event')
          event.empty? ? show(ReportPage, id) : show(EventPage, id, event)
        end

        # @param tab [String] of {TABS}
        # @return [Class, nil] of the page of a part, if the parameters name one
        def part(tab)
          case tab
          when 'classes' then RecordPage if given?('of')
          when 'catalog' then ResourcePage if given?('title')
          when 'resources' then exports
          when 'compare' then comparison
          end
        end

        def exports
          return CollectedPage if visit.given('show') == 'collected'

          ExportPage if given?('title')
        end

        def comparison
          return CatalogsComparedPage if given?('with')

          ReportsComparedPage if given?('from') || given?('to')
        end

        # @param name [String] of a parameter
        # @return [Boolean]
        def given?(name)
          !visit.given(name).empty?
        end
      end
    end
  end
end
