# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Removes earlier values of a key.
      class Forget < Command
        include Versioned

        SECTION = :versions
        SUMMARY = 'remove the earlier values of a key'
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Removes the values that a key had before the current one, or with --keep all but the newest of them: the last
          step of a rotation, after which nobody reads the replaced value any more. The current value, its metadata and
          the time at which it expires stay. Backups, the pages of a directory's database and other copies are not
          reached. If another client changes the key meanwhile, removes nothing and exits with 75.
        TEXT
        EXAMPLES = {
          'simpkv forget app1/db_password' => 'After a rotation',
          'simpkv forget app1/db_password --keep 1' => 'All but the value before the current one'
        }.freeze

        def run(key)
          path = existing(key)
          removed = about(key) do
            stored = reading.get(path, latest: true)
            shorter = shorter(stored)
            swap(path, stored, shorter, 'try again') if shorter
            shorter ? Versions.count(stored) - Versions.count(shorter) : 0
          end
          output.print('key' => key, 'removed' => removed) { ["#{Output.count(removed, 'earlier value')} removed"] }
        end

        private

        def define(parser)
          @keep = 0
          parser.on('--keep N', 'keep the last N of them (0)') do |text|
            @keep = converted_option('--keep', 0..100, text)
          end
        end

        # @return [String, nil] the document without these values; nil if it has none
        def shorter(stored)
          return if Versions.count(stored) <= @keep

          Versions.successor(Versions.version(stored, 0), stored, history: @keep, expires: Versions.expires(stored))
        end
      end
    end
  end
end
