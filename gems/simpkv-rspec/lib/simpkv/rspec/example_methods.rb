# frozen_string_literal: true

require 'simpkv/rspec/backend_view'

module Simpkv
  module Kit
    # The methods of the kit in examples.
    module ExampleMethods
      # Stores keys before the catalog is compiled. The value of a key that ends in `/` is a folder: the Hash of its
      # keys, which may be empty.
      #
      # @param entries [Hash{String => Object}] values by key
      # @param options [Hash] `metadata` of all these keys; `global`, `environment` and `backend` as of the functions
      # @return [void]
      # @raise [Error, ConfigError, ArgumentError] a key, a value or an option is invalid
      # @example
      #   before { simpkv_with('app1/url' => 'https://app1', 'app1/token' => sensitive('t0ken'), 'hosts/' => {}) }
      #   before { simpkv_with({ 'site/name' => 'bern' }, global: true, metadata: { 'owner' => 'ops' }) }
      def simpkv_with(entries, options = {})
        options = BackendView.options(options)
        metadata = options.delete('metadata') || {}
        BackendView.new(self, options).fill(entries, metadata)
      end

      # Matches if the store of the example has a key, or for a name that ends in `/` a folder. The subject is compiled
      # first if it is a catalog of rspec-puppet or a block.
      #
      # @param key [String]
      # @param options [Hash] as of {#simpkv_with}
      # @return [HaveStored]
      # @raise [ConfigError, ArgumentError] the key or an option is invalid
      # @example
      #   it { is_expected.to have_stored('app1/token').with_value(sensitive('t0ken')).with_metadata('owner' => 'ops') }
      def have_stored(key, options = {}) # rubocop:disable Naming/PredicatePrefix -- as RSpec names matchers
        HaveStored.new(key, BackendView.new(self, BackendView.options(options)))
      end
    end
  end
end
