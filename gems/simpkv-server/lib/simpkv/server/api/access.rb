# frozen_string_literal: true

require 'simpkv/server/application'
require 'simpkv/server/api/access_view'

module Simpkv
  module Server
    module Api
      # Users, roles and bindings: /v1/access. Only reads.
      class Access < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/access')
            r.get { json(plain { view.declared }) }
          end
          r.is('explain') do
            at('/v1/access/explain')
            r.get { json(explanation) }
          end
          r.is('plan') do
            at('/v1/access/plan')
            r.get do
              query('passwords')
              json(view.plan(flag('passwords')))
            end
          end
        end

        private

        def explanation
          path, user = query('path', 'user').values_at('path', 'user')
          raise Problem.new(400, "the parameter 'path' is missing: it names a key or a folder") unless path

          view.explanation(path, user)
        end

        # @return [AccessView]
        # @raise [Problem] 404
        def view
          access = site.access
          unless access
            raise Problem.new(404, "there is no access control: the file of the service has no section 'access' " \
                                   '(docs/access.md)')
          end
          AccessView.new(access.reconciler)
        end
      end
    end
  end
end
