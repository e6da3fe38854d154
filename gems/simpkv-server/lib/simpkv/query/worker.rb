# frozen_string_literal: true

require 'io/wait'
require 'json'
require 'rbconfig'
require 'socket'
require 'simpkv/query'

module Simpkv
  module Query
    # A process that answers queries, as the service that has started it sees it. It ends when the service ends: its
    # socket reaches the end then. One thread at a time may use it.
    #
    # A request is an open file, which receives the answer, and a line of JSON: see {Question}. The worker replies with
    # a line of JSON when it has written the answer. The text of an answer never passes through the service.
    class Worker
      # The variables of the environment that a worker keeps: those that Ruby and RubyGems need.
      ENVIRONMENT = %w[PATH HOME LANG LC_ALL LC_CTYPE TZ GEM_HOME GEM_PATH LD_LIBRARY_PATH].freeze
      # Seconds until a new worker must have loaded its code.
      START = 60
      # Bytes of a reply.
      REPLY_MAX = 65_536
      # The descriptor of the socket in the worker.
      SOCKET = 3
      PROGRAM = 'Simpkv::Query::WorkerProcess.start(*ARGV)'
      private_constant :ENVIRONMENT, :START, :REPLY_MAX, :SOCKET, :PROGRAM

      # The worker has ended, or cannot start.
      class EndedError < Simpkv::Error; end

      # @return [Integer] the process ID
      attr_reader :pid

      # Starts a worker, and waits until it is ready.
      #
      # @param index [String, nil] the path of the database
      # @raise [EndedError]
      def initialize(index)
        @socket, theirs = UNIXSocket.pair
        @pid = Process.spawn(environment(index), *command(index), SOCKET => theirs, in: File::NULL,
                                                                  unsetenv_others: true, close_others: true,
                                                                  pgroup: true, chdir: '/')
        theirs.close
        reply = receive(Clock.now + START)
        raise EndedError, "the worker cannot start: #{reply['error']}" unless reply['ready']
      rescue SystemCallError, Simpkv::Error => e
        kill
        raise e.is_a?(EndedError) ? e : EndedError.new("the worker cannot start: #{e.message}"), cause: nil
      end

      # Has a question answered. A worker that has not replied is killed, whatever the reason is: the next question
      # would get its reply.
      #
      # @param question [Hash{String => Object}] see {Question}
      # @param file [File] receives the answer
      # @param deadline [Float] see {Clock.now}
      # @return [Hash{String => Object}] the reply: see {WorkerProcess}
      # @raise [InvalidError] the question cannot be sent
      # @raise [LimitError] the deadline has passed
      # @raise [EndedError] it has ended
      def ask(question, file, deadline)
        text = line(question)
        replied = false
        @socket.send_io(file)
        send(text, deadline)
        receive(deadline).tap { replied = true }
      rescue SystemCallError
        raise ended
      ensure
        kill if replied == false
      end

      # @return [Boolean] whether the process runs. One that has ended is forgotten, with its socket
      def alive?
        return false if @pid.nil?

        running = Process.wait(@pid, Process::WNOHANG).nil?
        forget unless running
        running
      rescue Errno::ECHILD
        forget
        false
      end

      # Ends the process at once.
      #
      # @return [void]
      def kill
        end_by { Process.kill(:KILL, @pid) }
      end

      # Ends the process, which waits for a question.
      #
      # @return [void]
      def close
        end_by { @socket.close }
      end

      private

      def end_by
        return unless @pid

        yield
        Process.wait(@pid)
      rescue Errno::ESRCH, Errno::ECHILD
        nil # It has ended.
      ensure
        forget
      end

      # The process ID may soon be that of another process.
      def forget
        @pid = nil
        @socket&.close
      end

      # SQLite makes its temporary files beside the index, which may be in memory for a reason.
      def environment(index)
        ENV.to_h.slice(*ENVIRONMENT).merge(index ? { 'SQLITE_TMPDIR' => File.dirname(index) } : {})
      end

      # The same Ruby, with the same folders of code.
      def command(index)
        [RbConfig.ruby, *$LOAD_PATH.map { |folder| "-I#{File.expand_path(folder.to_s)}" },
         '-rsimpkv/query/worker_process', '-e', PROGRAM, SOCKET.to_s, index.to_s]
      end

      # @return [String]
      def line(question)
        "#{JSON.generate(question)}\n"
      rescue JSON::GeneratorError, JSON::NestingError
        raise InvalidError, 'the query is nested too deeply, or has text that is not UTF-8', cause: nil
      end

      def send(text, deadline)
        until text.empty?
          written = @socket.write_nonblock(text, exception: false)
          if written == :wait_writable
            late unless @socket.wait_writable(remaining(deadline))
          else
            text = text.byteslice(written..-1)
          end
        end
      end

      # @return [Hash{String => Object}]
      def receive(deadline)
        text = +''
        until text.end_with?("\n")
          late unless @socket.wait_readable(remaining(deadline))
          text << @socket.readpartial(REPLY_MAX)
        end
        JSON.parse(text)
      rescue EOFError, JSON::ParserError
        raise ended, cause: nil
      end

      # An answer that has arrived counts, also if it is late.
      def remaining(deadline)
        [deadline - Clock.now, 0].max
      end

      def late
        raise LimitError, "the request takes longer than the option 'query_seconds' allows"
      end

      def ended
        _, status = Process.wait2(@pid)
        EndedError.new("the worker has ended: #{how(status)}")
      rescue Errno::ECHILD
        EndedError.new('the worker has ended')
      ensure
        forget
      end

      def how(status)
        status.signaled? ? "signal #{status.termsig}" : "exit code #{status.exitstatus}"
      end
    end
  end
end
