# frozen_string_literal: true

require 'simpkv/cli/output'

module Simpkv
  module Cli
    # The state of a site in lines, for people.
    class StatusScreen
      # The most rows of a table.
      ROWS = 20
      TITLES = { 'servers' => 'Servers', 'compilers' => 'Compilers', 'nodes' => 'Nodes',
                 'expiring_keys' => 'Keys that expire', 'access' => 'Access rights',
                 'certificates' => 'Certificates of backends' }.freeze
      private_constant :ROWS, :TITLES

      # @param state [Hash{String => Hash}] of {Status::State#get}
      # @param alerts [Status::Alerts]
      # @param time [Time]
      def initialize(state, alerts, time)
        @state = state
        @alerts = alerts
        @time = time
      end

      # @return [Array<String>]
      def lines
        alerts = @alerts.all.map { |alert| "#{alert.level.ljust(8)}  #{alert.text}" }
        sections = TITLES.select { |name, _| @state.key?(name) }.map do |name, title|
          ['', title, *section(name, @state[name]).map { |line| "  #{line}" }]
        end
        ["#{@alerts.level} at #{@time.utc.iso8601}", *alerts, *sections.flatten]
      end

      private

      def section(name, part)
        # The alerts have the reason.
        return ['cannot be read: see above'] if part['error']
        return ['none: the site keeps no nodes here'] if name == 'nodes' && part['configured'] == false

        send(name, part)
      end

      def servers(part)
        servers = part['servers']
        return ['none: the keys are in files'] if servers.empty?

        rows = servers.map do |each|
          [each['backend'], each['uri'], each['writes'] ? 'yes' : 'no', each['state'], unit(each['latency_ms'], 'ms'),
           lag(each), unit(each['certificate_days'], 'days')]
        end
        table(%w[backend server writes state latency lag certificate], rows) +
          servers.map { |each| each['lag_unknown'] }.compact.uniq.map { |why| "lag ?: #{why}" }
      end

      # @return [String] `-` for the only server of a directory
      def lag(server)
        return '-' unless server.key?('lag_seconds')
        return '?' unless server['lag_seconds']

        "#{'>= ' if server['lag_unknown']}#{server['lag_seconds']} s"
      end

      def compilers(part)
        compilers = part['compilers']
        return ["none has stored counters within an hour ('compiler_counters')"] if compilers.empty?

        rows = compilers.map do |each|
          keys = each.fetch('keys', {}).map { |backend, print| "#{backend}=#{print}" }
          [each['name'], each['version'] || '-', each['time'], each['failures'], keys.empty? ? '-' : keys.join(' ')]
        end
        table(['compiler', 'simpkv', 'last seen', 'failures', 'keys'], rows)
      end

      def nodes(part)
        counts = part['statuses'].map { |status, count| "#{count} #{status}" }
        ["#{part['total']} active: #{counts.join(', ')}",
         "#{part['overdue']} not seen for a day, #{part['expired']} expired, " \
         "#{part['never_run']} declared and never run", *unreadable(part['unreadable'])]
      end

      def unreadable(part)
        return [] if part['total'].zero?

        rows = part['nodes'].flat_map do |node|
          node['documents'].map { |path, why| "#{path}: #{why}" }
        end
        more = rows.length - ROWS
        ["#{part['total']} whose status or inventory cannot be read; without its status, a node is in no other number:",
         *rows.first(ROWS), *('and more' if more.positive? || part['total'] > part['nodes'].length)]
      end

      def expiring_keys(part)
        unreadable = unreadable_keys(part['unreadable'])
        if part['total'].zero?
          return ["none within 14 days#{', of those that can be read' if unreadable.any?}", *unreadable]
        end

        rows = part['keys'].map do |key|
          [key['backend'], key['environment'] || '(global)', key['name'], key['expires']]
        end
        table(%w[backend environment key expires], rows, part['total']) + unreadable
      end

      def unreadable_keys(part)
        backends = part.fetch('backends', {}).keys.map { |name| "those of '#{name}' cannot be read: see above" }
        return backends if part['total'].zero?

        rows = part['keys'].map { |key| key.values_at('backend', 'path', 'why') }
        [*backends, "#{part['total']} cannot be read:",
         *table(['backend', 'path in the store', 'why'], rows, part['total'])]
      end

      def access(part)
        return ["none declared ('access')"] unless part['configured']

        ["#{part['differences']} differences, #{part['conflicts']} conflicts, #{part['warnings']} warnings"]
      end

      def certificates(part)
        return ['none'] if part['certificates'].empty?

        rows = part['certificates'].map do |each|
          [*each.values_at('backend', 'option', 'subject'), unit(each['days'], 'days')]
        end
        table(%w[backend option subject left], rows)
      end

      def unit(number, unit)
        number ? "#{number} #{unit}" : '-'
      end

      def table(head, rows, total = rows.length)
        shown = rows.first(ROWS)
        more = total - shown.length
        Output.table([head, *shown]) + (more.positive? ? ["and #{more} more"] : [])
      end
    end
  end
end
