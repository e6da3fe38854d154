# frozen_string_literal: true

require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Access < Section
        # What the pages of access rights have in common.
        class AccessPage < Page
          # The pages, by path.
          TABS = { '/access' => 'Users', '/access/roles' => 'Roles', '/access/bindings' => 'Bindings',
                   '/access/explain' => 'Who may do what', '/access/plan' => 'Plan' }.freeze
          # Names, prefixes or notes that a cell has.
          CELL = 20
          private_constant :TABS, :CELL

          private

          # @param name [String] of a template
          # @param found [Object, Parts::Missing] of the API
          # @return [String] HTML
          def view(name, found, **locals)
            page('Access', "access/#{name}", found: found, **locals)
          end

          # Access control that is not configured is no error of the page, and neither is a user that is not declared.
          def data(path = '', query = {})
            part(404) { subject(400) { api.get("/v1/access#{path}", query) } }
          end

          # @param list [Array<String>]
          # @return [Array<String>] as many as a cell has
          def first_names(list)
            left = list.length - CELL
            shown = list.first(CELL).map { |text| cut(text, 300) }
            left.positive? ? [*shown, "and #{left} more (simpkv access export)"] : shown
          end
        end

        # What is declared, and its state in the directory.
        class DeclaredPage < AccessPage
          include Rows

          # What sorts the tables.
          COLUMNS = { 'name' => ->(object) { object['name'] }, 'state' => ->(object) { object['state'] } }.freeze
          private_constant :COLUMNS

          # @param visit [Visit]
          # @param section [String] users, roles or bindings
          def initialize(visit, section)
            super(visit)
            @section = section
          end

          # @return [String] HTML
          def show
            found = data
            return view('missing', found) if missing?(found)

            list = page_of(in_order(found[@section], COLUMNS))
            file = file_of(@section) { list.rows }
            return file if file

            view(@section, found, list: list,
                                  declared: found.values_at('users', 'roles', 'bindings').any?(&:any?))
          end

          private

          # @return [Array<String>] rights by prefix
          def grant_lines(grants)
            first_names(grants.map { |grant| "#{grant['prefix']}: #{grant['rights'].join(', ')}" })
          end

          # @return [String] HTML: the state of an object in the directory, and what differs there
          def state(object)
            state = object['state'] || 'unknown'
            status = { 'present' => 'unchanged', 'existing' => 'noop', 'unknown' => 'unseen' }.fetch(state, 'failed')
            notes = first_names(object['notes']).map { |note| "<li>#{h(note)}</li>" }.join
            %(<span class="badge #{status}">#{h(state)}</span>#{"<ul>#{notes}</ul>" unless notes.empty?})
          end
        end

        # Which roles have rights on a path.
        class ExplanationPage < AccessPage
          # @return [String] HTML
          def show
            path, user = %w[path user].map { |name| given(name).strip }
            return empty_form(user) if path.empty?

            found = data('/explain', 'path' => path, 'user' => (user unless user.empty?))
            view('explain', found, path: path, user: user)
          end

          private

          def empty_form(user)
            # Any path tells whether there is access control, and whether the caller may ask.
            found = data('/explain', 'path' => 'globals')
            missing?(found) ? view('missing', found) : view('explain', nil, path: '', user: user)
          end
        end

        # What `simpkv access apply` would do.
        class PlanPage < AccessPage
          # Lines of a plan.
          LINES = 500
          private_constant :LINES

          # @return [String] HTML
          def show
            plan
          end

          # As {#show}, with a trial of all passwords. It binds as users, so it is not for a link.
          #
          # @return [String] HTML
          def submit
            plan(passwords: true)
          end

          private

          def plan(passwords: nil)
            found = data('/plan', 'passwords' => passwords)
            return view('missing', found) if missing?(found)

            lines = found['steps'].flat_map { |step| step['lines'] }
            view('plan', found, lines: lines.first(LINES), more: [lines.length - LINES, 0].max)
          end

          # @param line [String] of a step
          # @return [String] HTML: what is added and deleted is marked as such
          def marked(line)
            name = { '+' => 'ins', '-' => 'del' }[line[/\A[+-](?= )/]]
            name ? "<#{name}>#{h(line)}</#{name}>" : h(line)
          end
        end
      end
    end
  end
end
