# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    module Commands
      # Prints the value of a key.
      class Get < Command
        include Versioned

        SECTION = :keys
        SUMMARY = 'print the value of a key'
        SUGGEST_FOR = { 'cat' => 'get', 'show' => 'get' }.freeze
        ARGUMENTS = 'KEY'
        DESCRIPTION = <<~TEXT
          Prints the value of a key: text and bytes as they are, other values as JSON. Adds a newline on a terminal
          only. Prints a Sensitive in plain text. With -o json or yaml, prints the value and its metadata, bytes in
          base64, whether the value is or holds a Sensitive, and the times at which it was stored and expires, if the
          document has them. Exits with 66 if the key does not exist, has expired, or has no such version.
        TEXT
        EXAMPLES = {
          'simpkv get app1/db_password' => 'A value',
          'simpkv get -g host1/keytab > krb5.keytab' => 'Bytes, into a file',
          'simpkv get app1/db_password -o json' => 'With its metadata',
          'simpkv get app1/db_password --version -1' => 'The value before the current one (simpkv log)',
          'simpkv get app1/db_password --expired' => 'The value, even if it has expired'
        }.freeze

        def run(key)
          stored = about(key) { reading.get(existing(key)) }
          document = about(key) { chosen(stored) }
          return write(about(key) { RichData.read(document) }[:value]) unless output.data?

          output.print(about(key) { Value.presentable(document) }.merge(times(stored)))
        end

        private

        def define(parser)
          @version = 0
          parser.on('--version N', 'an earlier value: -1 is the one before the current one') do |text|
            @version = converted_option('--version', -100..0, text)
          end
          parser.on('--expired', 'also a value that has expired') { @expired = true }
        end

        # @return [String] the document of the chosen version
        # @raise [NotFoundError] it has expired, or there is no such version
        def chosen(stored)
          check_expiry(stored, '--expired prints it') unless @expired
          @version.zero? ? stored : version(stored, @version)
        end

        # @return [Hash{String => String}] those that the document has
        def times(stored)
          Versions.log(stored).find { |version| version['version'] == @version }.slice('stored_at', 'expires').compact
        end

        def write(value)
          text = value.is_a?(String) ? value : UnsafeCharacters.escaped_in_json(Native.generate(value))
          $stdout.binmode
          $stdout.write(text)
          $stdout.puts if $stdout.tty?
        end
      end
    end
  end
end
