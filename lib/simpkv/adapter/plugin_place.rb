# frozen_string_literal: true

module Simpkv
  class Adapter
    # The place of a backend of functions: its plugin opens the store, or is one. It has the methods of
    # {Backend::FilePlace} that a call of a function needs.
    class PluginPlace
      # @return [Object]
      attr_reader :plugin

      # @param plugin [Object] which is not configured yet
      # @param options [Hash] merged options
      def initialize(plugin, options)
        @plugin = plugin
        @options = options
      end

      # @return [Boolean] whether the store is one of the core
      def native?
        @plugin.respond_to?(:simpkv_store)
      end

      # Configures the plugin.
      #
      # @return [Store, PluginStore]
      # @raise [PluginError] configure reports a failure
      # @raise [Exception] whatever it raises
      def open
        check_configured(@plugin.configure(Config.copy(@options)))
        native? ? @plugin.simpkv_store : PluginStore.new(@plugin)
      end

      # @param error [Error] of the store
      # @return [String] its message, with advice if there is some
      def explain(error)
        native? ? @plugin.explain(error) : error.message
      end

      private

      # Any result other than a failure counts as success.
      def check_configured(returned)
        return unless returned.is_a?(Hash) && returned.key?(:result) && !returned[:result]

        why = returned[:err_msg].to_s
        raise PluginError, why.empty? ? 'configure failed and gave no reason' : why
      end
    end
  end
end
