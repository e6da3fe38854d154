# frozen_string_literal: true

require 'simpkv/cli/commands/ping'

module Simpkv
  module Cli
    module Commands
      # Pings, and counts what the connections did.
      class Stats < Ping
        SUMMARY = 'ping, and count what the connections did'
        DESCRIPTION = <<~TEXT
          Does what ping does, and prints the counters of the connections that this took: how many were opened, bound,
          failed, retried, and how long operations took. They are those of this process alone; puppetserver has its own,
          which Simpkv.stats answers.
        TEXT
        EXAMPLES = {
          'simpkv stats -o json' => 'For a program'
        }.freeze

        private

        def present(facts, _servers)
          pools = Simpkv.stats['pools']
          output.print(facts.merge('pools' => pools)) do
            table(facts) + pools.flat_map { |pool| lines(pool) }
          end
        end

        # A counter a line, by its place.
        def lines(counters, place = nil)
          counters.flat_map do |name, value|
            name = [place, name].compact.join('.')
            case value
            when Hash then lines(value, name)
            when Array then value.grep(Hash).each_with_index.flat_map { |each, index| lines(each, "#{name}[#{index}]") }
            else "#{name}: #{value}"
            end
          end
        end
      end
    end
  end
end
