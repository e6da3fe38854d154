# frozen_string_literal: true

require 'json'
require 'simpkv/errors'
require 'simpkv/estate/bounded_http'

module Simpkv
  module Termini
    # Queries that the service answers, over its Unix socket, a loopback port, or TLS with a client certificate. For
    # JRuby, which has no SQLite. It needs no code of the service.
    class RemoteQuery
      # The usual address of the service.
      DEFAULT = 'unix:///run/simpkv/simpkv.sock'
      # Seconds: to connect; and what the service may need beside a query, to look at its index and to start a process.
      CONNECT = 5
      MORE = 20
      PATH = '/pdb/query/v4'
      # Bytes of an answer, which the compiler holds in memory; and of one that is an error, in a message.
      ANSWER_MAX = 64 * 1024 * 1024
      REASON_MAX = 1000
      ERRORS = { 400 => InvalidError, 403 => DeniedError, 503 => UnavailableError }.freeze

      private_constant :CONNECT, :MORE, :PATH, :ANSWER_MAX, :REASON_MAX, :ERRORS

      # @param address [String, nil] as in the option `bind` of `server`; nil for {DEFAULT}
      # @param tls [Hash{Symbol => String}] for ssl: the files `ca`, `cert` and `key`
      # @param seconds [Numeric] the option `query_seconds` of `server`: a query may take so long, may wait for a
      #   process as long, and for changes of the node
      # @param node [String, nil] the answers have all that the store has of this node, as what its run has saved
      # @raise [ConfigError] it is no address
      def initialize(address, tls, seconds, node: nil)
        @more = { 'wait_for_node' => node }.compact
        @address = address || DEFAULT
        @tls = tls
        @answer = (3 * seconds) + MORE
        @scheme, @place = @address.split('://', 2)
        return if @place && %w[unix tcp ssl].include?(@scheme)

        raise ConfigError, "'query_uri' of 'estate' must be unix:///PATH, tcp://127.0.0.1:PORT or ssl://HOST:PORT"
      end

      # @param query [String, Array] PQL, or an AST, also as text
      # @return [Array<Hash>] the rows
      # @raise [InvalidError] the query is wrong
      # @raise [DeniedError] the service does not allow it
      # @raise [UnavailableError] the service does not answer, or not in time
      # @raise [TooLargeError] the answer is too large
      def rows(query)
        request = Net::HTTP::Post.new(PATH, 'content-type' => 'application/json', 'host' => host)
        request.body = JSON.generate({ 'query' => query }.merge(@more))
        read(answer(request))
      rescue SystemCallError, SocketError, IOError, OpenSSL::OpenSSLError, Net::ProtocolError,
             Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError => e
        silent(e.message)
      rescue Timeout::Error
        silent("no whole answer within #{@answer.round(3)} s")
      end

      private

      # @return [Net::HTTPResponse]
      def answer(request)
        http = connection
        http.exchange(request)
      rescue BoundedHTTP::TooLarge
        raise TooLargeError, "the answer of the service at #{@address} has more than #{ANSWER_MAX >> 20} MiB: ask " \
                             'for less', cause: nil
      ensure
        http.finish if http&.started?
      end

      def read(response)
        return JSON.parse(response.body) if response.is_a?(Net::HTTPOK)

        code = Integer(response.code)
        reason = response.body.to_s.dup.force_encoding(Encoding::UTF_8).scrub[0, REASON_MAX]
        raise ERRORS.fetch(code, Simpkv::Error), "the service at #{@address} answers #{code}: #{reason}"
      rescue JSON::ParserError
        raise UnavailableError, "the answer of the service at #{@address} is truncated, or not JSON", cause: nil
      end

      def silent(why)
        raise UnavailableError, "the service does not answer at #{@address}: #{why}. Start 'simpkv serve', or " \
                                "set 'query_uri' of 'estate'", cause: nil
      end

      def host
        @scheme == 'unix' ? 'localhost' : @place
      end

      def connection
        http = @scheme == 'unix' ? BoundedHTTP.unix(@place) : network
        http.open_timeout = CONNECT
        http.bound(@answer, ANSWER_MAX)
      end

      # No proxy: the last argument.
      def network
        name, _, port = @place.rpartition(':')
        http = BoundedHTTP.new(name.delete('[]'), Integer(port), nil)
        secure(http) if @scheme == 'ssl'
        http
      rescue ArgumentError
        raise ConfigError, "'query_uri' of 'estate' has no port: #{@address}", cause: nil
      end

      def secure(http)
        http.use_ssl = true
        http.verify_mode = OpenSSL::SSL::VERIFY_PEER
        # Puppet makes contexts trust the CAs of the system, too, and `ca_file` would be added for the whole process.
        http.cert_store = OpenSSL::X509::Store.new.add_file(@tls.fetch(:ca))
        http.cert = OpenSSL::X509::Certificate.new(File.read(@tls.fetch(:cert)))
        http.key = OpenSSL::PKey.read(File.read(@tls.fetch(:key)))
      end
    end
  end
end
