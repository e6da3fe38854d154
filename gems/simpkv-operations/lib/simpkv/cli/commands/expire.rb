# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/many_keys'
require 'simpkv/cli/progress'
require 'simpkv/cli/versioned'
require 'simpkv/cli/walk'
require 'simpkv/cli/workers'

module Simpkv
  module Cli
    module Commands
      # Deletes keys that have expired.
      class Expire < Command
        include ManyKeys
        include Versioned

        SECTION = :versions
        SUMMARY = 'delete keys that have expired'
        ARGUMENTS = '[FOLDER]'
        DESCRIPTION = <<~TEXT
          Deletes the keys that have expired, with their earlier values: in all of the backend, in one environment with
          -e, the global keys with -g, or the keys below FOLDER. Prints their paths. Deletes a key only if nobody has
          stored another document since. simpkv::get_or_create keeps the former value of an expired key that it
          replaces, and cannot do so after the deletion: with --older-than, keys stay for a while after they have
          expired. Exits with 65 if a key cannot be read, and deletes the others.
        TEXT
        EXAMPLES = {
          'simpkv expire --dry-run' => 'The keys that would be deleted',
          'simpkv expire --older-than 30d' => 'Once a day, by a timer',
          'simpkv expire -g sessions' => 'A folder of the global keys'
        }.freeze

        # The number of keys that are read at once.
        BATCH = 64
        private_constant :BATCH

        def run(folder = nil)
          check_environment
          @store = backend.store(jobs: @jobs)
          @errors = {}
          @deleted = []
          paths = expired(folder)
          delete(paths) unless @dry || paths.empty?
          present(@dry ? paths : @deleted.sort)
          report(@errors)
        end

        private

        def define(parser)
          @age = 0
          parser.on('-n', '--dry-run', 'print the keys, and delete nothing') { @dry = true }
          parser.on('--older-than DURATION', 'only keys that expired so long ago, such as 30d') do |text|
            @age = converted_option('--older-than', :lifetime, text)
          end
          define_jobs(parser)
        end

        # @return [Array<String>] the paths of the keys to delete
        def expired(folder)
          paths = []
          Progress.of('reading') do |progress|
            about_folder(folder.to_s) do
              Walk.new(@store).each(chosen(folder), @errors) do |path, document|
                paths << path if expired?(path, document)
                progress.advance
              end
            end
          end
          paths.sort
        end

        # @return [Array<String>] the paths of the folders
        # @raise [Simpkv::Error] there is no such folder
        def chosen(folder)
          return roots if folder.nil?

          path = existing(folder)
          @store.list(path) { nil } unless Config.root?(path)
          [path]
        end

        def expired?(path, document)
          Versions.expired?(document) && Versions.expires(document) <= Versions.now - Versions::SKEW - @age
        rescue MalformedError => e
          @errors[path] = e.message
          false
        end

        def delete(paths)
          lock = Mutex.new
          Progress.of('deleting', paths.length) do |progress|
            Workers.share(paths.each_slice(BATCH), @jobs) do |batch|
              @store.get_many(batch).each do |path, document|
                deleted = delete_key(path, document)
                lock.synchronize { @deleted << path } if deleted
                progress.advance
              end
            end
          end
        rescue Simpkv::Error, SignalException
          warn "\nsimpkv: deleted #{Output.count(@deleted.length, 'key')}. Run the same command again to continue"
          raise
        end

        # @param document [String, Simpkv::Error] the result of reading the key
        # @return [Boolean] whether it was deleted
        def delete_key(path, document)
          noting_error(path) do
            next false if document.is_a?(NotFoundError)
            raise document if document.is_a?(Simpkv::Error)

            expired?(path, document) && @store.delete(path, expect: document)
          end
        end

        def present(paths)
          output.print(@dry ? 'expired' : 'deleted' => paths) { paths }
          return if output.data?

          warn "simpkv: #{Output.count(paths.length, 'key')} #{@dry ? 'to delete' : 'deleted'}"
        end
      end
    end
  end
end
