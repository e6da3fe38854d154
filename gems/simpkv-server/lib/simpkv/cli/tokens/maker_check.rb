# frozen_string_literal: true

require 'etc'
require 'simpkv/server/certificates'
require 'simpkv/server/sign_in/accounts'

module Simpkv
  module Cli
    # Whether the service can take a token of a maker, as far as its configuration and this machine tell.
    class MakerCheck
      # @param server [Hash{String => Object}] the section of the service
      # @param maker [Array(Symbol, String)] kind and name
      # @param certificate [String, nil] that of a certname, in PEM
      # @yieldparam backend [String] the name of the one with the accounts
      # @yieldreturn [Hash{String => Object}] its settings
      def initialize(server, maker, certificate, &settings)
        @server = server
        @kind, @name = maker
        @certificate = certificate
        @settings = settings
      end

      # @return [Array<String>] what may be wrong, and what to do
      # @raise [Failure] the service refuses each token of this maker
      # @raise [ConfigError] of the section
      def warnings
        [send(@kind), (nothing unless allowed?)].compact
      end

      private

      # @return [Boolean] whether an entry of `rights` is for the maker, or may be
      def allowed?
        owner? || entries.any? { |entry| entry[@kind.to_s] == @name || (@kind == :account && entry['group']) }
      end

      def owner?
        @kind == :user && known_user&.uid&.zero?
      end

      def entries
        @server['rights'].grep(Hash)
      end

      def nothing
        more = ', unless the service runs as this user' if @kind == :user
        "the token allows nothing until an entry of 'rights' of 'server' is for #{@kind}:#{@name}#{more}"
      end

      def user
        return if known_user

        here = "this machine has no user '#{@name}'"
        refuse("#{here}, and no entry of 'rights' of 'server' is for it") unless allowed?
        "#{here}: the service refuses the token if its machine has none, either"
      end

      def known_user
        Etc.getpwnam(@name)
      rescue ArgumentError
        nil
      end

      def certname
        Server::Certificates.new(@server.slice('tls_ca', 'tls_crl')).certname(@certificate)
        nil
      rescue DeniedError => e
        refuse(@server['tls_ca'] ? e.message : "'tls_ca' of 'server' is not set, so it knows no certificates")
      end

      def account
        options = @server['sign_in']
        refuse("'sign_in' of 'server' is not set, so it knows no accounts") unless options
        found = Server::SignIn::Accounts.new(options, @settings.call(options['backend'])).find(@name)
        refuse("the directory has no account '#{@name}', or several") unless found
        @name = found.name # Rights name it as the directory spells it.
        nil
      rescue Error => e
        "whether there is an account '#{@name}' cannot be checked: #{e.message}"
      end

      def refuse(why)
        raise Failure.new("the service would refuse each token of #{@kind}:#{@name}: #{why} (docs/service.md)",
                          Failure::USAGE)
      end
    end
  end
end
