# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/walk'

module Simpkv
  module Cli
    module Commands
      # Draws a folder with all folders and keys below it.
      class Tree < Command
        SECTION = :keys
        SUMMARY = 'draw a folder with all folders and keys below it'
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Draws the folders and keys below a folder. Prints no values, and no keys that have expired, unless --expired
          is given. With --expired, reads names only, which is faster.
        TEXT
        EXAMPLES = {
          'simpkv tree' => 'The environment production',
          'simpkv tree --all' => 'The whole backend'
        }.freeze

        def run(folder = '')
          root = @all ? '' : path_of(folder)
          store = @all ? backend.store : reading
          about_folder(folder) { store.list(root) { nil } } unless @all || root == backend.prefix
          names = about_folder(folder) { Walk.new(store).names(@all ? Walk::ROOTS : [root], expired: @expired) }
          output.print('keys' => names[:keys], 'folders' => names[:folders]) do
            ["#{root}/", *drawn(children(names), root)]
          end
          report(names[:errors])
        end

        private

        def define(parser)
          parser.on('-a', '--all', 'all environments and the global keys') { @all = true }
          parser.on('--expired', 'draw keys that have expired, too') { @expired = true }
        end

        # @return [Hash{String => Array}] by folder, the path, the drawn name and, for folders, the path of each member
        def children(names)
          folders = names[:folders] | (@all ? Walk::ROOTS : [])
          lines = folders.map { |path| [path, "#{File.basename(path)}/", path] } +
                  names[:keys].map { |path| [path, File.basename(path), nil] }
          lines.sort_by(&:first).group_by { |path, _, _| path.include?('/') ? File.dirname(path) : '' }
        end

        def drawn(children, folder, margin = '')
          lines = children.fetch(folder, [])
          lines.each_with_index.flat_map do |(_, text, below), index|
            last = index == lines.length - 1
            line = "#{margin}#{last ? '└── ' : '├── '}#{text}"
            [line, *(drawn(children, below, "#{margin}#{last ? '    ' : '│   '}") if below)]
          end
        end
      end
    end
  end
end
