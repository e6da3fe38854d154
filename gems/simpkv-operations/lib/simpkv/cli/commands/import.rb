# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/export_file'
require 'simpkv/cli/transfer/transfer_command'

module Simpkv
  module Cli
    module Commands
      # Stores the keys of an export.
      class Import < TransferCommand
        SECTION = :moving
        SUMMARY = 'store the keys of an export'
        ARGUMENTS = '[FILE]'
        DESCRIPTION = <<~TEXT
          Stores the keys of an export in the backend: all keys, the keys of one environment with -e, or the global
          keys with -g. Without FILE, or with -, reads standard input into a temporary file first. If the export is
          truncated or was changed, stores nothing. An encrypted backend encrypts the documents.

          With --raw, stores the documents of an export that was made with --raw as they are. The export must come
          from a backend with the same type and id. The command checks encrypted documents as simpkv export --raw
          does, with the same exit codes.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv -b directory import site.jsonl --dry-run' => 'A dry run',
          'gpg -d dev.gpg | simpkv import -e dev' => 'An environment, from standard input',
          'simpkv import --rollback simpkv-import-20261122T060000Z.journal' => 'Undo it'
        }.freeze

        def run(file = DataFile::STREAM)
          backend.raw if @raw
          return roll_back(backend) if @rollback

          with_file(file) { |stream| transfer(ExportFile.new(stream, DataFile.title(file), backend), backend) }
        end

        private

        def define(parser)
          super
          parser.on('--raw', 'the export has documents as they were stored') { @raw = true }
        end

        def with_copy(stream)
          require 'tempfile'
          Tempfile.create('simpkv') do |copy|
            File.unlink(copy.path)
            IO.copy_stream(stream, copy)
            copy.flush
            yield copy
          end
        end

        def with_file(file, &block)
          return with_copy(DataFile.standard_input, &block) if file == DataFile::STREAM

          # A pipe cannot be read twice.
          File.open(file, 'rb') { |stream| stream.stat.file? ? yield(stream) : with_copy(stream, &block) }
        rescue Errno::ENOENT
          raise Failure.new("#{file}: there is no such file", Failure::NO_INPUT)
        rescue Errno::EISDIR
          raise Failure.new("#{file}: this is a folder, not a file", Failure::NO_INPUT)
        end
      end
    end
  end
end
