# frozen_string_literal: true

require 'shellwords'
require 'simpkv/cli/command'
require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/endpoint'
require 'simpkv/cli/transfer/export_file'
require 'simpkv/cli/transfer/plain_export'
require 'simpkv/cli/transfer/read_check'
require 'simpkv/cli/progress'

module Simpkv
  module Cli
    module Commands
      # Writes keys into a file, or to standard output.
      class Export < Command
        SECTION = :moving
        SUMMARY = 'write keys into a file, or to standard output'
        ARGUMENTS = '[FILE]'
        DESCRIPTION = <<~TEXT
          Writes keys and their documents to FILE: all keys of the backend, the keys of one environment with -e, or
          the global keys with -g. Without FILE, or with -, writes to standard output. The export has one line of JSON
          for each key, and a last line with a checksum. Only the owner can read FILE, which appears when it is
          complete. If there are no keys, the command exits with 66, unless --allow-empty is given.

          An export has the keys of one backend. If neither a backend nor a part of it is named, the command names the
          other backends on standard error.

          The export contains all values in plain text, even those of an encrypted backend. With --raw, it contains
          the documents as they are stored. An encrypted one can then be imported only under the same key of a backend
          with the same type and id, and needs its encryption key.

          If functions cannot read a key, the command lists it and exits with 65. It exports the document as it is,
          but without --raw, it leaves out encrypted documents that cannot be decrypted. With --raw, encrypted
          documents are not checked if the backend has no encryption_keys, or names a file of keys that cannot be
          used; the command says so. In the second case, the exit code is 78 if there are encrypted documents, even if
          others are damaged. In both cases, the export has all keys that are there. Whether an encrypted estate lacks
          documents is not known without its keys: the command says so, and exits with 65 or 78.

          With --folder, writes only the keys of a folder, with names relative to it. With --format, writes the values
          of one environment, or of the global keys, for other programs: hiera is a data file of Hiera, in which
          app1/url is called app1::url; json is an object; env has lines APP1_URL='...' for a shell, with names that
          begin with --prefix. simpkv import cannot read these formats, which have no metadata. The command leaves out
          and lists Sensitive values (unless --show-secrets is given), bytes, names that become equal, and variables
          that change what a shell or another program does, such as PATH and GIT_SSH_COMMAND. It then exits with 65.
        TEXT
        EXAMPLES = {
          'simpkv export site.jsonl' => 'All keys of the backend that functions use',
          'simpkv export -b secrets secrets.jsonl' => 'All keys of another backend',
          'simpkv export -e dev | gpg -e -r ops > dev.gpg' => 'An environment, encrypted',
          'simpkv export --format hiera --folder hiera/common --show-secrets common.yaml' =>
            'The keys that simpkv::lookup_key finds in a folder, as a file of Hiera',
          'simpkv export --format env --folder app1 --prefix APP1_ app1.env' => 'Variables for a shell: . ./app1.env',
          'simpkv export --raw backup.jsonl' => 'All keys, with encrypted documents as they are stored'
        }.freeze

        def run(file = nil)
          check_format
          backend.raw if @raw
          check_environment unless @allow_empty
          errors = {}
          stream = [nil, DataFile::STREAM].include?(file)
          keys = stream ? write($stdout, errors) : into(file, errors)
          warn "simpkv: #{Output.count(keys, 'key')} exported"
          name_other_backends
          output.print('file' => file, 'keys' => keys) { [] } unless stream
          code = report(errors)
          @check&.exit_code || code
        end

        private

        def define(parser)
          parser.on('--raw', 'leave documents encrypted') { @raw = true }
          parser.on('--force', 'replace FILE') { @force = true }
          parser.on('--format FORMAT', ['simpkv', *PlainExport::FORMATS], 'simpkv, hiera, json or env') do |format|
            @format = format unless format == 'simpkv'
          end
          parser.on('--folder FOLDER', 'only the keys of a folder') { |folder| @folder = folder }
          parser.on('--show-secrets', 'with hiera, json and env: write Sensitive values too') { @reveal = true }
          parser.on('--prefix TEXT', "with env: the beginning of the names; '' for none") { |text| @prefix = text }
          parser.on('--allow-empty', 'write an export without keys') { @allow_empty = true }
        end

        # For a backup, which has to have them all.
        def name_other_backends
          return if @format || @folder || %i[backend environment global].any? { |flag| @flags.key?(flag) }

          others = configuration.usable_backends - [backend.name]
          return if others.empty?

          warn "simpkv: this export has only the keys of the backend '#{backend.name}'. To export the others: " +
               others.map { |name| "simpkv export --backend #{Output.text(Shellwords.escape(name))}" }.join(', ')
        end

        def check_format
          raise Failure.new('--raw is for the format simpkv', Failure::USAGE) if @raw && @format
          return if @prefix.nil? == (@format != 'env')
          raise Failure.new('--prefix is for the format env', Failure::USAGE) if @prefix

          raise Failure.new('--format env needs --prefix TEXT, such as APP1_, with which each name begins: a key ' \
                            "could set a variable that a program obeys. With --prefix '', only known ones are left out",
                            Failure::USAGE)
        end

        # The formats of other programs have the keys of one environment.
        def roots
          @folder || @format ? [backend.path(@folder || '/')] : super
        rescue InvalidError, TooLargeError => e
          raise Failure.new(e.message, Failure::USAGE)
        end

        # @return [Integer] the number of keys
        def write(stream, errors)
          return write_plain(stream, errors) if @format

          @check = ReadCheck.new(backend)
          faults = {}
          keys = ExportFile.write(stream, backend) do |add|
            each(errors) do |path, document|
              add.call(path, document)
              why = @check.fault(path, document)
              faults[path] = "#{why}: it was exported as it is" if why
            end
          end
          @check.warn_if_incomplete
          errors.merge!(faults)
          keys
        end

        def write_plain(stream, errors)
          export = PlainExport.new(@format, roots.first, @reveal, @prefix.to_s)
          each(errors) do |path, document|
            export.add(path, document)
          rescue UnencodableError, MalformedError => e
            errors[path] = e.message
          end
          stream.write(export.text { |path, why| errors[path] = why })
          export.length
        end

        def each(errors)
          count = 0
          Progress.of('exporting') do |progress|
            endpoint.each(roots, errors) do |path, document|
              yield path, document
              count += 1
              progress.advance
            end
          end
          refuse_empty(errors) if count.zero?
        end

        def endpoint
          Endpoint.new(backend, 1, :source, configuration)
        end

        def refuse_empty(errors)
          return if @allow_empty || errors.any?

          raise Failure.new("#{backend.title}: there are no keys to export in #{roots.join(' and ')}: is this the " \
                            'right backend? --allow-empty writes an export that holds none', Failure::NO_INPUT)
        end

        # Writes directly into a device or a pipe.
        def into(file, errors)
          there = File.exist?(file)
          return File.open(file, File::WRONLY) { |stream| write(stream, errors) } if there && !File.file?(file)
          raise Failure.new("#{file} already exists (--force replaces it)", Failure::CANNOT_CREATE) if there && !@force

          into_file(file, "#{file}.#{Process.pid}.part", errors)
        rescue SystemCallError => e
          raise Failure.new("#{file}: the export cannot be written: #{e.class.new.message}", Failure::CANNOT_CREATE)
        end

        def into_file(file, part, errors)
          made = false
          keys = File.open(part, File::WRONLY | File::CREAT | File::EXCL, 0o600) do |stream|
            made = true
            write(stream, errors).tap { stream.fsync }
          end
          File.rename(part, file)
          made = false
          keys
        ensure
          File.unlink(part) if made
        end
      end
    end
  end
end
