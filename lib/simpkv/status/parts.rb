# frozen_string_literal: true

require 'simpkv/status/certificate_files'
require 'simpkv/status/compilers'
require 'simpkv/status/drift'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/node_counts'
require 'simpkv/status/servers'

module Simpkv
  module Status
    # Reads the parts of the state of a site, for the service and for `simpkv status`. Each reading may take long, and
    # raises an {Error} or {ConfigError} if the part cannot be told.
    class Parts
      # The seconds between two readings of a part, at least.
      PERIODS = { 'nodes' => 10, 'servers' => 15, 'compilers' => 60, 'expiring_keys' => 300, 'access' => 900,
                  'certificates' => 900 }.freeze
      # The most keys in memory.
      KEPT = 10_000
      private_constant :KEPT

      # @param site [Site]
      # @param caller [#to_s, nil] in whose name to read: see {Site}
      # @param backends [Array<String>, nil] whose servers, keys and certificates; nil for all
      def initialize(site, caller = nil, backends: nil)
        @site = site
        @caller = caller
        @backends = backends
      end

      # @return [Hash] see {NodeCounts.of}
      def nodes
        NodeCounts.of(@site.estate(@caller))
      end

      # @return [Hash] `servers`: see {Servers#all}; and `without_write_uri`: see {Servers.without_writer}
      def servers
        all = backends
        { 'servers' => Servers.new(all).all, 'without_write_uri' => Servers.without_writer(all) }
      end

      # @return [Hash] `compilers`: see {Compilers.of}
      def compilers
        { 'compilers' => Compilers.of(@site.estate(@caller)) }
      rescue Estate::MissingError
        @site.estate_optional? ? { 'compilers' => [] } : raise
      end

      # @return [Hash{Symbol => Object}] `keys`, an Array of {ExpiringKeys::Key}, those that expire first; `all`,
      #   whether these are all; `unreadable`, an Array of {ExpiringKeys::Unreadable}, `unreadable_total`, the
      #   number of all, and `unreadable_of_nodes`, of those that {#nodes} has as well; and `errors`, why backends
      #   cannot be read, by their names
      # @raise [Error, ConfigError] the only backend cannot be read
      def expiring_keys
        errors, found = read_keys.partition { |_, reading| reading.is_a?(Exception) }
        raise errors.first.last if names.one? && errors.any?

        keys, unreadable, totals, of_nodes = Array.new(4) { |part| found.flat_map { |_, reading| reading[part] } }
        { keys: keys.sort_by(&:expires).first(KEPT), all: keys.length < KEPT, unreadable: unreadable,
          unreadable_total: totals.sum, unreadable_of_nodes: of_nodes.sum,
          errors: errors.to_h.transform_values(&:message) }
      end

      # @return [Hash] `configured`, and see {Drift.of}
      def access
        access = @site.access
        access ? { 'configured' => true }.merge(Drift.of(access)) : { 'configured' => false }
      end

      # @return [Hash] `certificates`: see {CertificateFiles.of}
      def certificates
        { 'certificates' => CertificateFiles.of(backends) }
      end

      private

      # Reads the keys of all backends at the same time. A backend that cannot be read hides nothing of the others.
      #
      # @return [Array<Array(String, Array|Exception)>] the name of each backend, and what was read, or the error
      def read_keys
        threads = names.map { |name| Thread.new { [name, keys_of(name)] } }
        threads.each { |thread| thread.report_on_exception = false }
        threads.map(&:value)
      end

      def keys_of(name)
        _, store = @site.store(@caller, name)
        reading = ExpiringKeys.new(name, store, estate: @site.estate_backend == name)
        [reading.first(KEPT), reading.unreadable, reading.unreadable_total, reading.unreadable_of_nodes]
      rescue Error, ConfigError => e
        e
      end

      def names
        @backends || @site.backend_names
      end

      def backends
        names.map { |name| @site.backend(name) }
      end
    end
  end
end
