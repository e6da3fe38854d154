# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Tells whether there is a key or a folder.
      class Exists < Command
        SUMMARY = 'tell whether there is a key or a folder'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints 'key' or 'folder', and ends with 0; or prints nothing and ends with 1.
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
