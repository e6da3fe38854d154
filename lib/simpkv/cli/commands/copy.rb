# frozen_string_literal: true

require 'simpkv/cli/transfer_command'

module Simpkv
  module Cli
    module Commands
      # Stores the keys of one backend in another.
      class Copy < TransferCommand
        SUMMARY = 'store the keys of one backend in another'
        ARGUMENTS = 'FROM TO'
        DESCRIPTION = <<~TEXT
          Stores the keys of one backend of the configuration in another: all keys, the keys of one environment with
          -e, or the global keys with -g. Deletes nothing. Refuses a copy without keys with 66, unless --allow-empty
          is given.

          #{PROCEDURE}
        TEXT
        EXAMPLES = {
          'simpkv copy default directory --dry-run' => 'A dry run',
          'simpkv copy default directory' => 'From files into a directory',
          'simpkv copy default directory --resume' => 'Continue after a kill',
          'simpkv copy default directory --rollback simpkv-copy-20261122T060000Z.journal' => 'Undo it'
        }.freeze

        def run(from, to)
          source = configuration.backend(from)
          target = configuration.backend(to)
          raise Failure.new("'#{from}' and '#{to}' are one place", Failure::USAGE) if source.place == target.place
          return roll_back(target) if @rollback

          stored = Endpoint.new(source, @jobs, :source)
          check_environment(source) unless @allow_empty
          transfer(stored, target)
        end

        private

        def define(parser)
          super
          parser.on('--allow-empty', 'accept a source without keys') { @allow_empty = true }
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
