# frozen_string_literal: true

require 'openssl'
require 'simpkv/audit'
require 'simpkv/cli/tokens/token_command'

module Simpkv
  module Cli
    module Commands
      module Token
        # Makes a token.
        class Create < TokenCommand
          MAKERS = %w[user certname account].freeze
          LIMITS = %w[environments backends].freeze
          private_constant :MAKERS, :LIMITS

          SUMMARY = 'make a token for a program, and print it once'
          SUGGEST_FOR = { 'login' => 'token create' }.freeze
          DESCRIPTION = <<~TEXT
            Makes a token with which a program uses the service, over ssl:// and on Unix sockets, in place of a client
            certificate: in the header Authorization: Bearer TOKEN, or X-Auth-Token. The command prints the token, and
            nobody can print it again: the store, in the backend of the option tokens of the service, has only a digest.

            RIGHTS are methods and paths, as of an entry of rights, and perhaps environments=NAME,... and
            backends=NAME,.... The option may be given several times. At each request, the service allows what these
            rights and the present rights of the maker allow both. The maker is the user who runs the command; root may
            do everything. --maker names another one: user:NAME, certname:NAME, or account:NAME of the directory. A
            certname needs its certificate: when that expires or is revoked, the service refuses the token. The command
            makes no token of a maker whose tokens the service would refuse, such as an unknown account.
          TEXT
          EXAMPLES = {
            "simpkv token create --rights 'GET /v1/keys/app1/**' --expires 90d" => 'Reads the keys of app1',
            "simpkv token create --rights 'GET,PUT /v1/keys/ci/** environments=dev' --expires 7d --maker account:ann" =>
              'As long as ann may do that herself'
          }.freeze

          def run
            check
            on_tokens(create: true) do |tokens|
              check_maker
              text, token = tokens.create(@rights, maker: @maker, note: @note, expires: Time.now + @expires,
                                                   certificate: @certificate)
              output.print('token' => text, **token.plain) { [text] }
            end
            nil
          rescue ConfigError => e
            raise Failure.new(e.message, Failure::USAGE)
          end

          private

          def define(parser)
            @rights = []
            @maker = [:user, Audit.user]
            parser.on('--rights RIGHTS', 'such as GET,PUT /v1/keys/app1/**; several times') do |text|
              @rights << right(text)
            end
            parser.on('--expires TIME', 'the time until it expires, such as 90d') do |text|
              @expires = converted_option('--expires', :lifetime, text)
            end
            parser.on('--maker KIND:NAME', 'whose present rights limit it, if not those of this user') do |text|
              @maker = maker(text)
            end
            parser.on('--certificate FILE', 'of --maker certname:NAME, in PEM') { |file| @file = file }
            parser.on('--note TEXT', 'what it is for, for the list') { |text| @note = text }
          end

          def right(text)
            verbs, paths, *limits = text.split
            limits = limits.map { |limit| limit.split('=', 2) }
            wrong = paths.nil? || limits.any? { |name, list| !LIMITS.include?(name) || list.to_s.empty? }
            usage("--rights must be METHODS PATHS, such as 'GET,PUT /v1/keys/app1/**'") if wrong

            lists = limits.to_h { |name, list| [name, list.split(',')] }
            { 'methods' => verbs.split(','), 'paths' => paths.split(','), **lists }
          end

          def maker(text)
            kind, name = text.split(':', 2)
            return [kind.to_sym, name] if MAKERS.include?(kind) && !name.to_s.empty?

            usage("--maker must be #{MAKERS.map { |each| "#{each}:NAME" }.join(' or ')}")
          end

          def check
            usage('--rights is missing: what the token allows') if @rights.empty?
            usage('--expires is missing: for how long the token is valid, such as 90d') unless @expires
            check_certificate
          end

          def check_certificate
            kind, name = @maker
            return (usage('--certificate is for --maker certname:NAME') if @file) unless kind == :certname

            usage("--maker certname:#{name} needs --certificate, the PEM file of its certificate") unless @file
            @certificate = File.read(@file)
            usage("#{@file} is not the certificate of #{name}") unless common_names(@certificate) == [name]
          rescue OpenSSL::X509::CertificateError, SystemCallError => e
            usage("--certificate cannot be read: #{e.message}")
          end

          # @raise [Failure] no token of this maker can be used
          def check_maker
            require 'simpkv/cli/tokens/maker_check'
            check = MakerCheck.new(configuration.section('server'), @maker, @certificate) do |backend|
              configuration.backend(backend).settings
            end
            check.warnings.each { |why| warn("simpkv: #{why}") }
          end

          def common_names(text)
            OpenSSL::X509::Certificate.new(text).subject.to_a.select { |type, *| type == 'CN' }.map { |part| part[1] }
          end

          def usage(why)
            raise Failure.new("#{why} (simpkv token create --help)", Failure::USAGE)
          end
        end
      end
    end
  end
end
