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
            stores it in its place. Options of the command take precedence, such as another --length or --issuer. Its
            forms are made anew when somebody asks for them. It expires after the same time as the former one, and the
            key keeps as many earlier values. The former one stays as version -1 with --history, or with the option
            history of the backend (simpkv forget removes it). Prints no secret.
          TEXT
          EXAMPLES = {
            'simpkv secret rotate app1/db --history 1' => 'The former one stays until all nodes have run',
            'simpkv secret rotate web1/tls --issuer ca/new' => 'A certificate of another CA'
          }.freeze

          def run(key)
            options = Secrets::Request.new(@wanted).making
            changing(key) { |secrets, path| secrets.rotate(path, options) }
            output.print('key' => key, 'rotated' => true) { ["'#{key}' has another secret"] }
          end

          private

          def define(parser)
            define_making(parser)
            define_expiry(parser)
            define_history(parser)
          end
        end
      end
    end
  end
end
