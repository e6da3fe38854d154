# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv access`.
      module Access
        extend Group

        SECTION = :security
        SUMMARY = 'keep users, roles and access rights in a directory'
      end
    end
  end
end
