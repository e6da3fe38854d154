# frozen_string_literal: true

require 'simpkv/cli/transfer/given_keys'
require 'simpkv/cli/transfer/transfer_command'

module Simpkv
  module Cli
    # The base class of the commands that store values of other programs: import-eyaml, import-vault, import-consul.
    # The constant INTO of a command is the usual folder of the keys, and NOTHING says why there is nothing to store.
    class ImportCommand < TransferCommand
      private

      def define(parser)
        super
        parser.on('--into FOLDER', "the folder of the keys (#{self.class::INTO})") { |folder| @into = folder }
      end

      def define_below(parser)
        parser.on('--below PATH', 'only what is below PATH, which is left out of names') { |path| @below = path }
      end

      # @param path [String] in the other program
      # @return [String, nil] the name of its key; nil if it is not below the path of --below
      def name_of(path)
        beginning = "#{@below.to_s.gsub(%r{\A/+|/+\z}, '')}/".delete_prefix('/')
        path = path.delete_prefix('/')
        path.delete_prefix(beginning) if path.start_with?(beginning)
      end

      # @return [String] the folder of the keys
      def into
        @into || self.class::INTO
      end

      # The only folder that is read and compared.
      def roots
        [backend.path(into)]
      rescue InvalidError, TooLargeError => e
        raise Failure.new(e.message, Failure::USAGE)
      end

      def refuse_empty(source)
        raise Failure.new("#{source.title}: #{self.class::NOTHING}", Failure::NO_INPUT)
      end

      # @param title [String] the names of the files
      # @yieldparam keys [GivenKeys] to be filled
      # @return [Integer, nil] the exit code
      def store(title)
        Native.key_check(into, backend.case_sensitive?)
        keys = GivenKeys.new(title, backend, into)
        yield keys
        keys.check
        name_keys(keys) if @dry
        transfer(keys, backend)
      rescue InvalidError, TooLargeError => e
        raise Failure.new(e.message, Failure::USAGE)
      end

      def name_keys(keys)
        keys.origins.each { |path, origin| warn "simpkv: #{Output.name(origin)} -> #{path}" }
      end

      # Names what the source has and the store does not get.
      #
      # @param origin [String]
      # @param why [String]
      # @return [void]
      def tell_skipped(origin, why)
        warn "simpkv: #{Output.name("#{origin}: #{why}")}: it is left out"
      end
    end
  end
end
