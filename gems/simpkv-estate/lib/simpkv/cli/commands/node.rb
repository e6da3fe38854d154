# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv node`.
      module Node
        extend Group

        SECTION = :nodes
        SUMMARY = 'show, declare and remove nodes'
      end
    end
  end
end
