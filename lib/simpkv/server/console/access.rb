# frozen_string_literal: true

module Simpkv
  module Server
    # Users, roles and bindings: /access. These pages change nothing.
    class Console
      # What the pages of access rights have in common.
      module Access
        # The pages, by path.
        TABS = { '/access' => 'Users', '/access/roles' => 'Roles', '/access/bindings' => 'Bindings',
                 '/access/explain' => 'Who may do what', '/access/plan' => 'Plan' }.freeze
        # Names, prefixes or notes that a cell has.
        CELL = 20
        # Lines of a plan.
        LINES = 500
        # Where the API is.
        API = '/v1/access'
      end
      private_constant :Access

      hash_branch('', 'access') do |r|
        r.is do
          at('/access')
          r.get { declared_page('users') }
        end
        r.is(%w[roles bindings explain plan]) do |name|
          at("/access/#{name}")
          r.get { access_page(name) }
          # Binds as users, so it is not for a link.
          r.post { plan_page(passwords: true) } if name == 'plan'
        end
      end

      private

      def access_page(name)
        case name
        when 'explain' then explanation_page
        when 'plan' then plan_page
        else declared_page(name)
        end
      end

      # @param name [String] of a template
      # @param found [Object, Parts::Missing] of the API
      # @return [String] the page; without access control, that says so
      def access_view(name, found, **locals)
        page('Access', "access_#{name}", found: found, tabs: Access::TABS, **locals)
      end

      # Access control that is not configured is no error of the page, and neither is a user that is not declared.
      def access_data(path = '', query = {})
        part(404) { subject(400) { api.get("#{Access::API}#{path}", query) } }
      end

      # @param section [String] users, roles or bindings
      def declared_page(section)
        found = access_data
        return access_view('missing', found) if missing?(found)

        rows = found[section]
        offset, limit = window
        access_view(section, found, rows: rows[offset, limit] || [], total: rows.length, offset: offset, limit: limit,
                                    declared: found.values_at('users', 'roles', 'bindings').any?(&:any?))
      end

      def explanation_page
        path, user = %w[path user].map { |name| given(name).strip }
        return explanation_form(user) if path.empty?

        found = access_data('/explain', 'path' => path, 'user' => (user unless user.empty?))
        access_view('explain', found, path: path, user: user)
      end

      def explanation_form(user)
        # Any path tells whether there is access control, and whether the caller may ask.
        found = access_data('/explain', 'path' => 'globals')
        missing?(found) ? access_view('missing', found) : access_view('explain', nil, path: '', user: user)
      end

      def plan_page(passwords: nil)
        found = access_data('/plan', 'passwords' => passwords)
        return access_view('missing', found) if missing?(found)

        lines = found['steps'].flat_map { |step| step['lines'] }
        access_view('plan', found, lines: lines.first(Access::LINES), more: [lines.length - Access::LINES, 0].max)
      end

      # @param list [Array<String>]
      # @return [Array<String>] as many as a cell has
      def first_names(list)
        left = list.length - Access::CELL
        shown = list.first(Access::CELL).map { |text| cut(text, 300) }
        left.positive? ? [*shown, "and #{left} more (simpkv access export)"] : shown
      end

      # @return [Array<String>] rights by prefix
      def grant_lines(grants)
        first_names(grants.map { |grant| "#{grant['prefix']}: #{grant['rights'].join(', ')}" })
      end

      # @return [String] HTML: the state of an object in the directory, and what differs there
      def access_state(object)
        state = object['state'] || 'unknown'
        status = { 'present' => 'unchanged', 'existing' => 'noop', 'unknown' => 'unseen' }.fetch(state, 'failed')
        notes = first_names(object['notes']).map { |note| "<li>#{h(note)}</li>" }.join
        %(<span class="badge #{status}">#{h(state)}</span>#{"<ul>#{notes}</ul>" unless notes.empty?})
      end

      # @param line [String] of a step
      # @return [String] HTML: what is added and deleted is marked as such
      def plan_line(line)
        name = { '+' => 'ins', '-' => 'del' }[line[/\A[+-](?= )/]]
        name ? "<#{name}>#{h(line)}</#{name}>" : h(line)
      end
    end
  end
end
