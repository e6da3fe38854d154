# frozen_string_literal: true

require 'simpkv/server/console/facts/pages'
require 'simpkv/server/console/facts/path'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      # The facts of all nodes: /facts.
      class Facts < Section
        route do |r|
          r.get do
            path = FactPath.of(visit.segments.drop(1), visit.given('path'))
            at(path ? '/facts/{path}' : '/facts')
            next NamesPage.new(visit).show unless path

            value = visit.given('value')
            value.empty? ? FactPage.new(visit, path).show : NodesPage.new(visit, path, value).show
          end
        end
      end
    end
  end
end
