# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/cli/secret_command'

module Simpkv
  module Cli
    module Commands
      module Secret
        # Stores a certificate of other origin.
        class Import < SecretCommand
          SUMMARY = 'store a certificate and its private key, such as those of a CA'
          ARGUMENTS = 'KEY'
          DESCRIPTION = <<~TEXT
            Stores a private key and its certificate, both in PEM, as simpkv::secret reads them, for instance
            those of a CA of the site, which the option issuer then names by KEY. The certificates of the CAs above it
            may follow the certificate. Refuses a key that exists, and a private key with a passphrase. Nothing renews
            such a certificate.
          TEXT
          EXAMPLES = {
            'simpkv secret import ca/site --private ca.key --certificate ca.pem' => 'A CA that the site has'
          }.freeze

          PEM = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?/m.freeze
          private_constant :PEM

          def run(key)
            check_key(key)
            check_files
            document = checked(key) { about(key) { document(text(@private), text(@chain)) } }
            about(key) do
              noting_environment(key) { |store| store.put(backend.path(key), document, condition: :absent) }
            rescue ExistsError
              raise Failure.new("'#{key}' exists: choose another key, or remove it with simpkv rm", Failure::DATA)
            end
            output.print('key' => key, 'imported' => true) { ["'#{key}' has the certificate"] }
          end

          private

          def define(parser)
            parser.on('--private FILE', 'the private key') { |file| @private = file }
            parser.on('--certificate FILE', 'the certificate, and those above it') { |file| @chain = file }
          end

          def check_files
            return if @private && @chain

            raise Failure.new('--private FILE and --certificate FILE are needed', Failure::USAGE)
          end

          def text(file)
            Value.utf8(DataFile.bytes(file)) || raise(Failure.new("#{DataFile.title(file)} is not text", Failure::DATA))
          end

          def document(private_key, chain)
            certificate, *above = chain.scan(PEM)
            Secrets::Entry.of_certificate(private_key, certificate.to_s, above.join)
          end
        end
      end
    end
  end
end
