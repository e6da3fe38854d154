# frozen_string_literal: true

require 'simpkv/cli/secret_command'

module Simpkv
  module Cli
    module Commands
      module Secret
        # Revokes a certificate.
        class Revoke < SecretCommand
          SUMMARY = 'revoke a certificate, and make another one'
          ARGUMENTS = 'KEY'
          DESCRIPTION = <<~TEXT
            Puts the certificate of a key on the revocation list of the CA that has signed it, and makes another one,
            with another private key, in its place. The list is the part crl of the CA: simpkv secret CA --part crl
            prints it. Prints no secret.
          TEXT
          EXAMPLES = {
            'simpkv secret revoke web1/tls' => 'Somebody has read a private key'
          }.freeze

          def run(key)
            path = existing(key)
            serial = about(key) do
              reading
              backend.check_agreement([path])
              secrets = secrets(backend.store)
              secrets.revoke(path).tap { secrets.rotate(path) }
            end
            output.print('key' => key, 'revoked' => serial) do
              ["the certificate #{serial} of '#{key}' is revoked, and '#{key}' has another one"]
            end
          end
        end
      end
    end
  end
end
