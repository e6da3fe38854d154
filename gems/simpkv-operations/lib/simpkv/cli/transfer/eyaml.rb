# frozen_string_literal: true

require 'rubygems'
require 'simpkv/cli/failure'
require 'simpkv/cli/output'
require 'simpkv/cli/transfer/hiera_files'

module Simpkv
  module Cli
    # Decrypts the texts ENC[...] in Hiera data, with the gem hiera-eyaml. Reads its options as the command eyaml does.
    class Eyaml
      # Why a text cannot be decrypted. The message quotes nothing of it.
      class Unreadable < StandardError; end

      METHOD = 'PKCS7'
      ENCRYPTED = 'ENC['
      TOKEN = /ENC\[(?:(\w+),)?/.freeze
      # The defaults of the command eyaml.
      KEYS = { 'pkcs7_private_key' => './keys/private_key.pkcs7.pem',
               'pkcs7_public_key' => './keys/public_key.pkcs7.pem' }.freeze
      # The first version of the gem that decrypts without the certificate.
      WITHOUT_CERTIFICATE = Gem::Version.new('4.1')
      # The files that the gem reads, the last one first.
      CONFIGURATION = '/etc/eyaml/config.yaml, ~/.eyaml/config.yaml, .eyaml/config.yaml, $EYAML_CONFIG'
      DAMAGED = "it has '#{ENCRYPTED}', but no complete text ENC[...] follows"
      UNDECRYPTED = 'it cannot be decrypted: it is damaged, or encrypted for another private key'
      BYTES = 'it is bytes, not text, or encrypted for another key: store it with ' \
              "'eyaml decrypt ... | simpkv put KEY --sensitive --binary -'"
      private_constant :METHOD, :ENCRYPTED, :TOKEN, :KEYS, :WITHOUT_CERTIFICATE, :CONFIGURATION, :DAMAGED, :UNDECRYPTED,
                       :BYTES

      # @param data [Object]
      # @return [Boolean] whether there is an ENC[...] in it, at any depth
      def self.encrypted?(data)
        HieraFiles.text?(data) { |text| text.include?(ENCRYPTED) }
      end

      # @param options [Hash{String => String}] of the command line: `pkcs7_private_key`, `pkcs7_public_key`
      def initialize(options)
        @given = options
      end

      # @param data [Object] as Hiera has it
      # @return [Object] the same with each ENC[...] decrypted
      # @raise [Unreadable]
      # @raise [Failure] the gem, or a key that it needs, is missing
      def decrypt(data)
        case data
        when String then data.include?(ENCRYPTED) ? text(data) : data
        when Array then data.map { |member| decrypt(member) }
        when Hash then members(data)
        else data
        end
      end

      private

      def members(hash)
        raise Unreadable, 'the name of a member is encrypted' if Eyaml.encrypted?(hash.keys)

        hash.transform_values { |member| decrypt(member) }
      end

      # Hiera's function eyaml_lookup_key removes one newline at the end, too.
      def text(text)
        prepare
        refuse_methods(text)
        utf8(plain_text(text)).chomp
      end

      # The messages of the gem and of OpenSSL are left out.
      def plain_text(text)
        tokens = Hiera::Backend::Eyaml::Parser::ParserFactory.hiera_backend_parser.parse(text)
        others = tokens.grep(Hiera::Backend::Eyaml::Parser::NonMatchToken)
        raise Unreadable, DAMAGED if others.any? { |token| token.match.include?(ENCRYPTED) }

        tokens.map { |token| token.to_plain_text.b }.join
      rescue Unreadable
        raise
      rescue StandardError
        raise Unreadable, UNDECRYPTED, cause: nil
      end

      # A wrong key can decrypt to random bytes: OpenSSL finds it by the padding at the end only.
      def utf8(bytes)
        text = bytes.force_encoding(Encoding::UTF_8)
        text.valid_encoding? ? text : raise(Unreadable, BYTES)
      end

      def refuse_methods(text)
        text.scan(TOKEN).flatten.each do |name|
          name ||= @method
          next if name.casecmp?(METHOD)

          raise Unreadable, "it is encrypted with #{name[/\A\w{1,20}/]}, and only #{METHOD} is read: 'eyaml recrypt' " \
                            'changes the method'
        end
      end

      # Loads the gem, and tells it where the keys are.
      def prepare
        return if @method

        load_gem
        settings = configured
        check_key(settings, 'private')
        check_key(settings, 'public') if certificate_needed?
        Hiera::Backend::Eyaml::Options.set(settings)
        @method = settings.fetch('encrypt_method', METHOD)
      end

      def load_gem
        Gems.load_for('simpkv import-eyaml', 'hiera-eyaml') do
          %w[eyaml eyaml/options eyaml/parser/parser eyaml/subcommand].each { |name| require "hiera/backend/#{name}" }
        end
      end

      # @return [Hash{String => String}] for each key, the file of the command line, or a variable, or a file
      def configured
        found = Hiera::Backend::Eyaml::Subcommand.load_config_file.fetch(:options).transform_keys(&:to_s)
        found = KEYS.merge(found.select { |_, value| value.is_a?(String) })
        %w[private_key public_key].map { |key| of_key(key, found) }.inject(found.slice('encrypt_method'), :merge)
      rescue StandardError
        raise Failure.new("the configuration of eyaml cannot be read: #{CONFIGURATION}", Failure::CONFIG), cause: nil
      end

      # The gem warns of a file beside a variable.
      def of_key(key, found)
        name = "pkcs7_#{key}"
        return @given.slice(name) if @given.key?(name)

        variables = found.select { |option, _| option.match?(/\Apkcs7_(b64_)?#{key}_env_var\z/) }
        variables.any? ? variables : found.slice(name)
      end

      def check_key(settings, kind)
        file = settings["pkcs7_#{kind}_key"]
        variable = settings.find { |name, _| name.end_with?("#{kind}_key_env_var") }&.last
        return if file ? File.readable?(file) : ENV.key?(variable)

        key = file ? "the file '#{Output.name(file)}'" : "the variable #{Output.name(variable)}"
        why = ", which hiera-eyaml #{Hiera::Backend::Eyaml::VERSION} needs to decrypt," if kind == 'public'
        raise Failure.new("#{key} with the #{kind} key of eyaml#{why} is missing, or cannot be read: " \
                          "--pkcs7-#{kind}-key names the file", Failure::NO_INPUT)
      end

      def certificate_needed?
        Gem::Version.new(Hiera::Backend::Eyaml::VERSION) < WITHOUT_CERTIFICATE
      end
    end
  end
end
