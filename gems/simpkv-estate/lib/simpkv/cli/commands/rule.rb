# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv rule`.
      module Rule
        extend Group

        SECTION = :nodes
        SUMMARY = 'show, change and test inspection rules'
      end
    end
  end
end
