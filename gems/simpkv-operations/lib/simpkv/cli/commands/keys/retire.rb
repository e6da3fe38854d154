# frozen_string_literal: true

require 'simpkv/cli/encryption/encryption_keys_command'

module Simpkv
  module Cli
    module Commands
      module Keys
        # Removes a key from a file.
        class Retire < EncryptionKeysCommand
          SUMMARY = 'remove a key that no document needs from a file'
          ARGUMENTS = 'KID [FILE]'
          DESCRIPTION = <<~TEXT
            Removes a key from a file of keys. Nobody can read the documents of the key after that, also those of
            backups, unless the key is kept elsewhere. Therefore reads all documents of the backends of the
            configuration with this file first, and refuses to remove a key that one of them needs, and the key that
            encrypts. Run 'simpkv rekey' before.

            #{FILE_OF}
          TEXT
          EXAMPLES = { 'simpkv keys retire 2025-11-23-77c1' => 'Remove an old key after simpkv rekey' }.freeze

          def run(kid, file = nil)
            file = key_file(file)
            file.check(kid)
            refuse_active(file, kid)
            refuse_needed(file, kid) unless @force
            file.retire(kid)
            output.print('file' => file.path, 'kid' => kid) { [] }
          end

          private

          def define(parser)
            parser.on('--force', 'remove it even if documents need it, or might') { @force = true }
          end

          def refuse_active(file, kid)
            return unless file.kids.first == kid

            raise Failure.new("'#{kid}' encrypts: make another key do that ('simpkv keys generate' and 'simpkv keys " \
                              "activate'), run 'simpkv rekey', and retire it then", Failure::USAGE)
          end

          def refuse_needed(file, kid)
            counts, titles, unknown = EncryptionKeyUse.count(configuration, file)
            refuse(kid, "no backend of the configuration uses #{file.path}") if titles.empty? && unknown.empty?
            refuse(kid, unknown.first) if unknown.any?
            refuse(kid, "#{titles.join(', ')} has no encrypted documents, and may be the wrong place") if counts.empty?
            return if counts[kid].zero?

            raise Failure.new("#{Output.count(counts[kid], 'document')} of #{titles.join(', ')} could not be read " \
                              "without the key '#{kid}': run 'simpkv rekey' for each backend first", Failure::DATA)
          end

          def refuse(kid, why)
            raise Failure.new("no one knows whether documents need the key '#{kid}': #{why}. --force removes it " \
                              'nevertheless', Failure::CONFIG)
          end
        end
      end
    end
  end
end
