# frozen_string_literal: true

require 'simpkv/cli/transfer/transfer_command'

module Simpkv
  module Cli
    module Commands
      # Stores the keys of one backend in another.
      class Copy < TransferCommand
        SECTION = :moving
        SUMMARY = 'store the keys of one backend in another'
        ARGUMENTS = 'FROM TO'
        DESCRIPTION = <<~TEXT
          Stores the keys of one backend of the configuration in another: all keys, the keys of one environment with
          -e, or the global keys with -g. Deletes nothing. Decrypts documents of an encrypted backend, and encrypts
          documents for one. With --raw, leaves documents as they are stored; the backends must have the same type and
          id, because encrypted documents can be read nowhere else. Checks encrypted ones as simpkv export --raw does,
          with the same exit codes: 78 if the target names a file of keys that cannot be used. Refuses a copy without
          keys with 66, unless --allow-empty is given.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv copy default directory --dry-run' => 'A dry run',
          'simpkv copy default directory' => 'From files into a directory',
          'simpkv copy default directory --resume' => 'Continue after a kill',
          'simpkv copy default directory --rollback simpkv-copy-20261122T060000Z.journal' => 'Undo it'
        }.freeze

        REFUSED = { %w[-b --backend] => 'FROM and TO name the backends' }.freeze

        def run(from, to)
          source, target = [from, to].map { |name| configuration.backend(name) }
          refuse_raw(source, target) if @raw
          raise Failure.new("'#{from}' and '#{to}' are one place", Failure::USAGE) if source.address == target.address
          return roll_back(target) if @rollback

          stored = Endpoint.new(source, @jobs, :source, configuration)
          check_environment(source) unless @allow_empty
          transfer(stored, target)
        end

        private

        def define(parser)
          super
          parser.on('--raw', 'leave documents encrypted') { @raw = true }
          parser.on('--allow-empty', 'accept a source without keys') { @allow_empty = true }
        end

        def backend_option(_parser); end

        # The header of an encrypted document names its backend.
        def refuse_raw(source, target)
          [source, target].each(&:raw)
          return if source.title == target.title

          raise Failure.new("encrypted documents of #{source.title} could not be read in #{target.title}: without " \
                            '--raw, they are encrypted again', Failure::USAGE)
        end

        def refuse_empty(source)
          return if @allow_empty

          raise Failure.new("there are no keys to copy in #{source.title}, #{roots.join(' and ')}: is this the right " \
                            'backend? --allow-empty accepts that', Failure::NO_INPUT)
        end
      end
    end
  end
end
