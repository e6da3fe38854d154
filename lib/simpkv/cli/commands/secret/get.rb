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

          KINDS = %w[password bytes ssh-ed25519 ssh-rsa ssh-ecdsa wireguard x509].freeze
          FORMATS = %w[plain yescrypt sha512-crypt sha256-crypt bcrypt htpasswd-bcrypt apr1 scram-sha-256
                       mysql_native_password caching_sha2_password ssha base64 hex].freeze
          ALPHABETS = %w[alphanumeric readable safe symbols digits hex].freeze
          NUMBERS = { 'cost' => 'of the format', 'length' => 'of a password (24), or of bytes (32)',
                      'words' => 'of a passphrase', 'minimum-bits' => 'the entropy that a password must have (80)',
                      'bits' => 'of an RSA key (3072)', 'days' => 'of a certificate (365)' }.freeze
          TEXTS = { 'part' => 'private, public, fingerprint, certificate or chain', 'separator' => 'between words (-)',
                    'curve' => 'of ssh-ecdsa: nistp256, nistp384 or nistp521', 'comment' => 'of an SSH key',
                    'key-type' => 'of a certificate: ec or rsa',
                    'issuer' => 'the key of the CA of a certificate' }.freeze
          private_constant :KINDS, :FORMATS, :ALPHABETS, :NUMBERS, :TEXTS

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
            @wanted = {}
            parser.on('--format FORMAT', FORMATS, FORMATS.join(', ')) { |text| @wanted['format'] = text }
            parser.on('--kind KIND', KINDS, KINDS.join(', ')) { |text| @wanted['kind'] = text }
            parser.on('--alphabet NAME', ALPHABETS, ALPHABETS.join(', ')) { |text| @wanted['alphabet'] = text }
            NUMBERS.each { |name, what| parser.on("--#{name} N", Integer, what) { |number| want(name, number) } }
            TEXTS.each { |name, what| parser.on("--#{name} #{name.upcase}", what) { |text| want(name, text) } }
            define_lists(parser)
            define_expiry(parser)
            define_history(parser)
          end

          def define_lists(parser)
            parser.on('--at-least CLASS=N', /\A(digits|upper|lower|special)=(\d+)\z/,
                      'of a password: digits, upper, lower or special; repeatable') do |_, name, number|
              (@wanted['at_least'] ||= {})[name] = Integer(number, 10)
            end
            parser.on('--subject NAME=VALUE', /\A(\w+)=(.+)\z/,
                      'of a certificate: CN=...; repeatable') do |_, name, value|
              (@wanted['subject'] ||= {})[name] = value
            end
            parser.on('--name NAME', 'of a certificate: a host or an address; repeatable') do |name|
              (@wanted['names'] ||= []) << name
            end
            parser.on('--ca', 'the certificate is that of a CA') { @wanted['ca'] = true }
          end

          def secret(key, request)
            about(key) do
              noting_environment(key) { |store| secrets(store).fetch(backend.path(key), request) }
            end
          end

          def want(name, value)
            @wanted[name.tr('-', '_')] = value
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
