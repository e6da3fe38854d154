# frozen_string_literal: true

require 'simpkv/cli/commands/ping'

module Simpkv
  module Cli
    module Commands
      # Pings, and prints the counters of connections.
      class Stats < Ping
        SECTION = :storage
        SUMMARY = 'ping, and print the counters of connections'
        DESCRIPTION = <<~TEXT
          Does the same as ping, for the backend that functions use or that of --backend, and prints the counters of
          its connections: how many were opened, bound, failed and retried, and how long operations took. These are
          the counters of this process. Simpkv.stats returns those of puppetserver.
        TEXT
        EXAMPLES = {
          'simpkv stats -o json' => 'For a program'
        }.freeze

        private

        def others
          []
        end

        def present(facts)
          facts = facts.reject { |name, _| name == 'servers' }
          pools = Simpkv.stats['pools']
          pools.flat_map { |pool| pool['servers'] }.map { |server| server['tls'] }.compact.each do |tls|
            tls['certificate_ends'] = Measurement.certificate_end(tls)
          end
          output.print(facts.merge('pools' => pools)) do
            table(facts) + pools.flat_map { |pool| lines(pool) }
          end
        end

        # One line for each counter, with its path.
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
