# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv spool`.
      module Spool
        extend Group

        SECTION = :nodes
        SUMMARY = 'show and deliver what runs have left in the spool of this machine'
      end
    end
  end
end
