# frozen_string_literal: true

module Simpkv
  module Server
    # Asks each store of the site whether it can be read now, and whether queries are answered. Thread-safe.
    class Readiness
      # @param site [Status::Site]
      # @param caller [Caller] in whose name the service asks
      # @param queries [Queries, nil]
      def initialize(site, caller, queries)
        @site = site
        @caller = caller
        @queries = queries
        @last = {}
        @mutex = Mutex.new
      end

      # @return [Array(Boolean, Hash{String => Hash})] whether all stores can be read, and the index is not stale; and
      #   `stores`, by backend `ok`, the time of the last success, and what is wrong; and `index` (see {Queries#report})
      def check
        stores = @site.backend_names.to_h { |name| [name, state(name)] }
        ready = stores.values.all? { |state| state['ok'] } && !@queries&.stale?
        [ready, { 'stores' => stores, 'index' => @queries&.report }.compact]
      end

      private

      def state(name)
        _, store = @site.store(@caller, name)
        store.kind('globals')
        @mutex.synchronize { @last[name] = Time.now.utc.strftime('%Y-%m-%dT%H:%M:%SZ') }
        { 'ok' => true, 'last_success' => @last[name] }
      rescue Error, ConfigError, SystemCallError => e
        { 'ok' => false, 'last_success' => @last[name], 'error' => e.message }
      end
    end
  end
end
