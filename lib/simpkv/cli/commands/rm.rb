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
          Deletes keys, or with -r folders and all keys below them. On a terminal, asks before it deletes a folder,
          unless --force is given. Exits with 66 if a key or folder does not exist, unless --force is given.
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
          parser.on('-f', '--force', 'ask nothing, and ignore missing keys') { @force = true }
        end

        # The path of a key or folder, but not of a whole environment.
        def path(key)
          path = existing(key)
          return path unless path == backend.prefix

          raise Failure.new("'#{key}' is all of #{path}: name a folder in it", Failure::USAGE)
        end

        def remove(name)
          @folders ? remove_folder(name) : about(name) { backend.store.delete(path(name)) }
        end

        # Returns true if the folder was there, even if the user kept it.
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
