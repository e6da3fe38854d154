# frozen_string_literal: true

require 'time'
require 'simpkv/estate'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/exposition'

module Simpkv
  module Status
    # Metrics of a site: of its nodes, keys and compilers, and of the servers of its directories.
    class Metrics
      # The parts of the state with metrics of {#add_to}.
      PARTS = %w[nodes compilers expiring_keys].freeze
      UNKNOWN = 'unknown'
      private_constant :UNKNOWN

      # Adds the metrics of servers.
      #
      # @param page [Exposition]
      # @param part [Hash] see {Parts#servers}; without servers if it cannot be told
      # @return [void]
      def self.servers(page, part)
        servers = part.fetch('servers', [])
        unasked = servers.select { |server| server['state'] == 'misconfigured' }
        misconfigured = unasked.map { |server| server['backend'] }
        servers.map { |server| server['backend'] }.uniq.each do |name|
          flag(page, name, :simpkv_backend_without_write_uri,
               'Whether several servers can take writes, without a write_uri.', part['without_write_uri'])
          flag(page, name, :simpkv_backend_misconfigured,
               'Whether the options of the backend cannot be used, so that no server is asked.', misconfigured)
        end
        (servers - unasked).each { |each| server(page, each) }
      end

      # Adds 1 for a backend that is one of the named ones, else 0.
      def self.flag(page, backend, metric, help, names)
        page.gauge(metric, help, names.include?(backend) ? 1 : 0, backend: backend)
      end
      private_class_method :flag

      def self.server(page, server)
        labels = { backend: server['backend'], server: server['uri'] }
        up = server['state'] == 'up' ? 1 : 0
        page.gauge(:simpkv_directory_server_up, 'Whether the server answers.', up, labels)
        page.gauge(:simpkv_directory_server_latency_seconds, 'The time of a read.',
                   server['latency_ms'] && (server['latency_ms'] / 1000), labels)
        page.gauge(:simpkv_directory_server_certificate_days, 'The days until the certificate of the server expires.',
                   server['certificate_days'], labels)
        page.gauge(:simpkv_replica_lag_seconds, 'The time between the last change of the server and of all servers.',
                   server['lag_seconds'], labels)
      end
      private_class_method :server

      # Adds how a directory differs from the declared access rights.
      #
      # @param page [Exposition]
      # @param drift [Hash] see {Parts#access}
      # @return [void]
      def self.access(page, drift)
        page.gauge(:simpkv_access_differences, 'Differences between the directory and the declared access rights.',
                   drift['differences'])
        page.gauge(:simpkv_access_conflicts, 'Conflicts, for which simpkv access apply refuses.', drift['conflicts'])
      end

      # Adds which parts could be read.
      #
      # @param page [Exposition]
      # @param state [Hash{String => Hash}] see {State#get}
      # @return [void]
      def self.parts(page, state)
        state.each do |name, part|
          page.gauge(:simpkv_part_readable, 'Whether a part of the state could be read.', part['error'] ? 0 : 1,
                     part: name)
        end
      end

      # @return [Exposition] the metrics if nothing could be read
      def self.unreadable
        Exposition.new.tap { |page| readable(page, false) }
      end

      # @param page [Exposition]
      # @param complete [Boolean]
      # @return [void]
      def self.readable(page, complete)
        page.gauge(:simpkv_site_readable, 'Whether nodes and keys could be read for the metrics about them.',
                   complete ? 1 : 0)
      end

      # @return [Hash{String => Hash}] the counters of compilers, by their names, as of {#add_to}
      attr_reader :compilers

      # @param site [Site]
      # @param caller [#to_s, nil] in whose name to read: see {Site}
      # @param backends [Array<String>] whose keys
      # @param parts [Array<String>] some of {PARTS}, which are read; `nodes` includes inspections
      def initialize(site, caller = nil, backends: site.backend_names, parts: PARTS)
        @site = site
        @parts = parts
        @caller = caller
        @backends = backends
        @compilers = {}
      end

      # Adds the metrics of nodes, inspections, compilers and keys, and whether all could be read. A site that does not
      # configure an estate, and has none, has no nodes.
      #
      # @param page [Exposition]
      # @return [void]
      # @raise [ConfigError]
      def add_to(page)
        estate = @site.estate(@caller)
        read = []
        read.push(nodes(page, estate), inspections(page, estate)) if @parts.include?('nodes')
        read << counters(page, estate) if @parts.include?('compilers')
        read << keys(page) if @parts.include?('expiring_keys')
        Metrics.readable(page, read.all?)
      end

      private

      # @return [Boolean] whether the nodes could be read
      def nodes(page, estate)
        list = Estate::NodeList.new(estate)
        nodes = list.nodes
        nodes.group_by { |node| node['status'] || UNKNOWN }.each { |status, group| add_status(page, status, group) }
        page.gauge(:simpkv_nodes_unseen, 'Nodes without a run for the time of node_ttl.',
                   nodes.count { |node| node['expired'] })
        list.errors.empty?
      rescue Estate::MissingError
        @site.estate_optional?
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
      rescue Estate::MissingError
        @site.estate_optional?
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
          compiler(page, name, counters)
        end
        true
      rescue Estate::MissingError
        @site.estate_optional?
      rescue Error, ConfigError
        @compilers = {}
        false
      end

      def compiler(page, name, counters)
        page.gauge(:simpkv_compiler_counters_timestamp_seconds, 'When a compiler has stored its counters.',
                   Time.iso8601(counters['time']).to_i, compiler: name)
        page.gauge(:simpkv_compiler_info, 'Always 1, with the version of simpkv.', 1, compiler: name,
                                                                                      version: counters['version'])
        counters.fetch('keys', {}).each do |backend, fingerprint|
          page.gauge(:simpkv_compiler_keys_info, 'Always 1, with the fingerprint of the file of keys of a backend.', 1,
                     compiler: name, backend: backend, fingerprint: fingerprint)
        end
      end

      # @return [Boolean] whether the keys of all backends could be read
      def keys(page)
        @backends.map { |name| expiring(page, name) }.all?
      end

      # @return [Boolean] whether all keys of the backend could be read: a part of them has no metric
      def expiring(page, name)
        _, store = @site.store(@caller, name)
        count = ExpiringKeys.new(name, store).count
        page.gauge(:simpkv_keys_expiring, 'Keys that have expired or expire within 14 days.', count, backend: name)
        true
      rescue Error, ConfigError
        false
      end
    end
  end
end
