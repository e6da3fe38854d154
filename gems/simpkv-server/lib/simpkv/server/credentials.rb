# frozen_string_literal: true

require 'rack'
require 'simpkv/audit'
require 'simpkv/server/caller'
require 'simpkv/server/problem'
require 'simpkv/server/sign_in'
require 'simpkv/server/token_guard'
require 'simpkv/server/tokens'

module Simpkv
  module Server
    # Finds out who has sent a request. A token counts before a client certificate, and that before a session. On a Unix
    # socket, the kernel says who it is.
    class Credentials
      # The cookie of a session. Browsers take one of this name only with Secure, for this host and no other, and for
      # all paths.
      COOKIE = '__Host-simpkv'
      # What the value of a header begins with that has a token of this service. Others are for other services.
      TOKEN = /\A(?:Bearer +)?(#{Tokens::BEGINNING}.*)\z/im.freeze
      # The headers that may have a token or a session, which the store or the directory must know.
      HEADERS = %w[HTTP_AUTHORIZATION HTTP_X_AUTH_TOKEN HTTP_COOKIE].freeze
      # What tells nobody who it is: a token of another form.
      BEARER = /\ABearer +(.+)\z/im.freeze
      private_constant :TOKEN, :BEARER

      # @param certificates [Certificates]
      # @param sign_in [SignIn, nil] nil if nobody can sign in
      # @param tokens [Tokens, nil] nil if the service takes none
      # @param log [#call] of the service
      # @param guard [TokenGuard]
      def initialize(certificates, sign_in = nil, tokens = nil, log: ->(_) {}, guard: TokenGuard.new)
        @certificates = certificates
        @sign_in = sign_in
        @tokens = tokens
        @log = log
        @guard = guard
      end

      # @return [SignIn, nil]
      attr_reader :sign_in

      # @param env [Hash{String => Object}] of Rack
      # @param use [Boolean] whether this is a use of the session or the token, and not a look whether it is valid still
      # @return [Caller]
      # @raise [DeniedError] the certificate is not valid
      # @raise [Problem] 401, 403 the token is not valid; 429 too many from this address were not
      # @raise [Error] the store of tokens or the directory does not answer
      def caller(env, use: true)
        connection = env.fetch(Connection::KEY)
        token = token(env)
        return of_token(connection, token, use) if token

        case connection.kind
        when :unix then Caller.new(:user, Audit.user_name(connection.uid), connection.uid)
        when :tcp then Caller.new(:local, nil)
        when :ssl then of_certificate(env) || of_session(env, use) || of_nobody(env, connection, use)
        end
      end

      # @param env [Hash{String => Object}] of Rack
      # @return [DeniedError] why somebody without credentials may do nothing
      def missing
        DeniedError.new("a client certificate is needed#{', or a token (simpkv token create)' if @tokens}")
      end

      private

      # @return [String, nil] the token of the request
      def token(env)
        env.values_at('HTTP_AUTHORIZATION', 'HTTP_X_AUTH_TOKEN').compact.filter_map { |text| text.b[TOKEN, 1] }.first
      end

      def of_token(connection, token, use)
        refuse_plain if connection.kind == :tcp
        raise refused("this service takes no tokens: set 'tokens' of 'server'") unless @tokens

        found = use ? @guard.check(token, connection.peer) { find(token, use) } : find(token, use)
        raise refused('the token is unknown, was revoked, or has expired') unless found

        maker = present(found) || refuse_orphan
        @guard.outcomes.count(:accepted) if use
        Caller.new(:token, found.id, token: found.with(maker))
      end

      def refuse_plain
        @guard.outcomes.count(:plain)
        raise Problem.new(403, 'a token is refused on a connection without TLS, on which others could read it: use ' \
                               'ssl:// or a Unix socket, and revoke this token')
      end

      # Its own rights are of no use without those of its maker.
      def refuse_orphan
        @guard.outcomes.count(:maker)
        raise refused('the maker of the token is not known any more, or its certificate is not valid')
      end

      # An error of the store names servers, files and identities, which strangers must not see.
      def find(token, use)
        @tokens.find(token, use: use)
      rescue Error, ConfigError => e
        @guard.outcomes.count(:error)
        @log.call("a token cannot be checked: #{e.message}")
        raise Problem.new(503, 'the token cannot be checked now: the log of the service says why'), cause: nil
      end

      def refused(why)
        Problem.new(401, why, headers: { 'www-authenticate' => 'Bearer realm="simpkv"' })
      end

      # @return [Caller, nil] the maker of a token as it is now; nil if there is none any more
      def present(token)
        kind, name = token.maker
        case kind
        when :user then local_user(name)
        when :certname then certified(name, token.certificate)
        when :account
          account = @sign_in&.accounts&.present(name)
          account && Caller.new(:account, account.name, groups: account.groups)
        end
      end

      # @return [Caller, nil] nil if the certificate is not one of that name, has expired, or was revoked
      def certified(name, certificate)
        Caller.new(:certname, name) if @certificates.certname(certificate) == name
      rescue DeniedError, OpenSSL::X509::CertificateError
        nil
      end

      def local_user(name)
        Caller.new(:user, name, Etc.getpwnam(name).uid)
      rescue ArgumentError
        nil
      end

      def of_certificate(env)
        certificate = env['puma.peercert']
        Caller.new(:certname, @certificates.certname(certificate)) if certificate
      end

      # @return [Caller, nil]
      # @raise [Error] the directory does not answer
      def of_session(env, use)
        session = @sign_in&.sessions&.find(Rack::Utils.parse_cookies(env)[COOKIE], use: use)
        return unless session

        account = @sign_in.accounts.present(session.account.name)
        if account&.dn == session.account.dn
          return Caller.new(:account, account.name, groups: account.groups, session: session)
        end

        @sign_in.sessions.end(session)
        nil
      end

      # @return [Caller]
      # @raise [Problem] 401, 429 there is a token, which must be a wrong one
      # @raise [DeniedError] nobody can sign in
      def of_nobody(env, connection, use)
        token = env['HTTP_AUTHORIZATION'].to_s.b[BEARER, 1] || env['HTTP_X_AUTH_TOKEN'].to_s[/.+/m]
        return of_token(connection, token, use) if token
        raise missing unless @sign_in

        Caller.new(:nobody, nil)
      end
    end
  end
end
