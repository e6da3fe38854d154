# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv token`.
      module Token
        extend Group

        SECTION = :security
        SUMMARY = 'make and revoke tokens, with which programs use the service'
      end
    end
  end
end
