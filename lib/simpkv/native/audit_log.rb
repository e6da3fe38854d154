# frozen_string_literal: true

module Simpkv
  module Native
    # Lines that are appended to a file or sent to syslog. Any number of threads and processes may write to one log.
    class AuditLog
      include Handle

      # Opens nothing yet.
      #
      # @param target [String] the absolute path of a file, `syslog`, or `syslog:` and the absolute path of a socket
      # @raise [InvalidError] another target
      def initialize(target)
        hold(:skv_audit_close, 'the audit log has a target already') do |r|
          Library.skv_audit_open(*Calls.bytes(target), r)
        end
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

      def call(function, *arguments)
        with_handle('the audit log has no target') do |audit|
          Calls.reply { |r| Library.public_send(function, audit, *arguments, r) }
        end
        nil
      end
    end
  end
end
