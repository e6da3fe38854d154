# frozen_string_literal: true

require 'simpkv/cli/command'

module Simpkv
  module Cli
    module Commands
      # Deletes a key, or a folder.
      class Rm < Command
        SECTION = :keys
        SUMMARY = 'delete a key, or with -r a folder (or simpkv delete)'
        SUGGEST_FOR = { 'deletetree' => 'rm -r', 'remove' => 'rm' }.freeze
        ARGUMENTS = 'KEY...'
        DESCRIPTION = <<~TEXT
          Deletes keys, or with -r folders and all keys below them, also those that have expired. Before it deletes a
          folder, asks on a terminal, with the number of keys; a script needs --yes. Prints the folders that were
          deleted, and the number of keys that each had. Exits with 66 if a key or folder does not exist, unless --force
          is given. simpkv delete does the same.
        TEXT
        EXAMPLES = {
          'simpkv rm app1/db_password' => 'A key',
          'simpkv rm -r app1' => 'A folder, after a question',
          'simpkv rm -r --yes app1' => 'A folder, in a script'
        }.freeze

        def run(*keys)
          raise Failure.new('which keys? (simpkv rm --help)', Failure::USAGE) if keys.empty?

          check_environment unless @force
          @count = 0
          outcomes = { deleted: [], kept: [], missing: [] }
          keys.each { |key| outcomes[@folders ? remove_folder(key) : remove_key(key)] << key }
          output.print('keys' => @count, **outcomes.transform_keys(&:to_s)) { [] }
          refuse_missing(outcomes[:missing]) unless @force
        end

        private

        def define(parser)
          parser.on('-r', '--recursive', 'delete folders') { @folders = true }
          parser.on('-y', '--yes', 'ask nothing') { @yes = true }
          parser.on('-f', '--force', 'ask nothing, and ignore missing keys') { @yes = @force = true }
        end

        # The path of a key or folder, but not of a whole environment.
        def path(key)
          path = existing(key)
          return path unless path == backend.prefix

          raise Failure.new("'#{key}' is all of #{path}: name a folder in it", Failure::USAGE)
        end

        # @return [:deleted, :missing]
        def remove_key(key)
          path = path(key)
          return :missing unless about(key) { delete_key(path) }

          @count += 1
          :deleted
        end

        # @return [Boolean] whether it was there
        def delete_key(path)
          backend.store.delete(path)
        rescue IsFolderError
          raise IsFolderError, 'it is a folder: simpkv rm -r deletes folders', cause: nil
        end

        # Prints the folder as soon as it is deleted, because the next one may fail.
        #
        # @return [:deleted, :kept, :missing]
        def remove_folder(folder)
          path = path(folder)
          keys = about(folder) { number_below(path) }
          return :missing if keys.nil?
          return :kept unless confirmed?(path, Output.count(keys, 'key'))
          return :missing unless about(folder) { backend.store.deletetree(path) }

          @count += keys
          output.print(nil) { "deleted '#{folder}', which had #{Output.count(keys, 'key')}" } unless output.data?
          :deleted
        end

        # @return [Integer, nil] the number of keys in the folder and below it; nil if there is no folder
        # @raise [IsKeyError]
        def number_below(path)
          tree = backend.store.tree(path, values: false)
          tree[:keys].length + tree[:errors].length
        rescue NotFoundError
          return unless backend.store.kind(path) == :key

          raise IsKeyError, 'it is a key, not a folder: simpkv rm deletes it without -r', cause: nil
        end

        def confirmed?(path, keys)
          return true if @yes

          unless $stdin.tty?
            raise Failure.new("#{backend.title}: #{path} has #{keys}, and there is no terminal to ask whether to " \
                              'delete them: --yes does', Failure::USAGE)
          end
          $stderr.print("Delete #{path} of #{backend.title}, with #{keys}? [y/N] ")
          $stdin.gets.to_s.strip.casecmp?('y')
        end

        def refuse_missing(missing)
          return if missing.empty?

          what = @folders ? 'folder' : 'key'
          raise Failure.new("#{backend.title}: there was no #{what} '#{missing.join("', '")}'", Failure::NO_INPUT)
        end
      end
    end
  end
end
