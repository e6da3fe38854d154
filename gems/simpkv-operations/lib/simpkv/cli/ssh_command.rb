# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/value'
require 'simpkv/cli/versioned'
require 'simpkv/ssh/public_key'

module Simpkv
  module Cli
    # The base class of the commands for SSH keys.
    class SshCommand < Command
      include Versioned

      private

      # @param document [String]
      # @return [Ssh::PublicKey, nil] nil if it is no key
      def key(document)
        Ssh::PublicKey.from(RichData.read(document)[:value])
      rescue MalformedError
        nil
      end
    end
  end
end
