# frozen_string_literal: true

require 'simpkv/status/exposition'
require 'simpkv/unsafe_characters'

module Simpkv
  module Server
    # The log of the service. A thread writes it, so that no request waits for it: clients need their keys more than the
    # log. If nobody reads it, or the disk is full, lines are lost and counted, and a later line says how many. The
    # audit log is another one, see {Audit}. Thread-safe.
    class Log
      # The number of lines that wait to be written.
      LINES = 1000
      # Seconds that the end of the process waits for them.
      FLUSH = 2
      private_constant :LINES, :FLUSH

      # @param stream [IO] unbuffered
      # @param debug [Boolean] whether to write what only somebody needs who looks for an error of a client
      def initialize(stream, debug: false)
        @stream = stream
        @debug = debug
        @lines = SizedQueue.new(LINES)
        @mutex = Mutex.new
        @lost = 0
        @reported = 0
        at_exit { close }
      end

      # Writes a line.
      #
      # @param message [#to_s]
      # @param id [String, nil] of the request that it is about
      # @param from [#to_s] the caller, or the peer. Lines about the service itself have its name
      # @return [void]
      def call(message, id: nil, from: 'simpkv:')
        text = UnsafeCharacters.escaped("#{from} #{message}").tr("\n", ' ')
        write("#{time} #{id || '-'} #{text}\n")
      end

      # Writes a line if {#initialize} has `debug`.
      #
      # @param line [Hash{Symbol => Object}] see {#call}
      # @yieldreturn [String, nil] nil for no line
      # @return [void]
      def debug(**line)
        message = yield if @debug
        call(message, **line) if message
      end

      # @param text [String] whole lines
      # @return [void]
      def write(text)
        @mutex.synchronize do
          @thread ||= Thread.new { run }
          lost = @lost - @reported
          @lines.push([lost.zero? ? text : "#{report(lost)}#{text}", lost], true)
          @reported = @lost
        rescue ThreadError, ClosedQueueError
          @lost += 1
        end
      end

      # @return [String] metrics in the text format of Prometheus
      def text
        page = Status::Exposition.new
        page.counter(:simpkv_log_lines_lost_total, 'Lines of the log that were lost.', @mutex.synchronize { @lost })
        page.text
      end

      # Waits until the lines are written, but not long. Later ones are lost.
      #
      # @return [void]
      def close
        @lines.close
        @thread&.join(FLUSH)
      end

      private

      def time
        Time.now.utc.strftime('%Y-%m-%dT%H:%M:%S.%LZ')
      end

      def report(lost)
        "#{time} - simpkv: #{lost} lines of the log were lost here: they could not be written, or nobody read them\n"
      end

      def run
        while (text, reported = @lines.pop)
          put(text, reported)
        end
      end

      # @param reported [Integer] the number of lost lines that the text reports
      def put(text, reported)
        @stream.write(text)
      rescue SystemCallError, IOError
        @mutex.synchronize do
          @lost += 1
          @reported -= reported
        end
      end
    end
  end
end
