# frozen_string_literal: true

require 'simpkv/cli/encryption/encryption_keys_command'

module Simpkv
  module Cli
    module Commands
      module Keys
        # Lists the keys of a file.
        class List < EncryptionKeysCommand
          SUMMARY = 'list the keys of a file'
          ARGUMENTS = '[FILE]'
          DESCRIPTION = <<~TEXT
            Lists the names of the keys of a file, and marks the one that encrypts. With --count, reads all documents of
            the backends of the configuration with this file, and counts those of each key.

            #{FILE_OF}
          TEXT
          EXAMPLES = { 'simpkv keys list --count' => 'Which keys are in use?' }.freeze

          # Names of `simpkv keys generate` begin with a date.
          DATE = /\A\d{4}-\d\d-\d\d(?=-)/.freeze
          private_constant :DATE

          def run(file = nil)
            file = key_file(file)
            counts, titles, unknown = EncryptionKeyUse.count(configuration, file) if @count
            keys = rows(file.kids, counts)
            output.print(keys) { lines(keys) }
            return unless @count

            warn "simpkv: no backend of the configuration uses #{file.path}" if titles.empty?
            unknown.each { |why| warn "simpkv: not counted: #{why}" }
            Failure::DATA if unknown.any?
          end

          private

          def define(parser)
            parser.on('--count', 'count the documents of each key') { @count = true }
          end

          def rows(kids, counts)
            # Keys that documents need and the file lacks.
            lost = counts ? counts.keys - kids : []
            (kids + lost).map do |kid|
              { 'kid' => kid, 'state' => state(kid, kids), 'created' => kid[DATE],
                **(counts ? { 'documents' => counts[kid] } : {}) }
            end
          end

          def state(kid, kids)
            return 'missing' unless kids.include?(kid)

            kid == kids.first ? 'encrypts' : 'decrypts'
          end

          def lines(keys)
            Output.table([keys.first.keys.map(&:upcase), *keys.map(&:values)])
          end
        end
      end
    end
  end
end
