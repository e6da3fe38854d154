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
            with another private key, in its place. With --serial, KEY is a CA, and the certificate with that number,
            such as one that was replaced, is put on its list. The list is the part crl of the CA: simpkv secret CA
            --part crl prints it. Prints no secret.
          TEXT
          EXAMPLES = {
            'simpkv secret revoke web1/tls' => 'Somebody has read a private key',
            'simpkv secret revoke ca/site --serial 4F1A09' => 'A certificate that was replaced'
          }.freeze

          def run(key)
            serial = changing(key) do |secrets, path|
              @serial ? secrets.revoke_number(path, @serial) : secrets.revoke(path)
            end
            replace(key, serial) unless @serial
            output.print('key' => key, 'revoked' => serial) { [message(key, serial)] }
          end

          private

          def define(parser)
            parser.on('--serial NUMBER', /\A\h{1,40}\z/,
                      'of a certificate of the CA that KEY names, in hexadecimal') { |text| @serial = text }
          end

          def replace(key, serial)
            changing(key) { |secrets, path| secrets.rotate(path) }
          rescue Failure => e
            raise Failure.new("the certificate #{serial} is revoked, but no other one was made: #{e.message}", e.code)
          end

          def message(key, serial)
            return "the certificate #{serial} of the CA '#{key}' is revoked" if @serial

            "the certificate #{serial} of '#{key}' is revoked, and '#{key}' has another one"
          end
        end
      end
    end
  end
end
