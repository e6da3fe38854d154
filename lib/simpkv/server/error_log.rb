# frozen_string_literal: true

require 'puma/log_writer'

module Simpkv
  module Server
    # The log of Puma itself. Puma would print parts of requests that it cannot read, or its internal state; this log
    # has the class of each error only.
    class ErrorLog < Puma::LogWriter
      # The process has no file descriptor for a new connection.
      EXHAUSTED = [Errno::EMFILE, Errno::ENFILE].freeze
      # The file of Puma that reads requests, and its methods that fail at malformed ones with a NoMethodError: at a
      # part of a trailer after a chunked body, and where Puma puts the parts of a malformed head into a message.
      READER = 'puma/client.rb'
      READS = %w[decode_chunk parser_execute].freeze
      # Seconds until the thread that accepts connections tries again. Puma alone would try, and log, without a pause.
      PAUSE = 1
      private_constant :EXHAUSTED, :READER, :READS, :PAUSE

      # @param error [Exception] that Puma did not expect
      # @return [Boolean] whether a malformed request is the reason, not an error of the service
      def self.malformed?(error)
        place = error.backtrace_locations&.first if error.is_a?(NoMethodError)
        !place.nil? && place.path.end_with?(READER) && READS.include?(place.base_label)
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
        define_method(name) { |error, *_| report('a connection was refused', error) }
      end

      # @param error [Exception]
      # @return [void]
      def unknown_error(error, *)
        return parse_error(error) if self.class.malformed?(error)
        return report("internal error at #{error.backtrace&.first}", error) unless EXHAUSTED.include?(error.class)

        report('there are too many connections: new ones wait', error)
        sleep(PAUSE)
      end

      # @return [nil]
      def debug_error(*)
        nil
      end

      private

      def report(what, error)
        @log.call("#{what}: #{error.class.name}")
      end
    end
  end
end
