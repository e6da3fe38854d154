# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for users, roles and bindings.
      module Access
        extend Group

        SECTION = :security
        SUMMARY = 'keep users, roles and access rights in a directory'
      end
    end
  end
end
