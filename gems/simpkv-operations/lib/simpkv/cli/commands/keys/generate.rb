# frozen_string_literal: true

require 'simpkv/cli/encryption/encryption_keys_command'

module Simpkv
  module Cli
    module Commands
      module Keys
        # Adds a key to a file.
        class Generate < EncryptionKeysCommand
          SUMMARY = 'add a key to a file, or make a file with a key'
          ARGUMENTS = '[FILE]'
          DESCRIPTION = <<~TEXT
            Adds a random key of 256 bits at the end of a file of keys, and prints its name. Makes a missing file, which
            only its owner can read; its key encrypts at once. In an existing file, the new key only decrypts until
            'simpkv keys activate': each compiler must have the file with the new key before.

            #{FILE_OF}
          TEXT
          EXAMPLES = {
            'simpkv keys generate /etc/simpkv/keys.jwks' => 'A new file',
            'simpkv keys generate' => 'Another key, for the backend that functions use'
          }.freeze

          def run(file = nil)
            file = key_file(file)
            kid = file.generate
            active = file.kids.first == kid
            output.print('file' => file.path, 'kid' => kid, 'active' => active) { kid }
            return if active

            warn "simpkv: #{file.path}: '#{kid}' decrypts. To encrypt with it, give the file to each compiler, and " \
                 "then run 'simpkv keys activate #{kid}'"
          rescue Errno::ENOENT
            raise Failure.new("there is no folder '#{File.dirname(file.path)}'", Failure::CANNOT_CREATE), cause: nil
          end
        end
      end
    end
  end
end
