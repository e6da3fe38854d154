# frozen_string_literal: true

require 'json'
require 'tempfile'
require 'simpkv/query/answer_writer'
require 'simpkv/query/report_details'
require 'simpkv/query/worker'

module Simpkv
  module Query
    # The workers of a service, which answer its queries and perform other {Tasks}. They start when there are any, and
    # one that ends is replaced at the next one. Thread-safe.
    class Workers
      # No worker has become free in time, or as many queries wait already as may.
      class BusyError < Simpkv::TransientError; end

      # An unexpected error in a worker. Its backtrace has the class of that error and the line of code.
      class DefectError < StandardError; end

      BUSY = 'all workers are busy with other requests'
      # By the error in a reply.
      ERRORS = { 'limit' => LimitError, 'too_large' => TooLargeError, 'stale' => StaleError,
                 'unavailable' => UnavailableError }.freeze
      private_constant :BUSY, :ERRORS

      # An answer of a worker: `file` has its text, and is positioned at the beginning. `missing` names what the path of
      # the question names and the index does not have. `details` is true if it has details of reports, from the store.
      Answer = Struct.new(:file, :bytes, :rows, :total, :missing, :details) do
        # Reads the answer whole, and closes its file.
        #
        # @return [Object]
        def data
          JSON.parse(file.read, max_nesting: false)
        ensure
          file.close
        end
      end

      # @param index [String, nil] the path of the database; nil for workers without one, which answer no queries
      # @param count [Integer] the number of workers
      # @param seconds [Numeric] the time that a query may take; it may wait for a worker as long
      # @param rows [Integer] the number of rows that an answer may have
      # @param waiting [Numeric] the number of queries that may wait for a worker. One whose answer receives details of
      #   reports, after its worker, counts as one of these
      def initialize(index, count:, seconds:, rows:, waiting: Float::INFINITY)
        @index = index
        @seconds = seconds
        @rows = rows
        @waiting_max = waiting
        @waiting = 0
        @mutex = Mutex.new
        @changed = ConditionVariable.new
        # A worker, or nil in place of one that does not run.
        @idle = Array.new(count)
        @count = count
        @closed = false
      end

      # @param question [Hash{String => Object}] see {Question}; beside its members `pretty` and `ast_only`
      # @param estate [Estate, nil] from which details of reports are read, that the answer has; nil to have null in
      #   their place
      # @return [Answer] the caller closes its file
      # @raise [InvalidError] the query is wrong
      # @raise [LimitError] it takes too long, or the answer is too large
      # @raise [DamagedError] the index must be deleted
      # @raise [BusyError, UnavailableError] try again later
      # @raise [DefectError, Worker::EndedError, Simpkv::Error]
      def ask(question, estate = nil)
        details = estate && ReportDetails.new(estate, 2 * @seconds)
        question = question.merge('seconds' => @seconds, 'rows' => @rows, 'details' => details&.secret)
        answer, marked = with_worker do |worker|
          answer(worker, question).tap { |_, with_marks| count_waiting(1) if with_marks }
        end
        marked ? filled(answer, details) : answer
      end

      # @param task [Hash{String => Object}] see {Tasks}
      # @return [Object] the result
      # @raise [Simpkv::InvalidError, TooLargeError, LimitError, BusyError, DefectError, Worker::EndedError]
      def perform(task)
        with_worker do |worker|
          reply = File.open(File::NULL, 'w') do |unused|
            worker.ask(task.merge('seconds' => @seconds), unused, Clock.now + @seconds)
          end
          raise error(reply) if reply['error']

          reply['result']
        end
      rescue InvalidError => e
        raise Simpkv::InvalidError, e.message, cause: nil
      end

      # Makes a file for what comes from answers. It may hold what must not be on a disk, as the index: it is beside it.
      # No other process can open it.
      #
      # @return [File]
      # @raise [UnavailableError]
      def answer_file
        File.open(File.dirname(@index), File::RDWR | File::TMPFILE, 0o600)
      rescue Errno::EOPNOTSUPP, Errno::EISDIR
        Tempfile.create('.answer', File.dirname(@index)).tap { |file| File.unlink(file.path) }
      rescue SystemCallError => e
        raise UnavailableError, "the folder of the index cannot be used: #{e.class.name}", cause: nil
      end

      # Calls the block, which waits for what a query needs, as one of the queries that wait for a worker.
      #
      # @return [Object] what the block returns
      # @raise [BusyError] as many wait already as may
      def queued
        @mutex.synchronize do
          raise BusyError, "#{BUSY}, and as many wait as may" if @waiting >= [@waiting_max, 1].max

          @waiting += 1
        end
        begin
          yield
        ensure
          count_waiting(-1)
        end
      end

      # @return [Array<Integer>] the process IDs of the workers that wait
      def pids
        @mutex.synchronize { @idle.compact.map(&:pid) }
      end

      # Ends the workers as soon as they have answered.
      #
      # @return [void]
      def close
        @mutex.synchronize do
          return if @closed

          @closed = true
          @changed.broadcast
          @count.times do
            @changed.wait(@mutex) while @idle.empty?
            @idle.shift&.close
          end
        end
      end

      private

      # @return [Array(Answer, Boolean)] the answer, and whether it has marks of details
      def answer(worker, question)
        file = answer_file
        reply = worker.ask(question, file, Clock.now + @seconds)
        raise error(reply) if reply['error']

        file.rewind
        [Answer.new(file, *reply.values_at('bytes', 'rows', 'total', 'missing')), reply['details']]
      rescue Simpkv::Error
        file&.close
        raise
      end

      # @return [Answer] with details in place of marks
      def filled(answer, details)
        file = answer_file
        bytes = details.fill(answer.file, file)
        file.rewind
        Answer.new(file, bytes, answer.rows, answer.total, answer.missing, true)
      rescue StandardError
        file&.close
        raise
      ensure
        answer.file.close
        count_waiting(-1)
      end

      def count_waiting(change)
        @mutex.synchronize { @waiting += change }
      end

      def with_worker
        worker = take
        begin
          worker = Worker.new(@index) unless worker&.alive?
          yield worker
        ensure
          give_back(worker&.pid ? worker : nil)
        end
      end

      # @return [Worker, nil]
      def take
        deadline = Clock.now + @seconds
        @mutex.synchronize do
          raise BusyError, "#{BUSY}, and as many wait as may" if full?

          wait(deadline)
          raise BusyError, 'the service ends' if @closed

          worker = @idle.compact.first
          @idle.delete_at(@idle.index(worker))
        end
      end

      def full?
        !@closed && @waiting - @idle.length >= @waiting_max
      end

      # Waits until there is a worker, or the service ends.
      def wait(deadline)
        @waiting += 1
        while @idle.empty? && !@closed
          left = deadline - Clock.now
          raise BusyError, BUSY if left <= 0

          @changed.wait(@mutex, left)
        end
      ensure
        @waiting -= 1
      end

      def give_back(worker)
        @mutex.synchronize do
          @idle.push(worker)
          @changed.broadcast
        end
      end

      def error(reply)
        message = reply['message']
        case reply['error']
        when *ERRORS.keys then ERRORS.fetch(reply['error']).new(message)
        when 'invalid' then InvalidError.new(message, reply['place'])
        when 'damaged' then DamagedError.new
        when 'full' then FullError.new("the disk of the index of queries, #{@index}, is full")
        else DefectError.new('internal error of a worker').tap { |defect| defect.set_backtrace([message]) }
        end
      end
    end
  end
end
