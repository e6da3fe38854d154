# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/data_file'
require 'simpkv/cli/revision'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    # The base class of put and cas. Reads the value and its metadata from the command line.
    class WriteCommand < Command
      include Versioned

      private

      def define(parser)
        parser.on('-f', '--file FILE', 'the value is in a file; - is standard input') { |file| @file = file }
        parser.on('--binary', 'it is bytes: a Binary for manifests') { @kind = :binary }
        parser.on('--json', 'it is JSON') { @kind = :json }
        parser.on('--chomp', 'leave out one newline at its end') { @chomp = true }
        parser.on('--sensitive', 'it is a secret: a Sensitive for manifests') { @sensitive = true }
        parser.on('-m', '--metadata JSON', 'a Hash to store with it') { |json| @metadata = json }
        parser.on('--keep-metadata', 'keep the metadata that are stored') { @keep = true }
        define_expiry(parser)
        define_history(parser)
      end

      # @param value [String, nil] the argument
      # @return [Object] the new value
      # @raise [Failure]
      def wanted(value)
        raise Failure.new('--metadata and --keep-metadata exclude each other', Failure::USAGE) if @metadata && @keep
        if value.nil? == @file.nil?
          raise Failure.new('either VALUE or --file FILE is needed (- reads standard input)', Failure::USAGE)
        end

        from = @file || (value if value == DataFile::STREAM)
        converted(from ? DataFile.bytes(from) : value.b, 'the value')
      end

      def converted(bytes, what)
        bytes = bytes.b.sub(/\r?\n\z/, '') if @chomp
        return bytes if @kind == :binary
        return Value.from_json(bytes, what) if @kind == :json

        Value.utf8(bytes) || raise(Failure.new("#{what} is not UTF-8 text: store it with --binary", Failure::DATA))
      end

      # @param value [Object]
      # @param stored [String, nil] the stored document
      # @return [String] the new document
      def document(value, stored)
        return Revision.new(stored).with(value, sensitive: @sensitive) if @keep && stored
        return Codec.encode(value, metadata) unless @sensitive

        Value.sensitive(value, metadata)
      end

      def metadata
        given = @metadata ? Value.parse(@metadata, '--metadata') : {}
        return given if given.is_a?(Hash)

        raise Failure.new("--metadata is not a Hash, as in '{\"owner\": \"dba\"}'", Failure::USAGE)
      end

      # Reads a key and replaces its document if no other client has written since. Begins again otherwise.
      #
      # @yieldparam stored [String, nil] the stored document; nil for none
      # @yieldreturn [String, nil] the new document; nil to keep the stored one
      # @return [Boolean, nil] whether it was written; nil if the stored one stays
      # @raise [ConflictError] other writers were faster each time
      def replace(store, path)
        CompareAndSwap.repeat('others keep changing it: nothing was stored') do
          stored = stored(store, path)
          document = yield(stored)
          next if document.nil?

          CompareAndSwap.attempt do
            store.put(path, document, condition: stored ? :expect : :absent, expect: stored)
          end
        end
      end

      def stored(store, path)
        store.get(path, latest: true)
      rescue NotFoundError
        nil
      end
    end
  end
end
