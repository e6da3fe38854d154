# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for inspection rules.
      module Rule
        extend Group

        SECTION = :nodes
        SUMMARY = 'show, change and test inspection rules'
      end
    end
  end
end
