# frozen_string_literal: true

require 'simpkv/estate'

module Simpkv
  module Cli
    # The estate that the options of a command configure.
    class ConfiguredEstate
      # @param configuration [Configuration]
      def initialize(configuration)
        @configuration = configuration
      end

      # @return [Hash] its options, as the site has them
      # @raise [ConfigError] an option is unknown or has the wrong type; the message names the source
      def options
        @configuration.section('estate')
        @configuration.site['estate'] || {}
      end

      # @return [String] the name of its backend, which may be missing
      # @raise [ConfigError, Failure]
      def backend
        options['backend'] || Config.backend_for(@configuration.options, nil)
      end

      # @param backend [ChosenBackend]
      # @return [Boolean] whether the file of options says that this backend has an estate
      def demanded?(backend)
        @configuration.site.key?('estate') && backend.name == self.backend
      end

      # @param backend [ChosenBackend]
      # @param create [Boolean] whether to create a missing folder
      # @param anywhere [Boolean] whether reads go on while the server of `write_uri` is down: see {ReplicaReads}
      # @yieldreturn [Store] opens the store of the backend in another way
      # @return [Estate] the one in this backend
      # @raise [ConfigError]
      def in(backend, create: false, anywhere: false, &open)
        open ||= proc do |settings|
          store = backend.store(create: create)
          anywhere && settings['write_uri'] ? ReplicaReads.new(store) { backend.with({}).examined.store } : store
        end
        Estate.new(@configuration.site.merge('estate' => options.merge('backend' => backend.name)), &open)
      end
    end
  end
end
