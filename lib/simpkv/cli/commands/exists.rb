# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Checks whether a key or a folder exists.
      class Exists < Command
        SUMMARY = 'check whether a key or a folder exists'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints 'key' or 'folder' and exits with 0. If neither exists, prints nothing and exits with 1.
        TEXT
        EXAMPLES = {
          'simpkv exists app1/db_password || make_one' => 'In a script'
        }.freeze

        def run(key)
          kind = about(key) { reading.kind(existing(key)) }
          output.print('key' => key, 'exists' => !kind.nil?, 'kind' => kind&.to_s) { [kind].compact }
          kind ? 0 : Failure::NO
        end
      end
    end
  end
end
