# frozen_string_literal: true

require 'simpkv/cli/data_file'
require 'simpkv/estate/bounded_http'
require 'uri'

module Simpkv
  module Cli
    # A PuppetDB, read over version 4 of its query API, with one connection. The errors name the server and the request,
    # and quote no answer, which could hold a password.
    class PuppetDB
      QUERY = '/pdb/query/v4'

      # Seconds, the latter for a whole answer: a query of a large PuppetDB may take minutes.
      OPEN_TIMEOUT = 10
      ANSWER_TIMEOUT = 600
      # Bytes of an answer, about 50 nodes.
      ANSWER_MAX = 1024 * 1024 * 1024

      # The meaning of a status, and the exit code.
      STATUSES = {
        '401' => ['it refuses this client: --cert and --key name the certificate of a client that it accepts',
                  Failure::NO_PERMISSION],
        '403' => ['it refuses this client: its certificate-allowlist must have the name in --cert',
                  Failure::NO_PERMISSION],
        '404' => ['there is no PuppetDB with version 4 of the query API behind this URL', Failure::NO_INPUT]
      }.freeze
      private_constant :QUERY, :OPEN_TIMEOUT, :ANSWER_TIMEOUT, :ANSWER_MAX, :STATUSES

      # @return [String] the URL
      attr_reader :title

      # @param url [String] such as `https://puppetdb.example.com:8081`
      # @param tls [Hash{Symbol => String}] the files `cert`, `key` and `cacert`, in PEM
      # @raise [Failure] an argument is wrong
      def initialize(url, tls = {})
        uri = checked(url)
        @title = url.chomp('/')
        @path = uri.path.chomp('/')
        @http = BoundedHTTP.new(uri.hostname, uri.port, nil).bound(ANSWER_TIMEOUT, ANSWER_MAX)
        @http.open_timeout = OPEN_TIMEOUT
        @http.keep_alive_timeout = 30
        uri.scheme == 'https' ? use_tls(tls) : refuse_tls(tls)
      end

      # @return [String] the version of the server
      # @raise [Failure] no PuppetDB answers
      def version
        request = Net::HTTP::Get.new("#{@path}/pdb/meta/v1/version")
        answer = parsed(perform(request, 'its version'), 'its version')
        answer.is_a?(Hash) ? answer['version'].to_s : malformed('its version')
      end

      # @return [Array<String>] the names of the active nodes, sorted
      # @raise [Failure]
      def names
        rows('nodes', ['extract', ['certname']], 'the names of the nodes').map { |row| row['certname'] }.uniq.sort
      end

      # @param entity [String] `nodes`, `factsets` or `resources`
      # @param names [Array<String>] of nodes
      # @param what [String] for errors, such as `the facts of web1 to web50`
      # @param filter [Array<Array>] further conditions, in PuppetDB's query language
      # @return [Hash{String => Array<Hash>}] the rows, by the name of the node
      # @raise [Failure]
      def of(entity, names, what, *filter)
        rows(entity, ['and', ['in', 'certname', ['array', names]], *filter], what).group_by { |row| row['certname'] }
      end

      # @param names [Array<String>] of nodes
      # @param what [String] see {#of}
      # @return [Hash{String => Array<Hash>}] the packages, by the name of the node; none if this PuppetDB does not know
      #   the entity
      # @raise [Failure]
      def packages(names, what)
        return {} if @no_packages

        of('package-inventory', names, what)
      rescue Failure => e
        raise unless e.code == Failure::NO_INPUT

        @no_packages = true
        {}
      end

      # @param name [String] of a node
      # @param limit [Integer]
      # @return [Array<Hash>] its last reports, the newest first
      # @raise [Failure]
      def reports(name, limit)
        rows('reports', ['=', 'certname', name], "the reports of '#{name}'",
             limit: limit, order_by: [{ 'field' => 'producer_timestamp', 'order' => 'desc' }])
      end

      # @return [void]
      def close
        @http.finish if @http.started?
      end

      private

      def checked(url)
        uri = parsed_url(url)
        usage('URL may not have a user, a query or a fragment') if [uri.userinfo, uri.query, uri.fragment].any?
        return uri if uri.scheme == 'https' || loopback?(uri.hostname)

        usage('http:// is for a PuppetDB on this machine only, because resources may hold passwords: use https:// ' \
              'with --cert, --key and --cacert')
      end

      def parsed_url(url)
        uri = URI.parse(url)
        return uri if uri.is_a?(URI::HTTP) && uri.hostname

        raise URI::InvalidURIError
      rescue URI::InvalidURIError
        usage('URL is not like https://HOST:8081')
      end

      def loopback?(host)
        host.match?(/\A(localhost|127\.\d+\.\d+\.\d+|::1)\z/)
      end

      def usage(message)
        raise Failure.new(message, Failure::USAGE)
      end

      def refuse_tls(tls)
        usage("--#{tls.keys.first} is for a URL with https://") if tls.any?
      end

      def use_tls(tls)
        usage('--cert and --key come as a pair') if tls.key?(:cert) != tls.key?(:key)
        @http.use_ssl = true
        @http.verify_mode = OpenSSL::SSL::VERIFY_PEER
        @http.cert_store = authorities(tls[:cacert])
        return unless tls[:cert]

        @http.cert = pem(:cert, tls[:cert]) { |text| OpenSSL::X509::Certificate.new(text) }
        # With a pass phrase that is given, OpenSSL does not ask the terminal for one.
        @http.key = pem(:key, tls[:key]) { |text| OpenSSL::PKey.read(text, '') }
      end

      # @return [OpenSSL::X509::Store] one of its own, because code in this process could change the default one
      def authorities(file)
        store = OpenSSL::X509::Store.new
        file ? pem(:cacert, file) { store.add_file(file) } : store.set_default_paths
        store
      end

      def pem(option, file)
        yield DataFile.bytes(file)
      rescue OpenSSL::OpenSSLError
        raise Failure.new("#{file}: --#{option} needs a file in PEM, and a key without a pass phrase", Failure::DATA)
      end

      # @return [Array<Hash>]
      def rows(entity, query, what, **paging)
        request = Net::HTTP::Post.new("#{@path}#{QUERY}/#{entity}", 'Content-Type' => 'application/json')
        request.body = Native.generate({ 'query' => query }.merge(paging))
        rows = parsed(perform(request, what), what)
        return rows if rows.is_a?(Array) && rows.all? { |row| row.is_a?(Hash) && row['certname'].is_a?(String) }

        malformed(what)
      end

      # @return [String] the body of the answer
      def perform(request, what)
        answer = @http.exchange(request)
        return answer.body if answer.is_a?(Net::HTTPOK)

        failed(what, *STATUSES.fetch(answer.code, ["it answers with the status #{answer.code}", Failure::UNAVAILABLE]))
      rescue Timeout::Error
        failed(what, 'no whole answer in time', Failure::TEMPORARY)
      rescue BoundedHTTP::TooLarge
        failed(what, "the answer has more than #{ANSWER_MAX >> 20} MiB", Failure::DATA)
      rescue OpenSSL::SSL::SSLError => e
        failed(what, "TLS: #{e.message} (--cacert, --cert and --key say which certificates to use)",
               Failure::UNAVAILABLE)
      rescue SystemCallError, IOError, SocketError, Net::ProtocolError, Net::HTTPBadResponse,
             Net::HTTPHeaderSyntaxError => e
        failed(what, "the connection failed: #{e.message}", Failure::UNAVAILABLE)
      end

      # A query that fails after its answer has begun ends in the middle of the text.
      def parsed(body, what)
        Native.parse(body.to_s)
      rescue MalformedError
        malformed(what)
      end

      def malformed(what)
        failed(what, 'the answer is truncated, or not that of a PuppetDB', Failure::DATA)
      end

      def failed(what, why, code)
        close
        raise Failure.new("#{@title}: #{what}: #{why}", code), cause: nil
      end
    end
  end
end
