# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      # Checks whether a key or a folder exists.
      class Exists < Command
        SECTION = :keys
        SUMMARY = 'check whether a key or a folder exists'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints 'key' or 'folder' and exits with 0. If neither exists, prints nothing and exits with 1. A key that has
          expired does not exist, unless --expired is given.
        TEXT
        EXAMPLES = {
          'simpkv exists app1/db_password || make_one' => 'In a script'
        }.freeze

        def run(key)
          kind = about(key) { kind(existing(key)) }
          output.print('key' => key, 'exists' => !kind.nil?, 'kind' => kind&.to_s) { [kind].compact }
          kind ? 0 : Failure::NO
        end

        private

        def define(parser)
          parser.on('--expired', 'a key that has expired exists as well') { @expired = true }
        end

        def kind(path)
          kind = reading.kind(path)
          kind unless kind == :key && !@expired && expired?(path)
        end

        # A key that cannot be read exists.
        def expired?(path)
          document = backend.store.get(path, required: false)
          !document.nil? && Value.expired?(document)
        rescue DeniedError, MalformedError
          false
        end
      end
    end
  end
end
