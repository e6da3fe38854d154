# frozen_string_literal: true

require 'simpkv/cli/group'

module Simpkv
  module Cli
    module Commands
      # The commands `simpkv passgen`.
      module Passgen
        extend Group

        SECTION = :moving
        SUMMARY = 'take over the passwords of simplib::passgen'
      end
    end
  end
end
