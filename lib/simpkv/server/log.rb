# frozen_string_literal: true

module Simpkv
  module Server
    # The log of the service. If a line cannot be written, for instance because the disk is full, the line is lost and
    # the service goes on: clients need their keys more than the log. The audit log is another one, see {Audit}.
    class Log
      # @param stream [IO] unbuffered
      def initialize(stream)
        @stream = stream
      end

      # @param text [String] whole lines
      # @return [void]
      def write(text)
        @stream.write(text)
      rescue SystemCallError, IOError
        nil
      end

      # Writes a line about the service itself.
      #
      # @param message [#to_s]
      # @return [void]
      def call(message)
        write("simpkv: #{message}\n")
      end
    end
  end
end
