# frozen_string_literal: true

module Simpkv
  module Cli
    module Commands
      # The commands for the passwords of simplib::passgen.
      module Passgen
        extend Group

        SUMMARY = 'take over the passwords of simplib::passgen'
      end
    end
  end
end
