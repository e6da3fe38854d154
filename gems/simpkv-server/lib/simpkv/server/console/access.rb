# frozen_string_literal: true

require 'simpkv/server/console/access/pages'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # Users, roles and bindings: /access. These pages change nothing.
      class Access < Section
        route do |r|
          r.is(['', true]) do
            at('/access')
            r.get { DeclaredPage.new(visit, 'users').show }
          end
          r.is(%w[roles bindings]) do |section|
            at("/access/#{section}")
            r.get { DeclaredPage.new(visit, section).show }
          end
          r.is('explain') do
            at('/access/explain')
            r.get { ExplanationPage.new(visit).show }
          end
          r.is('plan') do
            at('/access/plan')
            r.get { PlanPage.new(visit).show }
            r.post { PlanPage.new(visit).submit }
          end
        end
      end
    end
  end
end
