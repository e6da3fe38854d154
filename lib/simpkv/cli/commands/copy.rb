# frozen_string_literal: true

require 'simpkv/cli/transferring'

module Simpkv
  module Cli
    module Commands
      # Stores the keys of one backend in another.
      class Copy < Transferring
        SUMMARY = 'store the keys of one backend in another'
        ARGUMENTS = 'FROM TO'
        DESCRIPTION = <<~TEXT
          Stores the keys of one backend of the configuration in another: all of them, or with -e or -g those of an
          environment, or the global ones. Nothing is deleted. A copy of no keys is refused with 66 unless --allow-empty
          is there.

          #{MANNER}
        TEXT
        EXAMPLES = {
          'simpkv copy default directory --dry-run' => 'What would happen',
          'simpkv copy default directory' => 'From files into a directory',
          'simpkv copy default directory --resume' => 'After a kill',
          'simpkv copy default directory --rollback simpkv-copy-20261122T060000Z.journal' => 'Back'
        }.freeze

        def run(from, to)
          source = configuration.backend(from)
          target = configuration.backend(to)
          raise Failure.new("'#{from}' and '#{to}' are one place", Failure::USAGE) if same?(source, target)
          return roll_back(target) if @rollback

          stored = Stored.new(source, @jobs, :source)
          check_environment(source) unless @allow_empty
          transfer(stored, target)
        end

        private

        def define(parser)
          super
          parser.on('--allow-empty', 'accept a source that has no keys') { @allow_empty = true }
        end

        def refuse_empty(source)
          return if @allow_empty

          raise Failure.new("there are no keys to copy in #{source.title}, #{roots.join(' and ')}: is this the right " \
                            'backend? --allow-empty accepts that', Failure::NO_INPUT)
        end

        def same?(source, target)
          source.place == target.place
        end
      end
    end
  end
end
