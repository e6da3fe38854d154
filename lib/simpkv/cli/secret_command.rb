# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/versioned'

module Simpkv
  module Cli
    # The base class of the commands that make secrets.
    class SecretCommand < Command
      include Versioned

      private

      # @return [Object] what the block returns
      # @raise [Failure] an option of the secret is wrong
      def checked(key)
        yield
      rescue ConfigError => e
        raise Failure.new("'#{key}': #{e.message}", Failure::USAGE), cause: nil
      end

      # @param store [Store]
      # @return [Secrets]
      def secrets(store)
        Secrets.new(store, VersionedStore.new(store, history: @history || backend.settings['history'],
                                                     expires_after: @expires_after)) { |key| backend.path(key) }
      end
    end
  end
end
