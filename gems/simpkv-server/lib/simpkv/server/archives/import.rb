# frozen_string_literal: true

require 'simpkv/server/archives/export'
require 'simpkv/server/archives/stored_node'
require 'simpkv/server/archives/unpacked'
require 'simpkv/server/body_json'

module Simpkv
  module Server
    module Archives
      # Reads the commands of an archive, one at a time. It passes over what the service does not store: the inputs of
      # catalogs, and expirations.
      class Import
        # The name of a file, whichever folder the archive begins with. PuppetDB documents another name for the metadata
        # than it writes.
        NAME = %r{\A(?:[^/]+/)?(?:(?<metadata>(?:export-)?metadata\.json)|(?<folder>\w+)/[^/]+)\z}.freeze
        # A command that does nothing if the estate has what it came with.
        Command = Struct.new(:command, :payload, :query) do
          # @return [String]
          def certname
            command.certname
          end

          # @param estate [Estate]
          # @return [void]
          # @raise [Error, ConfigError]
          def save(estate)
            node = StoredNode.new(estate, certname) if query
            command.save(estate) unless node&.public_send(query, payload)
          end
        end
        # By the folder of a command, what says whether the estate has it. That of reports knows by itself.
        STORED = { 'facts' => :facts?, 'catalogs' => :catalog? }.freeze
        private_constant :NAME, :Command, :STORED

        # @param limit [Integer] bytes of a file in the archive
        def initialize(limit)
          @limit = limit
        end

        # @param file [File] a tar.gz
        # @yieldparam command [Command]
        # @return [Hash{String => Integer}] the number of commands, by their folders; and of files that were passed over
        #   as `ignored`
        # @raise [Problem] it is no archive, or has something else than the service takes; names the file in it
        def read(file, &block)
          counts = { **COMMANDS.transform_values { 0 }, 'ignored' => 0 }
          versions = nil
          each_file(file) do |entry, name|
            next versions = versions(json(entry)) if name[:metadata]

            demand(versions)
            counts[take(entry, name[:folder], versions, &block)] += 1
          end
          demand(versions)
          counts
        end

        private

        def each_file(file)
          Unpacked.new(file, @limit).each do |entry|
            name = NAME.match(entry.full_name) if entry.file?
            yield entry, name if name
          end
        end

        def demand(versions)
          return if versions

          raise Problem.new(400, "archive: its first file must be #{FOLDER}/#{METADATA}, with the versions of commands")
        end

        # @return [Hash]
        def versions(metadata)
          versions = metadata['command_versions'] if metadata.is_a?(Hash)
          versions.is_a?(Hash) ? versions : demand(nil)
        end

        # @return [String] the member of the counts
        def take(entry, folder, versions)
          name, type = COMMANDS[folder]
          return 'ignored' unless name

          unless versions[name] == type::VERSION
            raise Problem.new(400, "command_versions: this service takes '#{name}' in version #{type::VERSION}")
          end

          payload = Commands::Payload.new(json(entry))
          yield Command.new(type.new(payload), payload, STORED[folder])
          folder
        rescue Problem => e
          raise Problem.new(e.status, "#{entry.full_name}: #{e.message}"), cause: nil
        end

        def json(entry)
          if entry.header.size > @limit
            raise Problem.new(413, "a command has at most #{@limit} bytes: 'command_bytes' of 'server'")
          end

          BodyJson.parse(entry.read.to_s)
        end
      end
    end
  end
end
