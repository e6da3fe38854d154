# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv conflicts`.
      module Conflicts
        extend Group

        SECTION = :storage
        SUMMARY = 'show and resolve what two writers have left in 389 Directory Server'
      end
    end
  end
end
