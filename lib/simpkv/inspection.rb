# frozen_string_literal: true

require 'simpkv/estate'
require 'simpkv/inspection/action_files'
require 'simpkv/inspection/engine_values'
require 'simpkv/inspection/explanation'
require 'simpkv/inspection/given_facts'
require 'simpkv/inspection/inspector'
require 'simpkv/inspection/rules'
require 'simpkv/inspection/stored_rules'

module Simpkv
  # Inspection rules (docs/inspection-rules.md), and the inspections of nodes with them.
  module Inspection
  end
end
