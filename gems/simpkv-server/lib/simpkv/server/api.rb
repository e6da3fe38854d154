# frozen_string_literal: true

require 'simpkv/server/api/about'
require 'simpkv/server/api/access'
require 'simpkv/server/api/backends'
require 'simpkv/server/api/inspection_rules'
require 'simpkv/server/api/keys'
require 'simpkv/server/api/nodes'
require 'simpkv/server/api/pdb'
require 'simpkv/server/api/pdb_commands'
require 'simpkv/server/api/pdb_metrics'
require 'simpkv/server/api/pdb_services'
require 'simpkv/server/api/status'
require 'simpkv/server/sections'

module Simpkv
  module Server
    # The API: an application for each section of its paths.
    module Api
      SECTIONS = { 'v1/access' => Access, 'v1/backends' => Backends, 'v1/inspection_rules' => InspectionRules,
                   'v1/keys' => Keys, 'v1/nodes' => Nodes, 'v1/status' => Status, 'pdb/cmd/v1' => PdbCommands,
                   'pdb' => Pdb, 'status/v1' => PdbServices, 'metrics/v2' => PdbMetrics }.freeze
      private_constant :SECTIONS

      # The first segments of the paths.
      PATHS = [*SECTIONS.keys.map { |path| path[/\A\w+/] }, *About::PATHS].uniq.freeze

      # @param parts [Hash{Symbol => Object}] what the sections use: `site`, `rights`, `metrics`, ...
      # @return [#call] the application of Rack
      def self.application(**parts)
        Sections.compose(SECTIONS, About, **parts)
      end
    end
  end
end
