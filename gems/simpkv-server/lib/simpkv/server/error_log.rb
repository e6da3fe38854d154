# frozen_string_literal: true

require 'puma/log_writer'

module Simpkv
  module Server
    # The log of Puma itself. Puma would print parts of requests that it cannot read, or its internal state; this log
    # has the class of each error only.
    class ErrorLog < Puma::LogWriter
      # The process has no file descriptor for a new connection.
      EXHAUSTED = [Errno::EMFILE, Errno::ENFILE].freeze
      # The files of Puma that read requests, and the methods there in which code fails that relies on what malformed
      # ones do not have: at the size of a chunk, at a part of a trailer, at an address that is no path, and where Puma
      # puts the parts of a malformed head into a message.
      READERS = %w[puma/client.rb puma/client_env.rb].freeze
      READS = %w[decode_chunk parser_execute normalize_env].freeze
      # Seconds until the thread that accepts connections tries again. Puma alone would try, and log, without a pause.
      PAUSE = 1
      KNOWN = [Puma::HttpParserError, Puma::HttpParserError501, Puma::ConnectionError, Puma::MiniSSL::SSLError,
               SystemCallError, IOError].freeze
      NOTED = :'simpkv noted error'
      private_constant :EXHAUSTED, :READERS, :READS, :PAUSE, :KNOWN, :NOTED

      class << self
        # @param error [Exception] that Puma did not expect
        # @return [String, nil] the method of Puma that could not read the request, if a malformed request is the
        #   reason, not an error of the service, or of a disk. nil for those errors that Puma knows
        def malformed(error)
          return if KNOWN.any? { |type| error.is_a?(type) }

          places = error.backtrace_locations.to_a.select { |place| READERS.any? { |file| place.path.end_with?(file) } }
          places.map(&:base_label).find { |method| READS.include?(method) }
        end

        # Notes the request that an error is about. Puma does not say it when it reports the error, in the same thread.
        #
        # @param error [Exception]
        # @param id [String] of the response
        # @param peer [String]
        # @return [void]
        def note(error, id, peer)
          Thread.current[NOTED] = [error, { id: id, from: peer }]
        end

        # @return [Hash{Symbol => String}] the request that an error is about, as far as it is known
        def noted(error)
          other, request = Thread.current[NOTED]
          error.equal?(other) ? request : {}
        end
      end

      # @param log [Log]
      def initialize(log)
        super(Puma::NullIO.new, log)
        @log = log
      end

      # Reports an error that keeps Puma from starting.
      #
      # @raise [ConfigError]
      def error(text)
        raise ConfigError, "the service cannot start: #{text}"
      end

      # A client that sends nonsense, has no certificate, or has gone.
      %i[connection_error parse_error ssl_error].each do |name|
        define_method(name) { |error, client = nil, *_| report('a connection was refused', error, client) }
      end

      # @param error [Exception]
      # @return [void]
      def unknown_error(error, client = nil, *)
        return parse_error(error, client) if self.class.malformed(error)

        at = "internal error at #{error.backtrace&.first}"
        return report(at, error, client) unless EXHAUSTED.include?(error.class)

        report('there are too many connections: new ones wait', error)
        sleep(PAUSE)
      end

      # @return [nil]
      def debug_error(*)
        nil
      end

      private

      # @param client [Puma::Client, Connection, nil]
      def report(what, error, client = nil)
        connection = client.respond_to?(:io) ? client.io : client
        known = connection.is_a?(Connection) ? { from: connection.peer_name } : {}
        @log.call("#{what}: #{error.class.name}", **known, **self.class.noted(error))
      end
    end
  end
end
