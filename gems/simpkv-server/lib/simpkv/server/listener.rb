# frozen_string_literal: true

require 'ipaddr'
require 'socket'

module Simpkv
  module Server
    # An address that the service listens on: a Unix socket, a TCP port of the loopback interface without TLS, or a TCP
    # port with TLS and client certificates. There is no other kind, so that nothing is sent in the clear.
    class Listener
      # The path of a Unix socket has at most 107 bytes.
      SOCKET_BYTES_MAX = 107
      # The options of ssl:// in the section `server`.
      TLS = %w[tls_cert tls_key tls_ca].freeze
      # Variables of the environment in which Puma names the sockets that it has kept for a new start.
      INHERITED = /\APUMA_INHERIT_\d+\z/.freeze
      private_constant :SOCKET_BYTES_MAX, :TLS, :INHERITED

      # @return [Symbol] :unix, :tcp or :ssl
      attr_reader :kind

      # @param url [String] `unix:///PATH`, `tcp://127.0.0.1:PORT`, `tcp://[::1]:PORT` or `ssl://HOST:PORT`. Port 0
      #   takes a free one
      # @param options [Hash{String => Object}] of the section `server`: see {Config::Sections::Server}
      # @raise [ConfigError] this is no such address, or an option is missing
      def initialize(url, options)
        @url = url
        scheme, rest = url.split('://', 2)
        @kind = { 'unix' => :unix, 'tcp' => :tcp, 'ssl' => :ssl }[scheme]
        refuse('write unix:///PATH, tcp://127.0.0.1:PORT, tcp://[::1]:PORT or ssl://HOST:PORT') unless @kind && rest
        @kind == :unix ? check_path(rest) : check_port(rest)
        @tls = options.slice(*TLS)
        # A person or a program without a certificate comes as far as {Credentials}. A wrong certificate ends the
        # handshake in both cases.
        @verify = options.values_at('sign_in', 'tokens').any? ? 'peer' : 'force_peer'
        check_tls if @kind == :ssl
      end

      # Binds the address.
      #
      # @param dsl [Puma::DSL]
      # @return [void]
      # @raise [ConfigError] another process listens on the socket
      def bind(dsl)
        case @kind
        when :unix
          check_unused
          # Every user may connect: the kernel tells who it is, and the rights decide.
          dsl.bind("unix://#{@path}?umask=0111")
        when :tcp then dsl.bind("tcp://#{@host}:#{@port}")
        when :ssl
          # OpenSSL 3 refuses versions before TLS 1.2 by default.
          dsl.ssl_bind(@host, @port, cert: @tls['tls_cert'], key: @tls['tls_key'], ca: @tls['tls_ca'],
                                     verify_mode: @verify)
        end
      end

      # @param socket [UNIXServer, TCPServer, Puma::MiniSSL::Server] a listening socket
      # @return [Symbol] the kind of the listener
      def self.kind_of(socket)
        return :unix if socket.is_a?(UNIXServer)

        socket.is_a?(TCPServer) ? :tcp : :ssl
      end

      private

      def refuse(why)
        raise ConfigError, "the service cannot listen on '#{@url}': #{why}"
      end

      def check_path(path)
        refuse('the path of the socket must be absolute: unix:///run/simpkv/simpkv.sock') unless path.start_with?('/')
        refuse("the path of a socket has at most #{SOCKET_BYTES_MAX} bytes") if path.bytesize > SOCKET_BYTES_MAX
        refuse('the path of the socket must not have ? or #') if path.match?(/[?#\0]/)
        folder = File.dirname(path)
        refuse("there is no folder #{folder}") unless File.directory?(folder)
        check_file(path)
        @path = path
      end

      # Puma removes whatever is there, unless another process listens on it.
      def check_file(path)
        refuse('there is a file of this name that is no socket') unless File.lstat(path).socket?
      rescue Errno::ENOENT
        nil
      end

      def check_unused
        return if ENV.keys.grep(INHERITED).any?

        UNIXSocket.new(@path).close
        refuse('another process listens on it')
      rescue SystemCallError
        nil # There is none, or a process that has ended has left it.
      end

      def check_port(rest)
        @host, port = rest.match(%r{\A(\[[\h:.]+\]|[^:\[\]/?#]+):(\d{1,5})\z})&.captures
        refuse('write a host and a port, such as 127.0.0.1:8180') unless @host
        @port = Integer(port, 10)
        refuse('a port is a number from 0 to 65535') if @port > 65_535
        return if @kind == :ssl || loopback?

        refuse('without TLS, only tcp://127.0.0.1:PORT and tcp://[::1]:PORT are possible. Use ssl://HOST:PORT')
      end

      # A name could lead elsewhere.
      def loopback?
        IPAddr.new(@host.delete('[]')).loopback?
      rescue IPAddr::Error
        false
      end

      def check_tls
        missing = TLS.find { |name| @tls[name].nil? }
        refuse("it needs '#{missing}' in the section 'server' of the configuration") if missing

        @tls.each do |name, file|
          refuse("'#{name}': the file #{file} cannot be read") unless File.readable?(file) && File.file?(file)
        end
      end
    end
  end
end
