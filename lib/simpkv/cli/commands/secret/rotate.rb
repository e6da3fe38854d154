# frozen_string_literal: true

require 'simpkv/cli/secret_command'

module Simpkv
  module Cli
    module Commands
      module Secret
        # Replaces a secret.
        class Rotate < SecretCommand
          SUMMARY = 'replace a secret by another one of the same kind'
          ARGUMENTS = 'KEY'
          DESCRIPTION = <<~TEXT
            Makes another secret with the options with which simpkv::secret or simpkv secret has made this one, and
            stores it in its place. Its forms are made anew when somebody asks for them. The replaced secret stays as
            version -1 with --history, or with the option history of the backend (simpkv forget removes it). Prints no
            secret.
          TEXT
          EXAMPLES = {
            'simpkv secret rotate app1/db --history 1' => 'The former one stays until all nodes have run'
          }.freeze

          def run(key)
            path = existing(key)
            about(key) do
              reading
              backend.check_agreement([path])
              secrets(backend.store).rotate(path)
            end
            output.print('key' => key, 'rotated' => true) { ["'#{key}' has another secret"] }
          end

          private

          def define(parser)
            define_expiry(parser)
            define_history(parser)
          end
        end
      end
    end
  end
end
