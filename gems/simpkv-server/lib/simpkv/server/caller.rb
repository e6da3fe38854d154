# frozen_string_literal: true

module Simpkv
  module Server
    # The one who sent a request, as the connection proves it: a local user on a Unix socket, any local process on a
    # loopback port, or the holder of a client certificate.
    class Caller
      # The name of every local process in logs.
      LOCAL = 'local'

      # @return [Symbol] :user, :local or :certname
      attr_reader :kind

      # @return [String, nil] the name of the user, or of the certificate; nil for a local process
      attr_reader :name

      class << self
        # @param env [Hash{String => Object}] of Rack
        # @param certificates [Certificates] checks client certificates
        # @return [Caller]
        # @raise [DeniedError] the certificate is missing, revoked, or not valid
        def of(env, certificates)
          connection = env.fetch(Connection::KEY)
          case connection.kind
          when :unix then new(:user, Audit.user_name(connection.uid), connection.uid)
          when :tcp then new(:local, nil)
          when :ssl then new(:certname, certificates.certname(env['puma.peercert']))
          end
        end
      end

      def initialize(kind, name, uid = nil)
        @kind = kind
        @name = name
        @uid = uid
      end

      # @return [Boolean] whether this is root, or the user of the service, who can read all that the service can
      def owner?
        @kind == :user && [0, Process.euid].include?(@uid)
      end

      # @return [String] for the log of requests and the audit log
      def to_s
        { user: "user:#{name}", local: LOCAL, certname: name }.fetch(@kind)
      end
    end
  end
end
