# frozen_string_literal: true

require 'simpkv/cli/estate/spool_command'

module Simpkv
  module Cli
    module Commands
      module Spool
        # Lists what waits in the spool.
        class List < SpoolCommand
          SUMMARY = 'list what runs have left in the spool of this machine'
          SUGGEST_FOR = { 'spooled' => 'spool list', 'queue' => 'spool list' }.freeze
          DESCRIPTION = <<~TEXT
            Lists what runs on this compiler have reported while the server of writes was away, and what has not been
            delivered since: the oldest first. The option spool of the estate names the folder. Exits with 65 if an
            entry cannot be read.
          TEXT
          EXAMPLES = { 'simpkv spool list' => 'A line for each entry' }.freeze
          HEAD = %w[entry kind node time bytes].freeze
          private_constant :HEAD

          def run
            errors = {}
            list = on_spool do |spool|
              spool.waiting.map { |waiting| entry(waiting, read(spool, waiting.name, errors)) }
            end
            output.print(list) { table(list) }
            report(errors)
          end

          private

          def read(spool, name, errors)
            spool.read(name)
          rescue Simpkv::Error => e
            errors[name] = e.message
            nil
          end

          def table(list)
            return [] if list.empty?

            rows = list.map { |each| HEAD.map { |name| name == 'node' ? Output.name(each[name] || '-') : each[name] } }
            Output.table([HEAD, *rows])
          end
        end
      end
    end
  end
end
