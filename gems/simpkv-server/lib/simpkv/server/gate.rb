# frozen_string_literal: true

require 'simpkv/server/credentials'
require 'simpkv/server/problem'
require 'simpkv/server/rights'

module Simpkv
  module Server
    # The first step of each request, a middleware of Rack: decodes the path once, finds out who asks, and lets those
    # requests pass that the rights allow. What comes after it sees the decoded path only.
    class Gate
      # Keys of the environment of Rack.
      CALLER = 'simpkv.caller'
      # What finds the caller anew: see {identify_again}.
      AGAIN = 'simpkv.caller_again'
      # The decoded segments of the path.
      SEGMENTS = 'simpkv.segments'
      # Hosts of loopback addresses. A page of another site that a name of its own leads here cannot send them.
      LOCAL_HOSTS = /\A(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?\z/i.freeze
      # The host in a request line that has a whole address.
      TARGET_HOST = %r{\A[a-z][a-z0-9+.-]*:(?://([^/?#]*))?}i.freeze
      READS = %w[GET HEAD].freeze
      # In a decoded segment. A title may have all but the null character.
      REFUSED = %r{[/\\\x00-\x1f\x7f]}.freeze
      REFUSED_TITLE = /\0/.freeze
      # The beginning of paths in which a later segment than the fourth is a title, such as `%2Fetc%2Fhosts`; and the
      # segment of which the one after the next is a title with all that follows, such as `File//etc/hosts`.
      QUERIES = %w[pdb query].freeze
      # The beginning of paths below which an escaped slash separates segments, as generated clients send it: they take
      # the name of a key for one parameter. Only this beginning itself counts, not one with escapes.
      KEYS = %r{\A/v1/keys/}.freeze
      SLASH = /%2f/i.freeze
      TITLES_FROM = 4
      RESOURCES = 'resources'
      private_constant :AGAIN, :READS, :LOCAL_HOSTS, :TARGET_HOST, :REFUSED, :REFUSED_TITLE, :QUERIES, :KEYS, :SLASH,
                       :TITLES_FROM, :RESOURCES

      # @param env [Hash{String => Object}]
      # @return [Boolean] false if a browser says that a page of another site has sent the request
      def self.own_site?(env)
        [nil, 'same-origin', 'none'].include?(env['HTTP_SEC_FETCH_SITE'])
      end

      # @param app [#call] the next step
      # @param rights [#call] returns the {Rights}
      # @param certificates [Certificates]
      # @param sign_in [SignIn, nil] see {Credentials}
      # @param tokens [Tokens, nil] see {Credentials}
      # @param more [Hash{Symbol => Object}] see {Credentials}
      def initialize(app, rights, certificates, sign_in: nil, tokens: nil, **more)
        @app = app
        @rights = rights
        @credentials = Credentials.new(certificates, sign_in, tokens, **more)
      end

      # @return [SignIn, nil] nil if nobody can sign in
      def sign_in
        @credentials.sign_in
      end

      # @param env [Hash{String => Object}]
      # @return [Array] the response
      # @raise [Problem, Error]
      def call(env)
        admit(env)
        @app.call(env)
      end

      # Decodes the path of a request in its environment, and notes the caller there.
      #
      # @param env [Hash{String => Object}]
      # @return [void]
      # @raise [Problem, Error] the request is refused
      def admit(env)
        identify(env)
        check_site(env)
        caller, method, path = env.values_at(CALLER, 'REQUEST_METHOD', 'PATH_INFO')
        return if rights.allow?(caller, method, path)

        raise Problem.new(403, Rights.refusal(caller, method, path))
      end

      # @return [Rights]
      def rights
        @rights.call
      end

      # As {#admit}, for a request that needs no right.
      #
      # @param env [Hash{String => Object}] with the caller, if it is a request of a page to the API
      # @param anybody [Boolean] whether it needs no credentials
      # @param use [Boolean] whether a session or token is used by it: see {Credentials#caller}
      # @return [void]
      # @raise [Problem, Error] the request is refused
      def identify(env, anybody: false, use: true)
        check_length(env)
        check_target(env)
        segments, folder = decoded(env.fetch('PATH_INFO'))
        note_caller(env, anybody, use)
        check_host(env) if env[CALLER].kind == :local
        check_origin(env)
        env['PATH_INFO'] = "/#{segments.join('/')}#{'/' if folder}"
        env[SEGMENTS] = segments
      end

      # @return [void]
      # @raise [DeniedError] for a request of somebody whom nobody knows
      def demand_credentials
        raise @credentials.missing
      end

      # Looks again who has sent a request that is answered for a long time: a session can end meanwhile, a token or a
      # certificate can be revoked, and an account can lose a group.
      #
      # @param env [Hash{String => Object}] of the request
      # @return [Caller] as it is now: the groups of an account may be others
      # @raise [Problem, Error] it has none any more
      def self.identify_again(env)
        env.fetch(AGAIN).call
      end

      private

      # @raise [Problem, Error]
      def note_caller(env, anybody, use)
        return known(env[CALLER]) if env.key?(CALLER)

        again = -> { known(@credentials.caller(env, use: false)) }
        caller = @credentials.caller(env, use: use)
        known(caller) unless anybody
        check_cookie(env) if caller.session
        env.update(CALLER => caller, AGAIN => again)
      end

      # @return [Caller]
      # @raise [DeniedError] nobody knows who it is
      def known(caller)
        caller.kind == :nobody ? raise(@credentials.missing) : caller
      end

      # A browser sends a cookie by itself. It sends Origin with each request that changes something.
      def check_cookie(env)
        return if READS.include?(env['REQUEST_METHOD']) || env['HTTP_ORIGIN'] ||
                  env['HTTP_SEC_FETCH_SITE'] == 'same-origin'

        refuse_site
      end

      def check_length(env)
        return unless env[Door::Head::AMBIGUOUS]

        raise Problem.new(400, 'a request has either Content-Length or Transfer-Encoding')
      end

      # A request line with a whole address names a host, which counts, and not the header. Two readers could take
      # different ones.
      def check_target(env)
        target = env['REQUEST_URI'].to_s.match(TARGET_HOST)
        return if target.nil? || target[1].to_s.casecmp?(env['HTTP_HOST'].to_s)

        raise Problem.new(400, 'the address in the request line has another host than the header Host')
      end

      # @return [Array(Array<String>, Boolean)] the segments of the path without `%` escapes; whether a slash ends it
      # @raise [Problem] there are several ways to read it
      def decoded(path)
        segments = split(path)
        return [[], false] if segments.empty?

        folder = segments.last == '' && segments.length > 1
        segments.pop if folder
        titles = segments.first(QUERIES.length) == QUERIES
        segments = with_title(segments) if titles
        [segments.each_with_index.map { |segment, at| decoded_segment(segment, titles && at >= TITLES_FROM) }, folder]
      end

      def split(path)
        path = path.gsub(SLASH, '/') if path.match?(KEYS)
        path.delete_prefix('/').split('/', -1)
      end

      def with_title(segments)
        title = segments.index(RESOURCES)&.+(2)
        return segments if title.nil? || title < TITLES_FROM || segments.length <= title + 1

        [*segments.first(title), segments.drop(title).join('/')]
      end

      def decoded_segment(segment, title)
        refuse if segment.empty? || segment.match?(/%(?!\h\h)/)
        text = segment.gsub(/%(\h\h)/) { [Regexp.last_match(1)].pack('H2') }.force_encoding(Encoding::UTF_8)
        refuse if !text.valid_encoding? || %w[. ..].include?(text)
        refuse if text.match?(title ? REFUSED_TITLE : REFUSED)
        text
      end

      def refuse
        raise Problem.new(400, "malformed path: a segment is empty, is '.' or '..', has a '/' or a control " \
                               'character, or is not UTF-8')
      end

      # Another site can let its host name point to a loopback address. To a browser, its pages and this service are
      # the same site then.
      def check_host(env)
        return if env['HTTP_HOST'].to_s.match?(LOCAL_HOSTS)

        raise Problem.new(421, 'the host of the request is not a loopback address')
      end

      # Keeps web pages of other sites from using the rights of a local process, or the certificate of a person who
      # looks at them: a browser sends it with their requests.
      def check_origin(env)
        origin = env['HTTP_ORIGIN']
        refuse_site unless origin.nil? || origin == "#{env['rack.url_scheme']}://#{env['HTTP_HOST']}"
      end

      # A browser sends no Origin with a GET, for instance of an image.
      def check_site(env)
        refuse_site unless self.class.own_site?(env)
      end

      def refuse_site
        raise Problem.new(403, 'requests from pages of other sites are refused')
      end
    end
  end
end
