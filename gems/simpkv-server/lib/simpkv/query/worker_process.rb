# frozen_string_literal: true

require 'json'
require 'io/wait'
require 'socket'
require 'simpkv/query'
require 'simpkv/query/answer_writer'

module Simpkv
  module Query
    # What a worker does: see {Worker}. Its replies:
    #
    # `{"ready": true}`:: at the start
    # `{"rows": 2, "bytes": 50, "total": null}`:: it has written an answer; `missing` names what there is not, and
    #   `details` says whether it has marks of details: see {ReportDetails}
    # `{"result": ...}`:: it has performed a task: see {Tasks}
    # `{"error": "invalid", "message": "...", "place": null}`:: the query is wrong; others are `limit`, `stale`,
    #   `unavailable`, `damaged` and `full` (the index and its disk), `too_large`, `internal`
    #
    # A message about an internal error has no text of the error, which could have a value.
    class WorkerProcess
      # Bytes of memory that the process may map.
      MEMORY = 1024 * 1024 * 1024
      # Characters of a message.
      MESSAGE_MAX = 10_000
      private_constant :MEMORY, :MESSAGE_MAX

      class << self
        # Answers questions until the service ends.
        #
        # @param descriptor [String] the number of the descriptor of the socket
        # @param index [String] the path of the database
        # @return [void]
        def start(descriptor, index)
          # A terminal or systemd sends signals to all processes of the service, which may answer until it closes the
          # socket.
          %w[TERM INT HUP USR1 USR2].each { |signal| trap(signal, 'IGNORE') }
          Process.setproctitle('simpkv query worker')
          new(UNIXSocket.for_fd(Integer(descriptor)), index).run
        end
      end

      def initialize(socket, index)
        @socket = socket
        @path = index
      end

      # @return [void]
      def run
        ready = start_up
        say(ready)
        return unless ready['ready']

        while (file = receive_file) && (line = @socket.gets)
          say(reply(file, JSON.parse(line)))
          file.close
        end
      rescue EOFError, SystemCallError, JSON::ParserError
        nil # The service has ended, maybe within a line. The message of the parser would have a part of the query.
      end

      private

      def start_up
        require 'simpkv/query/index'
        require 'simpkv/query/question'
        require 'simpkv/query/tasks'
        Process.setrlimit(:AS, MEMORY)
        { 'ready' => true }
      rescue LoadError, StandardError => e
        { 'error' => e.is_a?(LoadError) ? e.message : place(e) }
      end

      # @return [File, nil] nil if the service has ended
      def receive_file
        @socket.wait_readable
        @socket.recv_io(File, 'w').tap { |file| file.sync = true }
      rescue SocketError
        nil
      end

      def reply(file, question)
        bound_time(question.fetch('seconds'))
        return { 'result' => (@tasks ||= Tasks.new).perform(question) } if question['task']

        question['ast_only'] ? write_ast(file, question) : write_answer(file, question)
      rescue Simpkv::Error, ConfigError => e
        refusal(e)
      rescue NoMemoryError, SystemStackError
        error('limit', 'the query needs too much memory')
      rescue StandardError => e
        failure(e)
      end

      def refusal(error)
        case error
        when InvalidError then error('invalid', error.message).merge('place' => error.place)
        when Simpkv::InvalidError then error('invalid', error.message)
        when LimitError then error('limit', error.message)
        when TooLargeError then error('too_large', error.message)
        when StaleError then error('stale', error.message)
        when TransientError, ConfigError then error('unavailable', error.message)
        else error('internal', place(error))
        end
      end

      # Errors of SQLite have messages with a part of the query.
      def failure(error)
        case error
        when SQLite3::CorruptException, SQLite3::NotADatabaseException then error('damaged', nil)
        when SQLite3::FullException, Errno::ENOSPC then error('full', nil)
        else error('internal', place(error))
        end
      end

      # If the service has ended meanwhile, nobody kills this process at the limit. The kernel does then: seconds of the
      # processor never pass faster than those of the clock.
      def bound_time(seconds)
        used = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        Process.setrlimit(:CPU, (used + seconds).ceil + 1, Process::RLIM_INFINITY)
      end

      def write_answer(file, members)
        question = Question.new(members)
        writer = AnswerWriter.new(file, limit: members.fetch('rows'), one: question.one?, pretty: members['pretty'])
        outcome = question.answer(database) { |row| writer.add(row) }
        { 'bytes' => writer.finish, 'rows' => writer.rows, **outcome.to_h.transform_keys(&:to_s) }
      end

      def write_ast(file, members)
        { 'bytes' => file.write(JSON.generate(Question.new(members).ast)), 'rows' => 1, 'total' => nil }
      end

      # @return [SQLite3::Database] of the index. A rebuilt index is another file
      # @raise [StaleError] it is not complete yet
      def database
        there = identity
        connect(there) if @database.nil? || @identity != there
        Index::State.of(@database).demand(Float::INFINITY)
        @database
      end

      # If another file takes its place meanwhile, the next question finds it.
      def connect(identity)
        @database&.close
        @database = Index.open(@path) { |database| database.execute('PRAGMA query_only = ON') }
        @identity = identity
      end

      def identity
        file = File.stat(@path)
        [file.dev, file.ino]
      rescue Errno::ENOENT
        raise StaleError, 'the index of queries is being built', cause: nil
      end

      def error(kind, message)
        { 'error' => kind, 'message' => message.to_s.scrub[0, MESSAGE_MAX] }
      end

      def place(error)
        "#{error.class} at #{error.backtrace&.first}"
      end

      def say(reply)
        @socket.write("#{JSON.generate(reply)}\n")
      end
    end
  end
end
