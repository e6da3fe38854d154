# frozen_string_literal: true

module Simpkv
  module Audit
    # An audit log of this process: a file, or syslog. Thread-safe. Counts the lines that are lost while it cannot be
    # written, and says so in a line of its own as soon as it can.
    class Log
      # The time to wait for other writers or the syslog daemon.
      TIMEOUT_MS = 1000
      private_constant :TIMEOUT_MS

      LOGS = {} # rubocop:disable Style/MutableConstant
      LOCK = Mutex.new
      private_constant :LOGS, :LOCK

      # @param target [String] the option `to`
      # @return [Log] the one of this process
      # @raise [InvalidError] the core does not take the target
      def self.to(target)
        LOCK.synchronize { LOGS[target] ||= new(target) }
      end

      # @return [String] the option `to`
      attr_reader :target

      # @param target [String]
      def initialize(target)
        @target = target
        @native = Native::AuditLog.new(target)
        @lost = 0
        @lock = Mutex.new
      end

      # Reserves disk space, so that the lines of an operation fit when it is done.
      #
      # @param bytes [Integer]
      # @return [nil]
      # @raise [Error] the log cannot be written
      def reserve(bytes)
        @native.reserve(bytes, TIMEOUT_MS)
      end

      # @param lines [String] each ends in a newline
      # @return [nil]
      # @raise [Error] the log cannot be written
      def write(lines)
        lost = take_lost
        @native.write(lost.zero? ? lines : Line.lost(lost) + lines, TIMEOUT_MS)
        nil
      rescue Error
        @lock.synchronize { @lost += lost + lines.count("\n") }
        raise
      end

      private

      # @return [Integer] the number of lost lines, which no other thread reports then
      def take_lost
        return 0 if @lost.zero?

        @lock.synchronize do
          lost = @lost
          @lost = 0
          lost
        end
      end
    end
  end
end
