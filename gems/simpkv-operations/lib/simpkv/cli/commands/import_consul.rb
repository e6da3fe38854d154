# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/import_command'

module Simpkv
  module Cli
    module Commands
      # Stores the keys of an export of Consul.
      class ImportConsul < ImportCommand
        SECTION = :moving
        SUMMARY = 'store the keys of Consul, from JSON'
        ARGUMENTS = '[FILE]'
        INTO = '/'
        NOTHING = 'there is no key to import'
        DESCRIPTION = <<~TEXT
          Stores the keys of the output of consul kv export, under the same names. Without FILE, or with -, reads
          standard input. A value is text, or a Binary if it is not UTF-8; with --sensitive, each is a Sensitive. Flags
          other than 0 become the member flags of the metadata. Leaves out folders, whose names end with a slash. If a
          key cannot be stored, names it, and stores nothing.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'consul kv export app1/ | simpkv import-consul --dry-run' => 'A dry run',
          'simpkv import-consul consul.json --below config --sensitive' => 'What is below config, as Sensitive'
        }.freeze

        # They have 64 bits.
        FLAGS_MAX = (1 << 64) - 1
        private_constant :FLAGS_MAX

        def run(file = DataFile::STREAM)
          return roll_back(backend) if @rollback

          title = DataFile.title(file)
          store(title) { |keys| entries(file, title).each { |entry| take(keys, entry) } }
        end

        private

        def define(parser)
          parser.on('--sensitive', 'each value is a secret: a Sensitive for manifests') { @sensitive = true }
          define_below(parser)
          super
        end

        # @return [Array<Hash>]
        def entries(file, title)
          entries = DataFile.read(file)
          return entries if entries.is_a?(Array) && entries.all? { |entry| entry?(entry) }

          raise Failure.new("#{title} is no output of consul kv export, which is a list of objects with 'key'",
                            Failure::DATA)
        end

        def entry?(entry)
          entry.is_a?(Hash) && entry['key'].is_a?(String)
        end

        def take(keys, entry)
          origin = entry['key']
          name = name_of(origin)
          return if name.nil? || name.empty?
          return tell_skipped(origin, 'it is a folder') if origin.end_with?('/')

          value = value(entry['value'])
          return keys.problem(origin, "its 'value' is not base64") if value.nil?

          metadata = flags(entry['flags'])
          return keys.problem(origin, "its 'flags' are no whole number") if metadata.nil?

          keys.add(name, origin) { @sensitive ? RichData.sensitive(value, metadata) : Codec.encode(value, metadata) }
        end

        # @return [String, nil] text or bytes; nil if it is not base64
        def value(text)
          bytes = text.nil? ? '' : text.unpack1('m0')
          Value.utf8(bytes) || bytes.b
        rescue ArgumentError, NoMethodError
          nil
        end

        # @return [Hash, nil] the metadata; nil if the flags are wrong
        def flags(number)
          return {} if [nil, 0].include?(number)

          { 'flags' => number } if number.is_a?(Integer) && number.between?(0, FLAGS_MAX)
        end
      end
    end
  end
end
