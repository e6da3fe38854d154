# frozen_string_literal: true

module Simpkv
  module Server
    # Extends a socket of the system, so that a client which does not read a response, or reads it very slowly, does not
    # hold a thread. Puma and its TLS write to the socket with these methods; Puma bounds the time between two parts of
    # a response only, and that of a file, or over TLS, not at all.
    module PacedWrites
      # A client may be late by so many seconds, if it takes so many bytes a second on average.
      SECONDS = 30
      BYTES = 128 * 1024

      # The next bytes are of another response.
      #
      # @return [void]
      def begin_response
        @due = nil
      end

      # From now on, a write that would wait ends the connection.
      #
      # @return [void]
      def never_wait
        @due = -Float::INFINITY
      end

      def write_nonblock(bytes, exception: true)
        now = Clock.now
        @due ||= now + SECONDS
        written = super
        @due = [@due + (written / BYTES.to_f), now + SECONDS].min if written.is_a?(Integer)
        written
      end

      # @return [Integer] the number of bytes
      # @raise [Errno::ETIMEDOUT] the client reads too slowly
      def write(bytes)
        sent = 0
        while sent < bytes.bytesize
          rest = sent.zero? ? bytes : bytes.byteslice(sent..-1)
          written = write_nonblock(rest, exception: false)
          next sent += written unless written == :wait_writable

          wait_writable || raise(Errno::ETIMEDOUT)
        end
        sent
      end

      # @param seconds [Numeric]
      # @return [Object, nil] nil if the client is late
      def wait_writable(seconds = SECONDS)
        left = @due - Clock.now
        super([seconds, left].min) if left.positive?
      end
    end
    private_constant :PacedWrites
  end
end
