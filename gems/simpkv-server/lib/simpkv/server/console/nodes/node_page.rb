# frozen_string_literal: true

require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # What the pages of a node have in common. A page has `content`.
        class NodePage < Page
          include Rows

          # The tabs: the segment of the path, and the title.
          TABS = { nil => 'Summary', 'facts' => 'Facts', 'reports' => 'Reports', 'classes' => 'Classes',
                   'resources' => 'Exports', 'catalog' => 'Catalog', 'inspection' => 'Inspection',
                   'compare' => 'Compare' }.freeze
          # The tabs to which pages belong that are none.
          BELOW = { 'Report' => 'Reports', 'Event' => 'Reports', 'Resource' => 'Catalog' }.freeze
          # Members of a list that has no pages.
          ROWS = 50
          # A resource in a table has so many of its parameters.
          PARAMETERS = 5
          # The most characters of one value on a page of its own.
          TEXT = 10_000
          private_constant :TABS, :BELOW, :ROWS, :PARAMETERS, :TEXT

          # @param visit [Visit]
          # @param certname [String]
          def initialize(visit, certname)
            super(visit)
            @certname = certname
          end

          # @return [String] HTML: the page; or that of a document that cannot be read, or of a store that does not
          #   answer: with the tabs, of which others may have something, and with what to do
          def show
            content
          rescue *ERRORS => e
            problem = Problem.of(e)
            raise unless problem.status == 503 || (problem.status == 500 && !e.is_a?(ConfigError))

            response.status = problem.status
            view(self.class::TITLE, 'nodes/unreadable', problem: problem)
          end

          private

          # @param title [String] of {TABS}, or of a page below one
          # @return [String] HTML
          def view(title, template, **locals)
            @title = title
            page(title == 'Summary' ? @certname : "#{title}: #{@certname}", template, copy: @certname, **locals)
          end

          # @return [Array<Hash>]
          def tabs
            TABS.map do |segment, title|
              current = title == @title ? 'page' : ('true' if title == BELOW[@title])
              { title: title, address: url(*['nodes', @certname, segment].compact), current: current }
            end
          end

          # @return [String] the path of the node in the API, or of a part of it
          def api_path(*part)
            Api.path('v1', 'nodes', @certname, *part)
          end

          # @return [Hash] what the API tells of the node, with the member `errors`
          # @raise [Problem] 404: the store does not know the node
          def node
            @node ||= api.get(api_path, 'errors' => 'return')
          end

          # For a tab that has nothing to show: a node that the store does not know has no tabs.
          #
          # @return [void]
          # @raise [Problem] 404
          def demand_node
            part { node }
          end

          # Reads a part of the node that it may not have.
          #
          # @return [Object, Missing]
          def stored(name)
            found = subject(404) { api.get(api_path(name)) }
            demand_node if missing?(found)
            found
          end

          # @param subject [String] such as `status`: the folder of a document
          # @return [Boolean] whether the document cannot be read
          def unreadable?(subject)
            node['errors'].key?("#{Estate::FOLDER}/#{subject}/#{@certname}")
          end

          # @return [Boolean] whether a deactivation has something to remove
          def left_something?
            !node['never_run'] || !node['inspection'].nil? || unreadable?('inspections')
          end

          # @param problem [#status, #key] why a page or a part of it is missing
          # @return [Boolean] whether the reason is a document of this node, and not one of all nodes, such as a rule
          def of_node?(problem)
            of_node = %r{\A#{Estate::FOLDER}/(?!rules/)(?:[^/]+/){1,2}#{Regexp.escape(@certname)}(?:/[^/]+)?\z}
            problem.status == 500 && problem.key.to_s.match?(of_node)
          end

          # @return [String] the address of a resource of the catalog
          def resource_url(type, title, path = nil)
            url('nodes', @certname, 'catalog', type: type, title: title, path: path)
          end

          # @param value [Object] of JSON
          # @return [String] a short form of it
          def short(value)
            cut(value.is_a?(String) ? value : Native.generate(value))
          end
        end
      end
    end
  end
end
