# frozen_string_literal: true

require 'open3'

module Simpkv
  module Server
    # Runs `simpkv doctor` as a process of its own: what it examines belongs to the command, which is above the service,
    # and its memory goes back to the system. It stores nothing. Thread-safe.
    class DoctorProcess
      # Seconds after which it is ended.
      SECONDS = 900
      # The exit codes with findings: without and with a problem.
      CODES = [0, 69].freeze
      private_constant :SECONDS, :CODES

      # @param command [Array<String>, nil] the words of the command line, which prints JSON; nil if there is none
      def initialize(command)
        @command = command
        @mutex = Mutex.new
      end

      # @return [Array<Hash>] the findings: `state`, `what`, and perhaps `why` and `fix`
      # @raise [Error] it does not end, or fails
      def findings
        raise InvalidError, 'simpkv doctor cannot read options that came from standard input' unless @command

        out, err, code = run
        raise UnavailableError, "simpkv doctor failed: #{err.lines.last.to_s.strip}" unless CODES.include?(code)

        Native.parse(out)
      rescue MalformedError
        raise UnavailableError, 'simpkv doctor did not print its findings', cause: nil
      end

      # Ends the process, if there is one.
      #
      # @return [void]
      def stop
        @mutex.synchronize do
          @stopped = true
          kill(@pid) if @pid
        end
      end

      private

      # @return [Array(String, String, Integer)] what it printed, and its exit code; nil for that if it was ended
      def run
        Open3.popen3(*@command, close_others: true) do |input, *outputs, process|
          input.close
          began(process.pid)
          readers = outputs.map { |io| Thread.new { io.read.force_encoding(Encoding::UTF_8).scrub } }
          kill(process.pid) unless process.join(SECONDS)
          [*readers.map(&:value), process.value.exitstatus]
        end
      rescue SystemCallError => e
        raise UnavailableError, "simpkv doctor cannot be started: #{e.message}", cause: nil
      ensure
        @mutex.synchronize { @pid = nil }
      end

      def began(pid)
        @mutex.synchronize do
          @pid = pid
          kill(pid) if @stopped
        end
      end

      def kill(pid)
        Process.kill(:KILL, pid)
      rescue Errno::ESRCH
        nil # It has ended.
      end
    end
  end
end
