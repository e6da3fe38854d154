# frozen_string_literal: true

require 'prometheus/client'
require 'prometheus/client/formats/text'
require 'simpkv/server/pool_metrics'
require 'simpkv/server/site_metrics'

module Simpkv
  module Server
    # The counters of the service, for Prometheus. Thread-safe.
    class Metrics
      CONTENT_TYPE = Prometheus::Client::Formats::Text::CONTENT_TYPE

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
        @registry = Prometheus::Client::Registry.new
        @requests = counter(:simpkv_http_requests_total, 'Requests by route, method and status.', :route, :method,
                            :status)
        @seconds = @registry.histogram(:simpkv_http_request_duration_seconds, labels: [:route], buckets: BUCKETS,
                                                                              docstring: 'Time of requests by route.')
        @errors = counter(:simpkv_store_errors_total, 'Errors of stores by kind.', :kind)
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
        @requests.increment(labels: { route: route, method: method, status: status })
        @seconds.observe(seconds, labels: { route: route })
      end

      # Counts an error of a store.
      #
      # @param error [Exception]
      # @return [void]
      def error(error)
        @errors.increment(labels: { kind: error.status || 'other' }) if error.is_a?(Error)
      end

      # @param site [Site]
      # @param caller [Caller] in whose name the service reads
      # @return [String] all metrics in the text format of Prometheus
      def text(site, caller)
        sites = @sites.text(site, caller)
        pools = @pools.text({ '' => Simpkv.stats }.merge(@sites.compilers))
        [Prometheus::Client::Formats::Text.marshal(@registry), connections, pools, sites,
         *@pages.map(&:text)].join
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

      def counter(name, text, *labels)
        @registry.counter(name, docstring: text, labels: labels)
      end
    end
  end
end
