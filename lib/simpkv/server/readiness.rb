# frozen_string_literal: true

module Simpkv
  module Server
    # Asks each store of the site whether it can be read now. Thread-safe.
    class Readiness
      # @param site [Site]
      # @param caller [Caller] in whose name the service asks
      def initialize(site, caller)
        @site = site
        @caller = caller
        @last = {}
        @mutex = Mutex.new
      end

      # @return [Array(Boolean, Hash{String => Hash})] whether all stores can be read; and by backend `ok`, the time of
      #   the last success, and what is wrong
      def check
        stores = @site.backend_names.to_h { |name| [name, state(name)] }
        [stores.values.all? { |state| state['ok'] }, stores]
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
