# frozen_string_literal: true

require 'deep_merge/core'

module Simpkv
  class Adapter
    # Merges the options of a call over the site's, chooses the backend and the environment, and checks the result.
    module MergedOptions
      class << self
        # @param adapter [Adapter] with the options of the site
        # @param options [Hash] of the call; neither these nor the site's are changed
        # @param compiling [String] the environment that the catalog or plan is compiled in
        # @param types [Array<String>] the types of backends that have a plugin
        # @return [Array(Hash, Array<String>)] the merged options, and warnings
        # @raise [ConfigError] an option is invalid; the message names the option, not its value
        def of(adapter, options, compiling, types)
          merged = deep_merge(adapter.site_options, options)
          merged['backends'] = Config.default_backends(agent: Puppet.run_mode.agent?) unless merged.key?('backends')
          given = merged['environment']
          merged['environment'] = Config.environment(merged, compiling, adapter.made_up?(compiling))
          ignored = Config.ignored_environment(given, merged['environment'])
          ignored += Config.ignored_app_id(merged, options['app_id'])
          merged['backend'] = Config.backend_for(merged, options['app_id'])
          check(merged)
          Validation.check(merged, types)
          [merged, ignored + Config.doubts(merged)]
        end

        private

        # Checks every option before the call does anything, and converts those that every call reads. An `app_id` of
        # Hiera has no effect, and that of the call was checked when it chose the backend.
        def check(options)
          (Config::CALL.map(&:name) - ['app_id']).each { |name| Config.flag(options, name) }
          %w[softfail global].each { |name| options[name] = Config.flag(options, name) }
        end

        def deep_merge(site, call)
          raise ConfigError, "'simpkv::options' in Hiera is not a Hash" unless site.is_a?(Hash)

          # Copies, since DeepMerge changes both of its arguments, and either may be frozen.
          site = Config.copy(site)
          call = Config.copy(call)
          forget_protecting(call)
          forget_undef(site, call)
          forget_replaced(site['backends'], call['backends'])
          DeepMerge.deep_merge!(call, site)
        end

        # A manifest may pass on a parameter of its own that is undef: the option counts as absent then. In Hiera, an
        # option without a value that protects something is an error.
        def forget_protecting(call)
          Config::CALL.each { |option| call.delete(option.name) if option.protects && call[option.name].nil? }
        end

        # DeepMerge lets undef override false.
        def forget_undef(site, call)
          call.delete_if { |name, value| value.nil? && site.key?(name) }
          call.each { |name, value| forget_undef(site[name], value) if value.is_a?(Hash) && site[name].is_a?(Hash) }
        end

        # The servers are replaced as a whole.
        def forget_replaced(site_backends, call_backends)
          return unless site_backends.is_a?(Hash) && call_backends.is_a?(Hash)

          site_backends.each do |name, backend|
            overriding = call_backends[name]
            next unless backend.is_a?(Hash) && overriding.is_a?(Hash) && overriding.key?('ldap_uri')

            backend.delete('ldap_uri')
          end
        end
      end
    end
  end
end
