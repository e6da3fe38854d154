# frozen_string_literal: true

require 'simpkv/cli/write_command'

module Simpkv
  module Cli
    module Commands
      # Stores a value.
      class Put < WriteCommand
        SUMMARY = 'store a value'
        SUGGEST_FOR = { 'set' => 'put', 'store' => 'put' }.freeze
        ARGUMENTS = 'KEY [VALUE]'
        DESCRIPTION = <<~TEXT
          Stores a value: the argument, the content of a file, or standard input, byte for byte. The value is text
          unless an option says otherwise. Other users can see arguments in the list of processes, and the shell
          keeps them in its history: give passwords on standard input, with --chomp if they end with a newline. The
          new metadata replace the stored metadata, unless --keep-metadata is given.
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
            noting_environment(key) do |store|
              next store.put(path, document(value, nil)) unless @keep

              replace(store, path) { |stored| document(value, stored) }
            end
          end
          output.print('key' => key, 'written' => written) { written ? [] : ["'#{key}' is unchanged"] }
        end
      end
    end
  end
end
