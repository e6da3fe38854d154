# frozen_string_literal: true

require 'time'
require 'simpkv/server/exposition'
require 'simpkv/server/problem'
require 'simpkv/status/expiring_keys'

module Simpkv
  module Server
    # Metrics of nodes, keys and compilers. The store is read at most once a minute, by one thread: a store that does
    # not answer holds no other. Thread-safe.
    class SiteMetrics
      SECONDS = 60
      UNKNOWN = 'unknown'
      private_constant :SECONDS, :UNKNOWN

      # @return [Hash{String => Hash}] the counters of compilers, by their names, as of the last {#text}
      attr_reader :compilers

      def initialize
        @reading = Mutex.new
        @compilers = {}
      end

      # @param site [Site]
      # @param caller [Caller] in whose name the service reads
      # @return [String] in the text format of Prometheus; the last one while another thread reads
      # @raise [Problem] 503 if there is none then
      def text(site, caller)
        renew(site, caller) if @reading.try_lock
        @page || raise(Problem.new(503, 'the store is being read for the first metrics: ask again'))
      end

      private

      # The caller has locked the Mutex.
      def renew(site, caller)
        now = Clock.now
        return unless @read.nil? || now - @read > SECONDS

        @page = read(site, caller)
        @read = now
      ensure
        @reading.unlock
      end

      def read(site, caller)
        page = Exposition.new
        estate = site.estate(caller)
        complete = [nodes(page, estate), inspections(page, estate), counters(page, estate),
                    keys(page, site, caller)].all?
        page.gauge(:simpkv_site_readable, 'Whether nodes and keys could be read for the metrics about them.',
                   complete ? 1 : 0)
        page.text
      end

      # @return [Boolean] whether the nodes could be read
      def nodes(page, estate)
        list = Estate::NodeList.new(estate)
        nodes = list.nodes
        nodes.group_by { |node| node['status'] || UNKNOWN }.each { |status, group| add_status(page, status, group) }
        page.gauge(:simpkv_nodes_unseen, 'Nodes without a run for the time of node_ttl.',
                   nodes.count { |node| node['expired'] })
        list.errors.empty?
      rescue Error, ConfigError
        false
      end

      def add_status(page, status, nodes)
        page.gauge(:simpkv_nodes, 'Nodes by the status of the last run.', nodes.length, status: status)
        last = nodes.map { |node| node['last_seen'] }.compact.max
        page.gauge(:simpkv_last_run_timestamp_seconds, 'The last run of a node, by its status.',
                   last && Time.iso8601(last).to_i, status: status)
      end

      # @return [Boolean] whether the outcomes of inspections could be read
      def inspections(page, estate)
        complete = true
        short = ->(_, outcome) { [Estate::Inspections.kind(outcome), outcome[Estate::Inspections::CHANGED_AT]] }
        outcomes = estate.inspections.all(as: short) { complete = false }.values.group_by(&:first)
        Estate::Inspections::KINDS.each_value { |kind| add_outcome(page, kind, outcomes.fetch(kind, [])) }
        complete
      rescue Error, ConfigError
        false
      end

      def add_outcome(page, kind, outcomes)
        page.gauge(:simpkv_inspections, 'Nodes by the outcome of their last inspection.', outcomes.length,
                   outcome: kind)
        last = outcomes.map(&:last).compact.max
        page.gauge(:simpkv_inspection_changed_timestamp_seconds, 'When a node last got this outcome anew.',
                   last && Time.iso8601(last).to_i, outcome: kind)
      end

      # @return [Boolean] whether the counters of compilers could be read
      def counters(page, estate)
        @compilers = estate.counters.recent
        @compilers.each do |name, counters|
          page.gauge(:simpkv_compiler_counters_timestamp_seconds, 'When a compiler has stored its counters.',
                     Time.iso8601(counters['time']).to_i, compiler: name)
        end
        true
      rescue Error, ConfigError
        @compilers = {}
        false
      end

      # @return [Boolean] whether the keys of all backends could be read
      def keys(page, site, caller)
        site.backend_names.map { |name| expiring(page, site, caller, name) }.all?
      end

      # @return [Boolean] whether all keys of the backend could be read: a part of them has no metric
      def expiring(page, site, caller, name)
        _, store = site.store(caller, name)
        count = Status::ExpiringKeys.new(name, store).count
        page.gauge(:simpkv_keys_expiring, 'Keys that have expired or expire within 14 days.', count, backend: name)
        true
      rescue Error, ConfigError
        false
      end
    end
  end
end
