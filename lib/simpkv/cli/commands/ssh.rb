# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for public keys of SSH.
      module Ssh
        extend Group

        SECTION = :security
        SUMMARY = 'store and list authorized SSH keys'
      end
    end
  end
end
