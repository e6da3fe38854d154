# frozen_string_literal: true

require 'simpkv/server/problem'
require 'simpkv/status/metrics'

module Simpkv
  module Server
    # Metrics of nodes, keys and compilers. The store is read at most once a minute, by one thread: a store that does
    # not answer holds no other. Thread-safe.
    class SiteMetrics
      SECONDS = 60
      private_constant :SECONDS

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
        page = Status::Exposition.new
        metrics = Status::Metrics.new(site, caller)
        metrics.add_to(page)
        @compilers = metrics.part('compilers').counters
        page.text
      end
    end
  end
end
