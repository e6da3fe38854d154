# frozen_string_literal: true

require 'simpkv/cli/estate/spool_command'

module Simpkv
  module Cli
    module Commands
      module Spool
        # Delivers what waits in the spool.
        class Flush < SpoolCommand
          SUMMARY = 'deliver what waits in the spool of this machine'
          SUGGEST_FOR = { 'deliver' => 'spool flush', 'replay' => 'spool flush' }.freeze
          DESCRIPTION = <<~TEXT
            Stores what runs on this compiler have reported while the server of writes was away, in the order of the
            reports. Leaves out an entry that is older than what is stored, or whose node was deactivated since. An
            entry that cannot be stored stays, and so do the later ones of its node: the command prints the reason, and
            exits with 65. Runs, and simpkv serve, deliver without this command. Exits with 69 while the server of
            writes is away.
          TEXT
          EXAMPLES = { 'simpkv spool flush' => 'All that waits' }.freeze

          def run
            delivery = on_spool { |spool| spool.deliver(wait: true) }
            left = on_spool { |spool| spool.waiting.length }
            counts = { 'stored' => delivery.stored, 'left_out' => delivery.overtaken, 'waiting' => left }
            output.print(counts) { counts.map { |name, number| "#{name.tr('_', ' ')}: #{number}" } }
            stopped(delivery.ended_by) if delivery.ended_by
            report(delivery.errors)
          end

          private

          def stopped(error)
            raise error if error.is_a?(ConfigError)

            raise Failure.new("#{backend.title}: #{backend.explain(error)}", Failure.code_for(error))
          end
        end
      end
    end
  end
end
