# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/transfer/import_command'
require 'simpkv/cli/transfer/vault_export'

module Simpkv
  module Cli
    module Commands
      # Stores the secrets of an export of Vault.
      class ImportVault < ImportCommand
        SECTION = :moving
        SUMMARY = 'store the secrets of Vault, from JSON'
        ARGUMENTS = '[FILE]'
        INTO = '/'
        NOTHING = 'there is no secret to import'
        DESCRIPTION = <<~TEXT
          Stores the secrets of a KV engine of Vault or OpenBao, from JSON or YAML: the output of one vault kv get
          -format=json, whose path --at names; an object with such outputs, or with the fields, by path; or objects
          nested by folder, as of medusa export and vkv export --show-values. Without FILE, or with -, reads standard
          input.

          The secret app1/db becomes the key app1/db, a Sensitive with a Hash of its fields. With --fields, each field
          is a key: app1/db/password. Custom metadata become the metadata of the key, with the version and its time as
          the member vault. Earlier versions are not in these outputs. Leaves out secrets whose version is deleted or
          destroyed, and names them. If a secret cannot be stored, names it, and stores nothing.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv import-vault secrets.json --below secret --dry-run' => 'A dry run, without the name of the engine',
          'vault kv get -format=json secret/app1/db | simpkv import-vault --at app1/db' => 'One secret',
          'medusa export secret --format json | simpkv import-vault --into app --fields' =>
            'A key for each field, in the folder app'
        }.freeze

        # What vkv and others print in place of a value.
        MASK = /\A\*{3,}\z/.freeze
        private_constant :MASK

        def run(file = DataFile::STREAM)
          return roll_back(backend) if @rollback

          title = DataFile.title(file)
          store(title) do |keys|
            export = VaultExport.new(members(file, title), @at)
            check_path(export)
            export.each { |secret| take(keys, secret) }
          end
        end

        private

        def define(parser)
          parser.on('--at PATH', 'the path of the only secret') { |path| @at = path }
          parser.on('--fields', 'a key for each field of a secret') { @fields = true }
          define_below(parser)
          super
        end

        def members(file, title)
          data = DataFile.read(file)
          data.is_a?(Hash) ? data : raise(Failure.new("#{title} has no object of secrets", Failure::DATA))
        end

        def check_path(export)
          return if export.single? == !@at.nil?

          why = @at ? '--at is for the output of one vault kv get' : 'the output of one vault kv get needs --at PATH'
          raise Failure.new("#{why}: others have the path of each secret", Failure::USAGE)
        end

        def take(keys, secret)
          name = name_of(secret.path)
          return if name.nil?
          return tell_skipped(secret.path, secret.missing) if secret.missing
          return keys.problem(secret.path, secret.problem) if secret.problem

          parts(name, secret).each { |key, origin, value| add(keys, key, origin, [value, secret.metadata]) }
        end

        # @return [Array<Array(String, String, Object)>] name, origin and value of each key
        def parts(name, secret)
          return [[name, secret.path, secret.fields]] unless @fields

          secret.fields.map { |field, value| ["#{name}/#{field}", "#{secret.path}: #{field}", value] }
        end

        def masked?(value)
          values = value.is_a?(Hash) ? value.values : [value]
          values.grep(String).grep(MASK).any?
        end

        def add(keys, key, origin, (value, metadata))
          return tell_skipped(origin, 'it is null') if value.nil?

          return keys.problem(origin, 'its value is masked: export the values (vkv: --show-values)') if masked?(value)

          keys.add(key, origin) { RichData.sensitive(value, metadata) }
        end
      end
    end
  end
end
