# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Deletes a key, or a folder.
      class Rm < Command
        SUMMARY = 'delete a key, or with -r a folder'
        SUGGEST_FOR = { 'delete' => 'rm', 'deletetree' => 'rm -r', 'remove' => 'rm' }.freeze
        ARGUMENTS = 'KEY...'
        DESCRIPTION = <<~TEXT
          Deletes keys; with -r, folders and all that is below them, which is asked for on a terminal unless --force is
          there. 66 when there was no such key or folder, unless --force is there.
        TEXT
        EXAMPLES = {
          'simpkv rm app1/db_password' => 'A key',
          'simpkv rm -r app1' => 'A folder'
        }.freeze

        def run(*keys)
          raise Failure.new('which keys? (simpkv rm --help)', Failure::USAGE) if keys.empty?

          check_environment unless @force
          missing = keys.reject { |key| remove(key) }
          output.print('deleted' => keys - missing, 'missing' => missing) { [] }
          return if missing.empty? || @force

          what = @folders ? 'folder' : 'key'
          raise Failure.new("#{backend.title}: there was no #{what} '#{missing.join("', '")}'", Failure::NO_INPUT)
        end

        private

        def define(parser)
          parser.on('-r', '--recursive', 'delete folders') { @folders = true }
          parser.on('-f', '--force', 'ask nothing, and be content when there is nothing') { @force = true }
        end

        # A key's path; never that of a whole environment, which must be named by its folder.
        def path(key)
          path = existing(key)
          return path unless path == backend.prefix

          raise Failure.new("'#{key}' is all of #{path}: name a folder in it", Failure::USAGE)
        end

        def remove(name)
          @folders ? remove_folder(name) : about(name) { backend.store.delete(path(name)) }
        end

        # true also when the answer was no: it was there.
        def remove_folder(folder)
          path = path(folder)
          return true unless confirmed?(path)

          about(folder) { backend.store.deletetree(path) }
        end

        def confirmed?(path)
          return true if @force || !$stdin.tty?

          $stderr.print("Delete #{path} of #{backend.title} and all that is below it? [y/N] ")
          $stdin.gets.to_s.strip.casecmp?('y')
        end
      end
    end
  end
end
