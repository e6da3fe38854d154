# frozen_string_literal: true

require 'simpkv/cli/secret_command'

module Simpkv
  module Cli
    module Commands
      module Secret
        # Prints a secret, and makes it if it is missing.
        class Get < SecretCommand
          SUMMARY = 'print a secret, which is made at the first call'
          ARGUMENTS = 'KEY'
          DESCRIPTION = <<~TEXT
            Prints a secret, or with --format the form of it that a program wants, as the function simpkv::secret
            returns it. Makes what is missing, and stores it: the secret, or the form. Adds a newline on a terminal only.
            The options of a kind have an effect when the secret is made (docs/secrets.md).
          TEXT
          EXAMPLES = {
            'simpkv secret app1/db' => 'A password',
            'simpkv secret app1/db --format yescrypt' => 'The same password, for /etc/shadow',
            'simpkv secret app1/admin --words 8' => 'A passphrase',
            'simpkv secret hosts/web1/ssh --kind ssh-ed25519 --part public' => 'The public part of a new SSH key',
            'simpkv secret ca/site --part crl > site.crl' => 'The revocation list of a CA'
          }.freeze

          def run(key)
            check_key(key)
            text = checked(key) { secret(key, Secrets::Request.new(@wanted)) }
            return output.print(shown(key, text)) if output.data?

            $stdout.binmode
            $stdout.write(text)
            $stdout.puts if $stdout.tty?
          end

          private

          def define(parser)
            define_form(parser)
            define_making(parser)
            define_expiry(parser)
            define_history(parser)
          end

          def secret(key, request)
            about(key) do
              noting_environment(key) { |store| secrets(store).fetch(backend.path(key), request) }
            end
          end

          def shown(key, text)
            return { 'key' => key, 'secret' => text } unless RichData.binary?(text)

            { 'key' => key, 'secret' => [text].pack('m0'), 'encoding' => 'base64' }
          end
        end
      end
    end
  end
end
