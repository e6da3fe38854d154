# frozen_string_literal: true

require 'simpkv/cli/command'
require 'simpkv/cli/data_file'
require 'simpkv/cli/encryption/encryption_key_file'
require 'simpkv/cli/encryption/encryption_key_use'

module Simpkv
  module Cli
    # The base class of the commands for files of keys.
    class EncryptionKeysCommand < Command
      # The common part of their DESCRIPTION.
      FILE_OF = <<~TEXT
        FILE is that of the option encryption_keys of the backend, unless it is given. It is replaced atomically, and
        keeps its owner, group and mode.
      TEXT

      private

      def common(parser)
        config_option(parser)
        parser.on('--from-puppet', "read the options from Hiera, with 'puppet lookup'") { @flags[:from_puppet] = true }
        parser.on('--node NAME', 'with --from-puppet: the node of the lookup') { |name| @flags[:node] = name }
        backend_option(parser)
        last_options(parser)
      end

      # @param given [String, nil] the argument
      # @return [EncryptionKeyFile]
      # @raise [Failure] no file is given, and the backend has none
      def key_file(given)
        path = given ? File.expand_path(DataFile.path(given, 'FILE')) : backend.settings['encryption_keys']
        return EncryptionKeyFile.new(path) if path

        raise Failure.new("#{backend.title} has no 'encryption_keys': set this option of the backend, or name the FILE",
                          Failure::CONFIG)
      end
    end
  end
end
