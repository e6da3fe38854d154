# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for the passwords of simplib::passgen.
      module Passgen
        extend Group

        SECTION = :moving
        SUMMARY = 'take over the passwords of simplib::passgen'
      end
    end
  end
end
