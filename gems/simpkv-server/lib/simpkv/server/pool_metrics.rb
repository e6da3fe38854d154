# frozen_string_literal: true

require 'simpkv/status/exposition'

module Simpkv
  module Server
    # Metrics of the connections to directories: see {Simpkv.stats}. The label `compiler` is empty for those of the
    # service itself.
    class PoolMetrics
      # By member of a pool: the name of the metric and its description.
      POOL = {
        'waiting' => [:gauge, :simpkv_pool_waiting_threads, 'Threads that wait for a connection.'],
        'waits' => [:counter, :simpkv_pool_waits_total, 'Times that a thread waited for a connection.'],
        'wait_timeouts' => [:counter, :simpkv_pool_wait_timeouts_total, 'Times that this wait ended without one.']
      }.freeze

      # By member of a server.
      SERVER = {
        'connects' => [:counter, :simpkv_pool_connects_total, 'Connections that were opened.'],
        'binds' => [:counter, :simpkv_pool_binds_total, 'Binds.'],
        'failures' => [:counter, :simpkv_pool_failures_total, 'Connections and binds that failed.'],
        'blames' => [:counter, :simpkv_pool_failovers_total, 'Times that the server was marked down.'],
        'timeouts' => [:counter, :simpkv_pool_timeouts_total, 'Operations that were not answered in time.']
      }.freeze

      CONNECTIONS = %w[idle in_use].freeze
      private_constant :POOL, :SERVER, :CONNECTIONS

      # @param stats [Hash{String => Hash}] of {Simpkv.stats}, by the name of a compiler
      # @return [String] in the text format of Prometheus
      def text(stats)
        page = Status::Exposition.new
        stats.each { |compiler, counters| counters['pools'].each { |pool| add_pool(page, compiler, pool) } }
        page.text
      end

      private

      def add_pool(page, compiler, pool)
        labels = { compiler: compiler, identity: pool['identity'] }
        POOL.each { |member, (type, name, text)| page.public_send(type, name, text, pool[member], labels) }
        pool['servers'].each { |server| add_server(page, server, labels.merge(server: server['uri'])) }
      end

      def add_server(page, server, labels)
        SERVER.each { |member, (type, name, text)| page.public_send(type, name, text, server[member], labels) }
        CONNECTIONS.each do |state|
          page.gauge(:simpkv_pool_connections, 'Connections by state.', server[state], labels.merge(state: state))
        end
        page.gauge(:simpkv_server_up, 'Whether the server is used, or waits after a failure.',
                   server['resting'] ? 0 : 1, labels)
        server['retries'].each do |reason, count|
          page.counter(:simpkv_pool_retries_total, 'Operations that were repeated.', count,
                       labels.merge(reason: reason))
        end
        server['operations'].each do |operation, count|
          page.counter(:simpkv_operations_total, 'Operations.', count, labels.merge(operation: operation))
        end
        page.gauge(:simpkv_certificate_expiry_timestamp_seconds, 'When the certificate of the server expires.',
                   (server['tls'] || {})['certificate_ends'], labels)
      end
    end
  end
end
