# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/import_command'
require 'simpkv/cli/transfer/trocla_entries'

module Simpkv
  module Cli
    module Commands
      # Stores the secrets of trocla.
      class ImportTrocla < ImportCommand
        SECTION = :moving
        SUMMARY = 'store the secrets of trocla, with their formats'
        ARGUMENTS = '[FILE]'
        INTO = '/'
        NOTHING = 'there is no secret to import'
        DESCRIPTION = <<~TEXT
          Stores the secrets of a store of trocla, under the same names, as simpkv::secret reads them. FILE is the file
          of the adapter YAML, or with --sql the rows of the table of the adapter Sequel: the key, a tab, and the value
          in hexadecimal digits. Without FILE, or with -, reads standard input. Each format keeps its bytes, under the
          name that simpkv::secret has for it: sha512crypt becomes sha512-crypt. Others keep their names, so that
          simpkv::secret returns them with the option format. A secret without the format plain is left out. If a key
          cannot be stored, names it, and stores nothing.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv import-trocla /var/lib/trocla/trocla_data.yaml --dry-run' => 'A dry run',
          "mysql -N -B -e 'SELECT k, hex(v) FROM trocla' trocla | simpkv import-trocla --sql" => 'A table'
        }.freeze

        # Formats of simpkv::secret, by the names of trocla.
        FORMATS = { 'bcrypt' => 'bcrypt', 'mysql' => 'mysql_native_password', 'sha256crypt' => 'sha256-crypt',
                    'sha512crypt' => 'sha512-crypt', 'ssha' => 'ssha' }.freeze
        PLAIN = 'plain'
        SCRAM = 'SCRAM-SHA-256$'
        private_constant :FORMATS, :PLAIN, :SCRAM

        def run(file = DataFile::STREAM)
          return roll_back(backend) if @rollback

          store(DataFile.title(file)) { |keys| each_entry(file) { |key, entry| take(keys, key, entry) } }
        end

        private

        def define(parser)
          parser.on('--sql', 'FILE has the rows of a table') { @sql = true }
          define_below(parser)
          super
        end

        def each_entry(file, &block)
          return TroclaEntries.of_rows(DataFile.bytes(file), &block) if @sql

          entries = DataFile.read(file)
          return entries.each(&block) if entries.is_a?(Hash)

          raise Failure.new("#{DataFile.title(file)} is no file of trocla: it has no Hash of keys", Failure::DATA)
        rescue MalformedError => e
          raise Failure.new("#{DataFile.title(file)}: #{e.message}", Failure::DATA)
        end

        def take(keys, key, entry)
          return keys.problem(key, 'its name is no text: write it in quotes') unless key.is_a?(String)

          name = name_of(key)
          return if name.nil? || name.empty?
          raise entry if entry.is_a?(MalformedError)

          formats, expires = TroclaEntries.formats(entry)
          return tell_skipped(key, "it has no format 'plain'") unless formats.key?(PLAIN)

          keys.add(name, key) { document(formats, expires) }
        rescue MalformedError => e
          keys.problem(key, e.message)
        end

        def document(formats, expires)
          others = formats.reject { |format, _| format == PLAIN }
          forms = others.to_h { |format, text| [name_of_format(format, text), text] }
          document = Secrets::Entry.document(formats[PLAIN], { 'kind' => 'password', 'forms' => forms })
          expires ? Versions.successor(document, nil, expires: expires) : document
        end

        def name_of_format(format, text)
          return 'scram-sha-256' if format == 'pgsql' && text.start_with?(SCRAM)

          FORMATS.fetch(format, format)
        end
      end
    end
  end
end
