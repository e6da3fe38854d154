# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for the keys that encrypt documents.
      module Keys
        extend Group

        SECTION = :security
        SUMMARY = 'make and change the keys that encrypt documents'
      end
    end
  end
end
