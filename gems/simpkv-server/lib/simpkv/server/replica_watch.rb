# frozen_string_literal: true

require 'simpkv/backend/server_comparison'
require 'simpkv/status/exposition'
require 'simpkv/status/servers'

module Simpkv
  module Server
    # Compares the servers of each directory with one another, in the background. A replica whose replication has failed
    # answers as if keys were missing. Each comparison reads all keys of all servers. Thread-safe.
    class ReplicaWatch
      ROOTS = %w[globals environments].freeze
      # Seconds from the start of the service until the first comparison, unless the interval is shorter.
      FIRST = 60
      # What a server can differ by: see {ServerComparison#to}.
      KINDS = %i[missing different surplus].freeze
      private_constant :ROOTS, :FIRST, :KINDS

      # ok:: whether the last comparison has succeeded
      # time:: the last one that has; nil for none
      # counts:: its numbers of keys that differ, by kind
      Result = Struct.new(:ok, :time, :counts)
      private_constant :Result

      # @param site [Site]
      # @param interval [Numeric] seconds between two comparisons; 0 for none
      # @param log [Log]
      def initialize(site, interval, log)
        @site = site
        @interval = interval
        @log = log
        @mutex = Mutex.new
        @results = {}
        @errors = 0
      end

      # Starts the thread. No error ends it.
      #
      # @return [Thread, nil]
      def start
        return if @interval.zero?

        Thread.new do
          sleep([FIRST, @interval].min)
          loop do
            compare_all
            sleep(@interval)
          end
        end
      end

      # @param backend [String] its name
      # @param server [String] its URI
      # @return [Hash{String => Object}, nil] `ok`: whether the last comparison has succeeded; `time` of the last one
      #   that has, in seconds since 1970, or nil; and its numbers of keys that are `missing`, `different` or `surplus`.
      #   nil for a server that was not compared: the first one, or all before the first comparison
      def lag(backend, server)
        result = @mutex.synchronize { @results[[backend, server]] }
        result && { 'ok' => result.ok, 'time' => result.time, **result.counts.transform_keys(&:to_s) }
      end

      # @return [String] in the text format of Prometheus
      def text
        page = Status::Exposition.new
        @mutex.synchronize { @results.dup }.each do |(backend, server), result|
          add(page, result, backend: backend, server: server)
        end
        page.counter(:simpkv_replica_errors_total, 'Errors before a server could be compared.', @errors)
        page.text
      end

      private

      def add(page, result, labels)
        page.gauge(:simpkv_replica_comparison_success, 'Whether the last comparison of the server has succeeded.',
                   result.ok ? 1 : 0, labels)
        page.gauge(:simpkv_replica_comparison_timestamp_seconds, 'The last comparison that has succeeded.',
                   result.time, labels)
        result.counts.each do |kind, count|
          page.gauge(:simpkv_replica_differing_keys, 'Keys that differ from those of the first server, by kind.',
                     count, labels.merge(kind: kind))
        end
      end

      def compare_all
        @site.backend_names.each { |name| compare(name) }
      rescue StandardError => e
        fail_before('backends', e)
      end

      # @param name [String] of a backend
      def compare(name)
        first, *others = Status::Servers.uris(@site.backend(name).settings)
        return if others.empty?

        comparison = nil
        others.each do |server|
          note(name, server) do
            comparison ||= ServerComparison.new(@site.backend(name).settings, first, ROOTS)
            comparison.to(server)
          end
        end
      rescue StandardError => e
        fail_before(name, e)
      ensure
        comparison&.close
      end

      def fail_before(what, error)
        @mutex.synchronize { @errors += 1 }
        report(what, error)
      end

      # @yieldreturn [Hash{Symbol => Array<String>}] the keys that differ, by kind
      def note(name, server)
        counts = KINDS.to_h { |kind| [kind, 0] }.merge(yield.transform_values(&:length))
        keep(name, server, Result.new(true, Time.now.to_i, counts))
      rescue StandardError => e
        report("#{name}: #{server}", e)
        last = @mutex.synchronize { @results[[name, server]] }
        keep(name, server, Result.new(false, last&.time, last ? last.counts : {}))
      end

      def keep(name, server, result)
        @mutex.synchronize { @results[[name, server]] = result }
      end

      # An unexpected error shows its class only: its message may have a value.
      def report(what, error)
        why = error.is_a?(Error) || error.is_a?(ConfigError) ? error.message : error.class.name
        @log.call("#{what}: the servers cannot be compared: #{why}")
      end
    end
  end
end
