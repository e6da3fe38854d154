# frozen_string_literal: true

require 'simpkv/cli/export_file'
require 'simpkv/cli/transferring'

module Simpkv
  module Cli
    module Commands
      # Stores what was exported.
      class Import < Transferring
        SUMMARY = 'store what was exported'
        ARGUMENTS = '[FILE]'
        DESCRIPTION = <<~TEXT
          Stores the keys of an export in the backend: all of them, or with -e or -g those of an environment, or the
          global ones. Without FILE, or for -, standard input is read into a temporary file first. Nothing is stored of
          an export that was cut or changed.

          #{MANNER}
        TEXT
        EXAMPLES = {
          'simpkv -b directory import site.jsonl --dry-run' => 'What would happen',
          'gpg -d dev.gpg | simpkv import -e dev' => 'An environment, from standard input',
          'simpkv import --rollback simpkv-import-20261122T060000Z.journal' => 'Back'
        }.freeze

        def run(file = '-')
          return roll_back(backend) if @rollback

          with_file(file) { |stream| transfer(ExportFile.new(stream, file == '-' ? 'standard input' : file), backend) }
        end

        private

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
          return with_copy($stdin, &block) if file == '-'

          # A pipe cannot be read twice.
          File.open(file, 'rb') { |stream| stream.stat.file? ? yield(stream) : with_copy(stream, &block) }
        rescue Errno::ENOENT
          raise Failure.new("#{file}: there is no such file", Failure::NO_INPUT)
        end
      end
    end
  end
end
