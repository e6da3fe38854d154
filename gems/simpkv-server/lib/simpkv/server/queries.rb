# frozen_string_literal: true

require 'simpkv/query/index'
require 'simpkv/query/keeper'
require 'simpkv/query/workers'
require 'simpkv/status/exposition'

module Simpkv
  module Server
    # Queries: the index, which a thread keeps up with the store, and the workers that answer from it. Thread-safe.
    class Queries
      # Seconds that a query waits for the first comparison of the index with the store, unless there are so many nodes
      # that this says how far it is.
      WAIT = 5
      STEP = 0.05
      # The number of the last commands whose nodes are known.
      COMMANDS = 1000
      private_constant :WAIT, :STEP, :COMMANDS

      # A key of the environment of Rack: that the answer to a request comes from an index that is {#behind}.
      BEHIND = 'simpkv.index_behind'

      # The index is not refreshed now, and has what the store had at an earlier time, a text of RFC 3339.
      Behind = Struct.new(:since, :why)

      # Queries hold at most three quarters of the threads until they are answered, or as many as there are workers if
      # that is more. Of two or more threads, one is always left for other requests.
      #
      # @param threads [Integer] of the service
      # @param workers [Integer] the option `query_workers`
      # @return [Array(Integer, Integer)] the number of queries that run at once, and of those that wait
      def self.limits(threads, workers)
        running = workers.clamp(1, [threads - 1, 1].max)
        [running, [(threads * 3 / 4) - running, 0].max]
      end

      # @param options [Hash{String => Object}] of the section `server`: see {Config::Sections::Server}
      # @param index [String, nil] the path of the database
      # @return [Query::Workers] one at least: see {Work}
      def self.workers(options, index = nil)
        count, waiting = limits(*options.values_at('threads', 'query_workers'))
        Query::Workers.new(index, count: count, waiting: waiting, seconds: options['query_seconds'],
                                  rows: options['query_rows'])
      end

      # @return [Query::Workers]
      attr_reader :workers

      # @param options [Hash{String => Object}] of the section `server`: see {Config::Sections::Server}
      # @param site [Site]
      # @param caller [Caller] in whose name the index is made
      # @param log [#call] receives errors of the index
      # @raise [ConfigError] there is no folder for the index
      def initialize(options, site, caller, log)
        @age_max = options['query_age']
        @seconds = options['query_seconds']
        @estate = -> { site.estate(caller) }
        @index = Query::Index.of(@estate.call, options['index'])
        @commands = {}
        @mutex = Mutex.new
        @keeper = Query::Keeper.new(age: @age_max, log: log) do |stopping|
          Query::Builder.new(@estate.call, @index, warn: log, stopping: stopping)
        end
        @workers = self.class.workers(options, @index.path)
      end

      # @return [void]
      def start
        @keeper.start
      end

      # Ends the thread.
      #
      # @return [void]
      def stop
        @keeper.stop
      end

      # Notes that a command has been carried out, for queries that wait for it.
      #
      # @param uuid [String]
      # @param certname [String] of the node that it was about
      # @return [void]
      def note(uuid, certname)
        @mutex.synchronize do
          @commands.shift if @commands.length >= COMMANDS
          @commands[uuid] = certname
        end
      end

      # Waits until the index has what a command has stored, that is, what the store has now. It compares all nodes if
      # it does not know the command, as one of another service. In a replica, no comparison shows that it is there.
      #
      # @param uuid [String] of the answer to the command
      # @return [void]
      # @raise [Query::StaleError] the index is too old, or does not have it in time
      # @raise [Simpkv::Error]
      def await_command(uuid)
        certname = @mutex.synchronize { @commands[uuid] }
        return await_node(certname) if certname

        check
        if @estate.call.replica?
          raise Query::StaleError, "this service does not know the command '#{uuid}', and reads from a replica, " \
                                   'which may not have it yet: use wait_for_node'
        end

        @workers.queued { @keeper.demand(nil, Clock.now + @seconds) }
      end

      # Waits until the index has what the store has now of a node.
      #
      # @param certname [String]
      # @return [void]
      # @raise [Simpkv::InvalidError] no node can have the name
      # @raise [Query::StaleError] the index is too old, or does not have it in time
      # @raise [Simpkv::Error]
      def await_node(certname)
        check
        builder = Query::Builder.new(@estate.call, @index)
        return if builder.current?(certname)

        @workers.queued { await(builder, certname, Clock.now + @seconds) }
      end

      # @param question [Hash{String => Object}] see {Query::Workers#ask}
      # @param estate [Estate, nil] as there: nil for a caller who may not see details of reports
      # @return [Query::Workers::Answer]
      # @raise [Query::StaleError] the index is too old, or not complete
      # @raise [Simpkv::Error]
      def ask(question, estate = nil)
        check
        @workers.ask(question, estate)
      rescue Query::DamagedError
        @index.delete
        raise
      end

      # @return [Behind, nil] nil if the index follows the store, or is not complete yet
      # @raise [Simpkv::Error, ConfigError]
      def behind
        progress = @keeper.progress
        why = why(progress)
        age = progress.age || (@index.state.age if why && !progress.error)
        Behind.new((Time.now - age).utc.iso8601, why) if why && age
      end

      # @return [Boolean] whether queries have been answered, and are not any more. Before, there may be no estate
      def stale?
        progress = @keeper.progress
        !progress.age.nil? && !usable?(progress)
      end

      # @return [String] the state in PuppetDB's words
      def state
        progress = @keeper.progress
        return 'running' if usable?(progress)

        progress.error ? 'error' : 'starting'
      end

      # @return [Hash] what `/readyz` tells
      def report
        progress = @keeper.progress
        { 'ok' => usable?(progress), 'age' => progress.age&.round(1), 'error' => why(progress),
          'not_told' => progress.trouble }
      end

      # @return [String] metrics in the text format of Prometheus
      def text
        progress = @keeper.progress
        page = Status::Exposition.new
        page.gauge(:simpkv_index_usable, 'Whether the index of queries answers.', usable?(progress) ? 1 : 0)
        page.gauge(:simpkv_index_age_seconds, 'Time since the index was compared with the store.', progress.age)
        page.gauge(:simpkv_index_compare_seconds, 'Time that the last comparison took.', progress.seconds)
        page.gauge(:simpkv_index_comparing_seconds, 'Time for which the present comparison has been running.',
                   progress.running || 0)
        page.gauge(:simpkv_index_told, 'Whether the store tells the index of changes.', progress.trouble ? 0 : 1)
        page.counter(:simpkv_index_compared_total, 'Comparisons of the index with the store.', progress.refreshes)
        page.counter(:simpkv_index_errors_total, 'Comparisons that failed.', progress.failures)
        page.counter(:simpkv_index_changed_nodes_total, 'Nodes that were entered or removed.', progress.nodes)
        page.counter(:simpkv_index_untold_nodes_total, 'Nodes that a comparison found changed, though the store tells.',
                     progress.untold)
        page.counter(:simpkv_index_told_nodes_total, 'Those among them of which the store had told.', progress.told)
        page.text
      end

      private

      # A node that two runs are saving at once may stay different. A replica may be late.
      def await(builder, certname, deadline)
        loop do
          @keeper.demand(certname, deadline)
          break if !@estate.call.replica? || builder.current?(certname)

          sleep(STEP)
        end
      end

      def usable?(progress)
        !progress.age.nil? && progress.age <= @age_max
      end

      def check
        deadline = Clock.now + WAIT
        progress = @keeper.progress
        until progress.age || progress.error || Clock.now > deadline || building?
          sleep(STEP)
          progress = @keeper.progress
        end
        return if usable?(progress)
        raise Query::StaleError, why(progress) if progress.error

        demand(progress)
      end

      # @return [Boolean] whether the index is built for the first time, and says that more is missing than the nodes
      #   that are entered next, which take a moment
      def building?
        state = @index.examine { |database| Query::Index::State.of(database) }
        !state.nil? && state.refreshed.nil? && !state.total.nil? && state.total - state.done > Query::Builder::CHUNK
      end

      # @raise [Query::StaleError] unless another process has refreshed the index
      def demand(progress)
        @index.state.demand(@age_max)
      rescue Query::StaleError => e
        raise Query::StaleError, [e.message, (slow(progress) unless building?)].compact.join(': '), cause: nil
      end

      # @return [String, nil] what is wrong; nil for nothing
      def why(progress)
        reasons = [progress.error, slow(progress)].compact
        reasons.join('; ') unless reasons.empty?
      end

      # @return [String, nil] that a refresh takes long; nil if it does not
      def slow(progress)
        return unless progress.running && progress.running > WAIT

        "a refresh has been running for #{progress.running.round} s. The store may be slow, or hang"
      end
    end
  end
end
