# frozen_string_literal: true

require 'simpkv/server/api/about'
require 'simpkv/server/api/access'
require 'simpkv/server/api/backends'
require 'simpkv/server/api/inspection_rules'
require 'simpkv/server/api/key_batch'
require 'simpkv/server/api/key_names'
require 'simpkv/server/api/keys'
require 'simpkv/server/api/nodes'
require 'simpkv/server/api/pdb'
require 'simpkv/server/api/pdb_admin'
require 'simpkv/server/api/pdb_commands'
require 'simpkv/server/api/pdb_metrics'
require 'simpkv/server/api/pdb_services'
require 'simpkv/server/api/report_details'
require 'simpkv/server/api/status'
require 'simpkv/server/api/whoami'
require 'simpkv/server/sections'

module Simpkv
  module Server
    # The API: an application for each section of its paths.
    module Api
      SECTIONS = { 'v1/access' => Access, 'v1/backends' => Backends, 'v1/inspection_rules' => InspectionRules,
                   'v1/key_names' => KeyNames, 'v1/keys' => Keys, 'v1/keys:batch' => KeyBatch,
                   'v1/nodes' => Nodes, 'v1/report_details' => ReportDetails, 'v1/status' => Status,
                   'v1/whoami' => Whoami,
                   'pdb/cmd/v1' => PdbCommands, 'pdb/admin/v1' => PdbAdmin, 'pdb' => Pdb,
                   'status/v1' => PdbServices, 'metrics/v2' => PdbMetrics }.freeze
      private_constant :SECTIONS

      # The first segments of the paths.
      PATHS = [*SECTIONS.keys.map { |path| path[/\A\w+/] }, *About::PATHS].uniq.freeze

      # @param parts [Hash{Symbol => Object}] what the sections use: `site`, `rights`, `metrics`, ...
      # @return [#call] the application of Rack
      def self.application(**parts)
        keys = Sections.compose(SECTIONS.slice('v1/keys'), About, **parts)
        Sections.compose(SECTIONS, About, keys: keys, **parts)
      end
    end
  end
end
