# frozen_string_literal: true

module Simpkv
  module Native
    # Lines that are appended to a file or sent to syslog. Any number of threads and processes may write to one log.
    class AuditLog
      KEEPING = Mutex.new
      private_constant :KEEPING

      # Opens nothing yet.
      #
      # @param target [String] the absolute path of a file, `syslog`, or `syslog:` and the absolute path of a socket
      # @raise [InvalidError] another target
      def initialize(target)
        refuse_target
        Calls.uninterrupted do
          made = Calls.handle(:skv_audit_close) { |r| Library.skv_audit_open(*Calls.bytes(target), r) }
          # Another thread may have initialized the object meanwhile.
          KEEPING.synchronize do
            refuse_target
            @audit = made
          end
        end
      end

      # Makes an object without a target, as the extension does.
      def initialize_copy(_original)
        @audit = nil
      end

      # Reserves disk space, so that a following {#write} does not fail for lack of it.
      #
      # @param bytes [Integer] the bytes of the lines
      # @param timeout_ms [Integer] for other writers
      # @return [nil]
      # @raise [UnavailableError] the disk is full, or there is no such folder
      # @raise [DeniedError, InvalidError, TimeoutError] the file cannot be used, or cannot reserve space
      def reserve(bytes, timeout_ms)
        call(:skv_audit_reserve, bytes, timeout_ms)
      end

      # Appends lines to the file, all of them or none. Sends each to syslog as a message of its own.
      #
      # @param lines [String] one or more, each with a newline at its end
      # @param timeout_ms [Integer] for other writers or the syslog daemon
      # @return [nil]
      # @raise [UnavailableError] the disk is full; there is no such folder, or no daemon
      # @raise [TimeoutError] another process keeps the file locked; the daemon takes no more messages
      # @raise [DeniedError, InvalidError] the file cannot be used
      def write(lines, timeout_ms)
        call(:skv_audit_write, *Calls.bytes(lines), timeout_ms)
      end

      private

      def refuse_target
        raise InvalidError, 'the audit log has a target already' if @audit
      end

      def call(function, *arguments)
        audit = @audit
        raise InvalidError, 'the audit log has no target' unless audit

        begin
          Calls.reply { |r| Library.public_send(function, audit, *arguments, r) }
          nil
        ensure
          # This reference keeps the garbage collector from closing the log during the call.
          audit.address
        end
      end
    end
  end
end
