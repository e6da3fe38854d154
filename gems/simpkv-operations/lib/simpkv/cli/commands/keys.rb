# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv keys`.
      module Keys
        extend Group

        SECTION = :security
        SUMMARY = 'make and change the keys that encrypt documents'
      end
    end
  end
end
