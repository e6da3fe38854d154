# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    # The base class of the commands that make secrets.
    class SecretCommand < Command
      include Versioned

      KINDS = %w[password bytes ssh-ed25519 ssh-rsa ssh-ecdsa wireguard x509].freeze
      FORMATS = %w[plain yescrypt sha512-crypt sha256-crypt bcrypt htpasswd-bcrypt apr1 scram-sha-256
                   mysql_native_password caching_sha2_password ssha base64 hex].freeze
      ALPHABETS = %w[alphanumeric readable safe symbols digits hex].freeze
      NUMBERS = { 'length' => 'of a password (24), or of bytes (32)', 'words' => 'of a passphrase',
                  'minimum-bits' => 'the entropy that a password must have (80)', 'bits' => 'of an RSA key (3072)',
                  'days' => 'of a certificate (365)' }.freeze
      TEXTS = { 'separator' => 'between words (-)', 'comment' => 'of an SSH key',
                'curve' => 'of ssh-ecdsa: nistp256, nistp384 or nistp521',
                'key-type' => 'of a certificate: ec or rsa', 'issuer' => 'the key of the CA of a certificate' }.freeze
      private_constant :KINDS, :FORMATS, :ALPHABETS, :NUMBERS, :TEXTS

      def initialize
        super
        @wanted = {}
      end

      private

      def define_form(parser)
        parser.on('--format FORMAT', FORMATS, FORMATS.join(', ')) { |text| @wanted['format'] = text }
        parser.on('--cost N', Integer, 'of the format') { |number| @wanted['cost'] = number }
        parser.on('--part PART', 'private, public, fingerprint, certificate, chain, serial or crl') do |text|
          @wanted['part'] = text
        end
      end

      def define_making(parser)
        parser.on('--kind KIND', KINDS, KINDS.join(', ')) { |text| @wanted['kind'] = text }
        parser.on('--alphabet NAME', ALPHABETS, ALPHABETS.join(', ')) { |text| @wanted['alphabet'] = text }
        NUMBERS.each { |name, what| parser.on("--#{name} N", Integer, what) { |number| want(name, number) } }
        TEXTS.each { |name, what| parser.on("--#{name} #{name.upcase}", what) { |text| want(name, text) } }
        define_lists(parser)
        parser.on('--ca', 'the certificate is that of a CA') { @wanted['ca'] = true }
      end

      def define_lists(parser)
        parser.on('--at-least CLASS=N', /\A(digits|upper|lower|special)=(\d+)\z/,
                  'of a password: digits, upper, lower or special; repeatable') do |_, name, number|
          (@wanted['at_least'] ||= {})[name] = Integer(number, 10)
        end
        parser.on('--subject NAME=VALUE', /\A(\w+)=(.+)\z/, 'of a certificate: CN=...; repeatable') do |_, name, value|
          (@wanted['subject'] ||= {})[name] = value
        end
        parser.on('--name NAME', 'of a certificate: a host or an address; repeatable') do |name|
          (@wanted['names'] ||= []) << name
        end
      end

      def want(name, value)
        @wanted[name.tr('-', '_')] = value
      end

      # @return [Object] what the block returns
      # @raise [Failure] an option of the secret is wrong
      def checked(key)
        yield
      rescue ConfigError => e
        raise Failure.new("'#{key}': #{e.message}", Failure::USAGE), cause: nil
      end

      # @param store [Store]
      # @return [Secrets]
      def secrets(store)
        versioned = VersionedStore.new(store, history: @history || backend.settings['history'],
                                              expires_after: @expires_after)
        Secrets.new(store, versioned, warn: ->(why) { warn("simpkv: #{why}") }) do |key|
          [backend.path(key), Native.key_join('globals', key)].uniq
        end
      end

      # Runs a change of a secret that is there.
      #
      # @yieldparam secrets [Secrets]
      # @yieldparam path [String]
      # @return [Object] what the block returns
      def changing(key)
        path = existing(key)
        checked(key) do
          about(key) do
            reading
            backend.check_agreement([path])
            yield secrets(backend.store), path
          end
        end
      end
    end
  end
end
