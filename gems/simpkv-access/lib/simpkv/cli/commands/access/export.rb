# frozen_string_literal: true

require 'simpkv/cli/access/access_command'

module Simpkv
  module Cli
    module Commands
      module Access
        # Prints what is declared.
        class Export < AccessCommand
          SUMMARY = 'print the declared users, roles and bindings'
          DESCRIPTION = <<~TEXT
            Prints the users, roles and bindings that are declared in the store, as a file for simpkv access apply. It
            has references to passwords, and no password.
          TEXT
          EXAMPLES = { 'simpkv access export > access.yaml' => 'A file with all of them' }.freeze

          def run
            @flags[:output] = 'yaml' if @flags[:output] == 'table'
            on_access do |access|
              output.print(access.snapshot.declared)
              nil
            end
          end
        end
      end
    end
  end
end
