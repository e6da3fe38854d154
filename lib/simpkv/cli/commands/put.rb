# frozen_string_literal: true

require 'simpkv/cli/storing'

module Simpkv
  module Cli
    module Commands
      # Stores a value.
      class Put < Storing
        SUMMARY = 'store a value'
        SUGGEST_FOR = { 'set' => 'put', 'store' => 'put' }.freeze
        ARGUMENTS = 'KEY [VALUE]'
        DESCRIPTION = <<~TEXT
          Stores a value: the argument, or what is in a file or comes from standard input, to the byte. It is text, unless
          an option says otherwise. An argument can be seen in the list of processes, and stays in the shell's history:
          passwords are better read from standard input, with --chomp if a newline follows them. The metadata that were
          stored with the key are replaced, unless --keep-metadata is there.
        TEXT
        EXAMPLES = {
          "simpkv put app1/owner 'the DBAs'" => 'Text',
          'simpkv put app1/db_password --chomp - < password.txt' => 'From a file, without the newline at its end',
          'simpkv put host1/keytab --binary --file krb5.keytab' => 'Bytes of a file',
          "simpkv put app1/ports --json '[80, 443]' --metadata '{\"owner\": \"dba\"}'" => 'JSON, and metadata',
          "simpkv put app1/ports --json '[443]' --keep-metadata" => 'Another value with the same metadata'
        }.freeze

        def run(key, value = nil)
          check_key(key)
          value = wanted(value)
          path = backend.path(key)
          written = about(key) do
            noting_environment(key) { |store| @keep ? keep(store, path, value) : store.put(path, document(value, nil)) }
          end
          output.print('key' => key, 'written' => written) { written ? [] : ["'#{key}' is unchanged"] }
        end

        private

        def keep(store, path, value)
          replace(store, path) { |stored| document(value, stored) }
        end
      end
    end
  end
end
