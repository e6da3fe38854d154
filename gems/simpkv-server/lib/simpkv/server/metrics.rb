# frozen_string_literal: true

require 'simpkv/server/pool_metrics'
require 'simpkv/server/site_metrics'
require 'simpkv/status/exposition'

module Simpkv
  module Server
    # The counters of the service, for Prometheus. Thread-safe.
    class Metrics
      CONTENT_TYPE = 'text/plain; version=0.0.4'

      # Methods that have a label of their own: a client could make up any number of others.
      METHODS = [*Rights::METHODS, 'HEAD'].freeze
      # Seconds; the bounds of the histogram.
      BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10].freeze
      private_constant :METHODS, :BUCKETS

      # @param connections [Connections]
      # @param pages [Array<#text>] further metrics, in the text format of Prometheus
      def initialize(connections, *pages)
        @connections = connections
        @pages = pages
        @counting = Mutex.new
        @counters = Status::Exposition.new
        @pools = PoolMetrics.new
        @sites = SiteMetrics.new
      end

      # Counts a request.
      #
      # @param route [String] the pattern of its path
      # @param method [String]
      # @param status [Integer]
      # @param seconds [Float]
      # @return [void]
      def observe(route, method, status, seconds)
        method = 'other' unless METHODS.include?(method)
        @counting.synchronize do
          @counters.counter(:simpkv_http_requests_total, 'Requests by route, method and status.', 1,
                            route: route, method: method, status: status)
          @counters.observe(:simpkv_http_request_duration_seconds, 'Time of requests by route.', seconds, BUCKETS,
                            route: route)
        end
      end

      # Counts an error of a store.
      #
      # @param error [Exception]
      # @return [void]
      def error(error)
        return unless error.is_a?(Error)

        @counting.synchronize do
          @counters.counter(:simpkv_store_errors_total, 'Errors of stores by kind.', 1, kind: error.status || 'other')
        end
      end

      # @param site [Site]
      # @param caller [Caller] in whose name the service reads
      # @return [String] all metrics in the text format of Prometheus
      def text(site, caller)
        sites = @sites.text(site, caller)
        pools = @pools.text({ '' => Simpkv.stats }.merge(@sites.compilers))
        [@counting.synchronize { @counters.text }, connections, pools, sites, *@pages.map(&:text)].join
      end

      private

      def connections
        page = Status::Exposition.new
        open, ended = @connections.stats
        page.gauge(:simpkv_http_connections_open, 'Open connections of clients.', open)
        page.gauge(:simpkv_http_connections_max, 'The number of connections that can be open.', @connections.max)
        ended.each do |reason, count|
          page.counter(:simpkv_http_connections_ended_total, 'Connections that the service has ended, by reason.',
                       count, reason: reason)
        end
        page.text
      end
    end
  end
end
