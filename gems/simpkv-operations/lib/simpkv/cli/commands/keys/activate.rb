# frozen_string_literal: true

require 'simpkv/cli/encryption/encryption_keys_command'

module Simpkv
  module Cli
    module Commands
      module Keys
        # Has a key encrypt.
        class Activate < EncryptionKeysCommand
          SUMMARY = 'encrypt with another key of a file'
          ARGUMENTS = 'KID [FILE]'
          DESCRIPTION = <<~TEXT
            Moves a key to the beginning of a file of keys: it encrypts from now on. Each compiler must have the file
            with this key before, because one without it cannot read the new documents. 'simpkv rekey' encrypts the
            others again.

            #{FILE_OF}
          TEXT
          EXAMPLES = { 'simpkv keys activate 2026-11-23-3f9a' => 'Encrypt with this key from now on' }.freeze

          def run(kid, file = nil)
            file = key_file(file)
            changed = file.activate(kid)
            output.print('file' => file.path, 'kid' => kid, 'changed' => changed) { [] }
          end
        end
      end
    end
  end
end
