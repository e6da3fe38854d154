# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for one node.
      module Node
        extend Group

        SECTION = :nodes
        SUMMARY = 'show, declare and remove nodes'
      end
    end
  end
end
