# frozen_string_literal: true

require 'simpkv/server/api/access_view'

module Simpkv
  module Server
    # Users, roles and bindings: /v1/access. Only reads.
    class Application
      hash_branch('/v1', 'access') do |r|
        refuse_conditions
        r.is(['', true]) do
          at('/v1/access')
          r.get { json(plain { access_view.declared }) }
        end
        r.is('explain') do
          at('/v1/access/explain')
          r.get { json(access_explanation) }
        end
        r.is('plan') do
          at('/v1/access/plan')
          r.get do
            query('passwords')
            json(access_view.plan(flag('passwords')))
          end
        end
      end

      private

      def access_explanation
        path, user = query('path', 'user').values_at('path', 'user')
        raise Problem.new(400, "the parameter 'path' is missing: it names a key or a folder") unless path

        access_view.explanation(path, user)
      end

      # @return [Api::AccessView]
      # @raise [Problem] 404
      def access_view
        access = site.access
        unless access
          raise Problem.new(404, "there is no access control: the file of the service has no section 'access' " \
                                 '(docs/access.md)')
        end
        Api::AccessView.new(access.reconciler)
      end
    end
  end
end
