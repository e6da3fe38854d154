# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      # Prints the names in a folder.
      class Ls < Command
        SUMMARY = 'print the names in a folder'
        SUGGEST_FOR = { 'list' => 'ls', 'dir' => 'ls' }.freeze
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Prints the names of the keys and folders in a folder. A slash follows the name of a folder. Prints no
          values. Names keys that cannot be read on standard error. With -l, each line has the type of the value, the
          size of the document in bytes, the number of metadata entries, and the name.
        TEXT
        EXAMPLES = {
          'simpkv ls' => 'The environment production',
          'simpkv ls -l app1' => 'With types and sizes',
          "simpkv ls -e '' " => 'The environments',
          'simpkv ls -g hosts -o json' => 'For a program'
        }.freeze

        def run(folder = '')
          listing = about(folder) { listed(folder) }
          keys = listing[:keys].map { |name, summary| [Output.name(name), summary] }.sort_by(&:first).to_h
          folders = listing[:folders].map { |name| Output.name(name) }.sort
          output.print('keys' => @long ? keys : keys.keys, 'folders' => folders) do
            @long ? long(keys, folders) : folders.map { |name| "#{name}/" } + keys.keys
          end
          report(listing[:errors])
        end

        private

        def define(parser)
          parser.on('-l', '--long', 'print types and sizes too') { @long = true }
        end

        def long(keys, folders)
          rows = folders.map { |name| ['folder', '-', '-', "#{name}/"] } +
                 keys.map { |name, summary| [*summary.values.map { |fact| fact || '-' }, name] }
          rows.empty? ? [] : Output.table(rows)
        end

        # The root folder of an environment may be missing. It is empty then.
        def listed(folder)
          path = backend.path(folder)
          reading.list(path, required: path != backend.prefix) { |_, document| Value.summary(document) if @long }
        end
      end
    end
  end
end
