# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv ssh`.
      module Ssh
        extend Group

        SECTION = :security
        SUMMARY = 'store and list authorized SSH keys'
      end
    end
  end
end
