# frozen_string_literal: true

require 'simpkv/server/console/access'
require 'simpkv/server/console/facts'
require 'simpkv/server/console/keys'
require 'simpkv/server/console/nodes'
require 'simpkv/server/console/overview'
require 'simpkv/server/console/query'
require 'simpkv/server/console/resources'
require 'simpkv/server/console/rules'
require 'simpkv/server/console/search'
require 'simpkv/server/console/session'
require 'simpkv/server/sections'

module Simpkv
  module Server
    # Pages for people, which need no script to be read. The console knows the store only by the API, which it asks as
    # the caller of the page: nobody sees or changes here what the API would refuse.
    #
    # Each section has an application, which finds the {Page} of a request. `views` has the templates of pages.
    module Console
      SECTIONS = { 'access' => Access, 'facts' => Facts, 'keys' => Keys, 'nodes' => Nodes, 'query' => Query,
                   'resources' => Resources, 'rules' => Rules, 'search' => Search, 'session' => Session }.freeze
      private_constant :SECTIONS

      # The first segments of the paths, beside the first page.
      PATHS = [*SECTIONS.keys, Overview::PATH].freeze

      # @param gate [Gate] of the API
      # @return [#call] the application of Rack
      def self.application(gate)
        Sections.compose(SECTIONS, Overview, gate: gate)
      end
    end
  end
end
