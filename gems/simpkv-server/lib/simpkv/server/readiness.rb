# frozen_string_literal: true

require 'simpkv/server/status_view'
require 'simpkv/status/reason'

module Simpkv
  module Server
    # Asks each store of the site whether it can be read now, and whether queries are answered. Thread-safe.
    class Readiness
      # @param site [Site]
      # @param caller [Caller] in whose name the service asks
      # @param queries [Queries, nil]
      # @param log [#call] receives a line for an error of a store, unless the last one had the same reason
      def initialize(site, caller, queries, log)
        @site = site
        @caller = caller
        @queries = queries
        @log = log
        @last = {}
        @reasons = {}
        @mutex = Mutex.new
      end

      # @param details [Boolean] whether the reasons are shown, which can name servers, entries and files: see
      #   {Rights#findings?}. The log has them
      # @return [Array(Boolean, Hash{String => Hash})] whether all stores can be read, and the index is not stale; and
      #   `stores`, by backend `ok`, the time of the last success, and what is wrong; and `index` (see {Queries#report})
      def check(details:)
        stores = @site.backend_names.to_h { |name| [name, state(name)] }
        ready = stores.values.all? { |state| state['ok'] } && !@queries&.stale?
        parts = { 'stores' => stores, 'index' => @queries&.report }.compact
        [ready, details ? parts : concealed(parts)]
      end

      private

      def state(name)
        _, store = @site.store(@caller, name)
        store.kind('globals')
        @mutex.synchronize do
          @reasons.delete(name)
          @last[name] = Time.now.utc.strftime('%Y-%m-%dT%H:%M:%SZ')
        end
        { 'ok' => true, 'last_success' => @last[name] }
      rescue Error, ConfigError, SystemCallError => e
        log(name, e.message)
        { 'ok' => false, 'last_success' => @last[name], 'error' => e.message }
      end

      def log(name, message)
        reason = Status::Reason.of(message)
        before = @mutex.synchronize { @reasons[name].tap { @reasons[name] = reason } }
        @log.call("backend '#{name}' cannot be read: #{message.gsub(/[[:cntrl:]]+/, ' ')}") unless before == reason
      end

      def concealed(parts)
        stores = parts['stores'].transform_values { |state| general(state) }
        parts.merge('stores' => stores, 'index' => parts['index'] && general(parts['index'])).compact
      end

      def general(state)
        state.merge(state.slice('error', 'not_told').compact.transform_values { StatusView::UNREAD })
      end
    end
  end
end
