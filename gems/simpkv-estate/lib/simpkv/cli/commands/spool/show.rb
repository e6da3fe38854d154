# frozen_string_literal: true

require 'simpkv/cli/estate/spool_command'

module Simpkv
  module Cli
    module Commands
      module Spool
        # Prints an entry of the spool.
        class Show < SpoolCommand
          SUMMARY = 'print an entry of the spool, without secrets'
          ARGUMENTS = 'ENTRY'
          DESCRIPTION = <<~TEXT
            Prints what a run has left in the spool of this machine: the facts, the exported resources, the report and
            so on. Secrets are hidden, as simpkv node facts hides them. Exits with 66 if there is no such entry.
          TEXT
          EXAMPLES = { 'simpkv spool show 1796000000123456-facts-9f86d081884c7d65' => 'An entry of simpkv spool list' }
                     .freeze

          def run(name)
            found = on_spool { |spool| described(spool, name) }
            output.print(found) { found.map { |member, value| "#{member}: #{shown(value)}" } }
            nil
          end

          private

          def described(spool, name)
            waiting = spool.waiting.find { |each| each.name == name }
            write = waiting && spool.read(name)
            raise no_entry(name) unless write

            entry(waiting, write).merge('data' => hidden(write))
          end

          # @return [Hash] the data without secrets
          def hidden(write)
            secrets = secrets(estate)
            case write.class.kind
            when 'exports' then write.data.merge('resources' => secrets.exports(write.data['resources']))
            when 'catalog' then secrets.catalog(write.data)
            when 'node' then secrets.effective(write.data)
            when 'inspection' then secrets.inspection(write.data['outcome'])
            when 'report' then secrets.report(write.data['summary'].merge(write.data['details'] || {}))
            else secrets.facts(write.data)
            end
          end
        end
      end
    end
  end
end
