# frozen_string_literal: true

require 'simpkv/access/explanation'
require 'simpkv/access/site'
require 'simpkv/access/status_report'

module Simpkv
  module Server
    module Api
      # Access control as clients see it: what is declared, what the directory has of it, and what an apply would do. It
      # has references to passwords, and no password.
      class AccessView
        # @param reconciler [Simpkv::Access::Reconciler]
        def initialize(reconciler)
          @reconciler = reconciler
        end

        # @return [Hash] the declared users, roles and bindings, each with its state in the directory
        # @raise [Error, ConfigError]
        def declared
          plan, error = outline
          state = plan ? plan.state : @reconciler.snapshot
          rows = plan ? Simpkv::Access::StatusReport.new(plan).objects.to_h { |row| [[row.kind, row.name], row] } : {}
          objects = { 'users' => users(state), 'roles' => roles(state), 'bindings' => bindings(state) }
          objects.to_h do |section, list|
            [section, list.map { |object| object.merge(seen(rows[[section.chomp('s'), object['name']]])) }]
          end.merge('directory' => { 'ok' => error.nil?, 'error' => error })
        end

        # @param path [String] of a key or a folder, such as environments/dev/app1/password
        # @param user [String, nil] only rights of this user
        # @return [Hash] the roles that give rights on it; for a user, `by_group` has those whose groups may have him
        # @raise [Problem] this is no path, or no declared user
        # @raise [Error]
        def explanation(path, user)
          check_path(path)
          state = @reconciler.snapshot
          check_user(state, user) if user
          rows = Simpkv::Access::Explanation.new(state).rows(path)
          direct, others = rows.partition { |row| user.nil? || row.users.include?(user) }
          { 'path' => path, 'user' => user, 'roles' => direct.map { |row| explained(row) },
            'by_group' => others.select { |row| row.groups.any? }.map { |row| explained(row) } }
        end

        # @param passwords [Boolean] whether to bind as each user: a directory may lock accounts after binds that it has
        #   refused
        # @return [Hash] what `simpkv access apply` would do. Nothing is changed
        # @raise [Error]
        def plan(passwords)
          plan = @reconciler.plan(passwords: passwords)
          { 'steps' => plan.steps.map { |step| step.plain.merge('lines' => step.lines) },
            'conflicts' => plan.conflicts, 'warnings' => plan.warnings, 'rules_readable' => !plan.by_hand?,
            'passwords_tried' => passwords }
        end

        private

        # @return [Array(Simpkv::Access::Plan, String)] a plan without passwords and rules; or nil, and why the
        #   directory cannot be read
        def outline
          [@reconciler.reading.outline, nil]
        rescue Error => e
          [nil, e.message]
        end

        def users(state)
          state.users.map { |name, user| { 'name' => name, 'password' => user['password'] } }
        end

        def roles(state)
          state.roles.map do |name, role|
            { 'name' => name,
              'grants' => role['grants'].map { |prefix, rights| { 'prefix' => prefix, 'rights' => rights } } }
          end
        end

        def bindings(state)
          state.bindings.map { |name, binding| { 'name' => name, **binding.slice('users', 'groups', 'roles') } }
        end

        # @param row [Simpkv::Access::StatusReport::Row, nil]
        def seen(row)
          { 'state' => row&.state, 'notes' => row ? row.notes : [] }
        end

        def check_user(state, name)
          user = state.users[name]
          raise Problem.new(404, "there is no declared user '#{name}'") if user.nil? || user['deleting']
        end

        def check_path(path)
          return if Simpkv::Access::Explanation.path?(path)

          raise Problem.new(400, "'#{path}' is not a path: expected globals/... or environments/NAME/...")
        end

        def explained(row)
          row.to_h.transform_keys(&:to_s)
        end
      end
    end
  end
end
