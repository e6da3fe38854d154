# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    module Commands
      # Prints the value of a key.
      class Get < Command
        SUMMARY = 'print the value of a key'
        SUGGEST_FOR = { 'cat' => 'get', 'show' => 'get' }.freeze
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints the value of a key: text and bytes as they are, other values as JSON. Adds a newline on a terminal
          only. Prints a Sensitive in plain text. With -o json or yaml, prints the value and its metadata, and bytes
          in base64. Exits with 66 if the key does not exist.
        TEXT
        EXAMPLES = {
          'simpkv get app1/db_password' => 'A value',
          'simpkv get -g host1/keytab > krb5.keytab' => 'Bytes, into a file',
          'simpkv get app1/db_password -o json' => 'With its metadata'
        }.freeze

        def run(key)
          document = about(key) { reading.get(existing(key)) }
          decoded = about(key) { Value.read(document) }
          return output.print(Value.presentable(decoded)) if output.data?

          write(decoded[:value])
        end

        private

        def write(value)
          text = value.is_a?(String) ? value : Output.escaped(Native.generate(value))
          $stdout.binmode
          $stdout.write(text)
          $stdout.puts if $stdout.tty?
        end
      end
    end
  end
end
