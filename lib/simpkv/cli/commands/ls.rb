# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Prints the names in a folder.
      class Ls < Command
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Prints the names of the keys in a folder, and of the folders, with a slash behind. Values are not printed. What
          cannot be read is named on standard error.
        TEXT
        EXAMPLES = {
          'simpkv ls' => 'What the environment production has',
          "simpkv ls -e '' " => 'Which environments there are',
          'simpkv ls -g hosts -o json' => 'For a program'
        }.freeze

        def run(folder = '')
          found = about(folder) { listed(folder) }
          keys = found[:keys].keys.map { |name| Output.name(name) }.sort
          folders = found[:folders].map { |name| Output.name(name) }.sort
          output.print('keys' => keys, 'folders' => folders) { folders.map { |name| "#{name}/" } + keys }
          report(found[:errors])
        end

        private

        # A root where nothing was stored yet is empty.
        def listed(folder)
          reading.list(backend.path(folder)) { |_, _| nil }
        rescue NotFoundError
          raise unless backend.path(folder) == backend.prefix

          { keys: {}, folders: [], errors: {} }
        end
      end
    end
  end
end
