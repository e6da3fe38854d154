# frozen_string_literal: true

require 'time'
require 'simpkv/status/compilers'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/reason'
require 'simpkv/status/wording'

module Simpkv
  module Status
    # What needs attention, from the state of a site: one sentence each, the urgent ones first.
    class Alerts
      include Wording

      # The parts of the state, in words.
      PARTS = { 'nodes' => 'nodes', 'runs' => 'runs', 'servers' => 'servers of directories',
                'compilers' => 'compilers', 'expiring_keys' => 'keys that expire', 'access' => 'access rights',
                'certificates' => 'certificates of backends', 'doctor' => 'findings of doctor' }.freeze

      # The limits: days until the end of a certificate, seconds of lag and of a read, numbers of nodes. nil is none.
      LIMITS = { certificate_warning: 30, certificate_critical: 7, lag_warning: 60, lag_critical: 900,
                 latency_warning: 1, latency_critical: nil, failed_warning: 1, failed_critical: nil,
                 overdue_warning: 1, overdue_critical: nil }.freeze

      # The levels, the worst first.
      LEVELS = %w[critical unknown warning].freeze
      # The most about servers, and about certificates.
      MOST = 10
      DAY = 86_400
      private_constant :MOST, :DAY

      # - `level`: `critical` (something is broken now), `unknown` (a part cannot be read) or `warning`
      # - `about`: `failed`, `overdue`, or the name of a part of the state; nil for a part that cannot be read
      # - `text`: a sentence
      Alert = Struct.new(:level, :about, :text)

      # @return [Array<Alert>]
      attr_reader :all

      # @param state [Hash{String => Hash}] the parts, each as its class returns it; one that cannot be told has `error`
      # @param limits [Hash{Symbol => Numeric, nil}] those that differ from {LIMITS}
      def initialize(state, limits = {})
        @state = state
        @limits = LIMITS.merge(limits)
        @all = []
        hidden, told = PARTS.keys.select { |name| state.key?(name) }.partition { |name| untold?(name) }
        told.each { |name| send(name, state[name]) }
        untold(hidden)
        most('certificates of the service', 'service') { service(state['service']) } if state.key?('service')
        sort
      end

      # @return [String] the worst level, or `ok`
      def level
        @all.empty? ? 'ok' : @all.first.level
      end

      # @return [Array<String>] the parts that are being read for the first time, in words
      def pending
        PARTS.select { |name, _| @state.fetch(name, {})['pending'] }.values
      end

      # @return [Array<String>] the parts that cannot be read without an alert, in words: a site may do without the
      #   index, and the console says so in the place of the chart
      def unknown
        %w[runs].select { |name| @state.key?(name) && untold?(name) && !@state[name]['pending'] }
                .map { |name| PARTS[name] }
      end

      private

      def untold?(name)
        @state[name].key?('error')
      end

      # A directory that is down hides several parts, for one reason.
      def untold(names)
        names = names.reject { |name| @state[name]['pending'] || unknown.include?(PARTS[name]) }
        names.group_by { |name| Reason.of(@state[name]['error']) }.each_value do |group|
          names = list(group.map { |name| PARTS[name] })
          add('unknown', nil, "The #{names} cannot be read: #{@state[group.first]['error']}")
        end
      end

      def list(words)
        *others, last = words
        [*(others.join(', ') if others.any?), last].join(' and ')
      end

      def add(level, about, text)
        @all << Alert.new(level, about, text) if level
      end

      def sort
        @all = @all.each_with_index.sort_by { |alert, number| [LEVELS.index(alert.level), number] }.map(&:first)
      end

      # @return [String, nil] the level of a value that should be low
      def high(value, name)
        reached(name) { |limit| value >= limit }
      end

      # @return [String, nil] the level of a value that should be high
      def low(value, name)
        reached(name) { |limit| value < limit }
      end

      def reached(name)
        %w[critical warning].find { |level| (limit = @limits[:"#{name}_#{level}"]) && yield(limit) }
      end

      def nodes(part)
        return if part['configured'] == false

        unreadable_nodes(part['unreadable'])
        unmade(part['without_markers'])
        failed = part['statuses']['failed']
        add(high(failed, :failed), 'failed', "The last run failed on #{count(failed, 'node')}.") if failed.positive?
        overdue = part['overdue']
        add(high(overdue, :overdue), 'overdue', "Not seen for a day: #{count(overdue, 'node')}.") if overdue.positive?
      end

      def unreadable_nodes(unreadable)
        total = unreadable['total']
        return if total.zero?

        names = unreadable.fetch('nodes', []).map { |node| node['name'] }
        add('critical', 'nodes', "Nodes whose status or inventory cannot be read: #{some(total, names)}.")
      end

      def unmade(folders)
        return if folders.empty?

        add('warning', 'nodes', 'An earlier version made the estate. Nobody would notice the loss of ' \
                                "#{list(folders)}: run 'simpkv init --only estate' once.")
      end

      def runs(_part); end

      # Adds what the block adds, but the most urgent only, and how many more there are.
      def most(what, about)
        before = @all
        @all = []
        yield
        found = sort
        @all = before + found.first(MOST)
        more = found.drop(MOST)
        add(more.first.level, about, "#{more.length} more about #{what}.") if more.any?
      end

      def servers(part)
        down = part['servers'].select { |server| server['state'] == 'down' }
        most('servers of directories', 'servers') do
          misconfigured(part['servers'])
          down.each { |each| no_answer(*each.values_at('uri', 'error')) }
          (part['servers'] - down).each { |each| server(each) }
          unknown_lags(part['servers'].select { |each| each['lag_unknown'] }, down.map { |each| each['backend'] })
          part['without_write_uri'].each { |name| writers(name) }
        end
      end

      def no_answer(uri, error)
        add('critical', 'servers', "The server #{uri} does not answer: #{error.delete_prefix("#{uri}: ")}")
      end

      # Adds one alert for each backend that is misconfigured.
      def misconfigured(servers)
        unasked = servers.select { |each| each['state'] == 'misconfigured' }
        unasked.to_h { |each| each.values_at('backend', 'error') }.each do |backend, error|
          add('critical', 'servers', "The servers of the backend '#{backend}' cannot be asked: #{error}")
        end
      end

      # While all servers answer, an unknown lag is no alert: the identity of a backend need not have the right to read
      # it. Where one is down, somebody may be about to move writes. A server that has stored no change of another one
      # may lack them all.
      def unknown_lags(servers, backends)
        servers.select { |each| each['lag_unseen'] || backends.include?(each['backend']) }.each do |each|
          add('unknown', 'servers', "The lag of the server #{each['uri']} is unknown: #{each['lag_unknown']}.")
        end
      end

      def writers(backend)
        add('warning', 'servers', "Several servers of the backend '#{backend}' can take writes, and one key can get " \
                                  "two values: set 'write_uri' to one server (docs/high-availability.md).")
      end

      def server(server)
        uri = server['uri']
        latency(uri, server['latency_ms']) if server['latency_ms']
        lag(uri, server['lag_seconds']) if server['lag_seconds']
        comparison(uri, server['lag']) if server['lag']
        certificate('servers', "of the server #{uri}", *server.values_at('certificate_days', 'certificate_ends'))
      end

      def latency(uri, milliseconds)
        add(high(milliseconds / 1000.0, :latency), 'servers', "A read of the server #{uri} takes #{milliseconds} ms.")
      end

      def lag(uri, seconds)
        add(high(seconds, :lag), 'servers', "The server #{uri} lacks changes: its last one is #{seconds.round} s " \
                                            'older than the last one of another server.')
      end

      def comparison(uri, lag)
        return add('warning', 'servers', "The keys of the server #{uri} could not be compared.") unless lag['ok']

        differences = lag.values_at('missing', 'different', 'surplus').sum(&:to_i)
        return if differences.zero?

        add('critical', 'servers', "The server #{uri} differs from the first one by #{count(differences, 'key')}.")
      end

      # @param days [Integer, nil] until the end, as whole days; nil for no certificate
      # @param ends [String, nil] the exact time
      def certificate(about, whose, days, ends)
        return unless days

        text = days.zero? ? 'expires in less than a day' : "expires in #{count(days, 'day')}"
        text = 'has expired' if days.negative?
        left = ends ? (Time.iso8601(ends) - Time.now) / DAY : days
        add(low(left, :certificate), about, "The certificate #{whose} #{text}.")
      end

      def service(part)
        part['certificates'].each do |each|
          whose = "#{each['subject']} ('#{each['option']}' of the service)"
          certificate('service', whose, *each.values_at('days', 'expires'))
        end
      end

      def certificates(part)
        most('certificates of backends', 'certificates') do
          part['certificates'].each do |each|
            whose = "#{each['subject']} ('#{each['option']}' of the backend '#{each['backend']}')"
            certificate('certificates', whose, *each.values_at('days', 'expires'))
          end
        end
      end

      def compilers(part)
        Compilers.warnings(part.fetch('compilers', [])).each { |text| add('warning', 'compilers', text) }
      end

      def expiring_keys(part)
        unreadable_keys(part['unreadable'])
        total = part['total']
        return if total.zero?

        add('warning', 'expiring_keys', "Expired, or to expire within 14 days: #{count(total, 'key')}.")
      end

      def unreadable_keys(unreadable)
        unreadable.fetch('backends', {}).each do |name, error|
          add('unknown', 'expiring_keys', "The keys of the backend '#{name}' cannot be read: #{error}")
        end
        unreadable = ExpiringKeys.without_nodes(unreadable) if nodes_told?
        total = unreadable['total']
        return if total.zero?

        names = unreadable.fetch('keys', []).map { |key| "#{key['path']} of '#{key['backend']}'" }
        add('critical', 'expiring_keys', "Keys or folders that cannot be read: #{some(total, names)}.")
      end

      # The alert about nodes has their documents.
      def nodes_told?
        @state.key?('nodes') && !untold?('nodes') && @state['nodes']['configured'] != false
      end

      def access(part)
        differences = part['differences'].to_i + part['conflicts'].to_i
        return if differences.zero?

        add('warning', 'access',
            "The directory differs from the declared access rights: #{count(differences, 'difference')}.")
      end

      def doctor(part)
        problems, warnings, unknown = part['counts'].values_at('problem', 'warning', 'unknown')
        add('critical', 'doctor', "simpkv doctor finds #{count(problems, 'problem')}.") if problems.positive?
        add('warning', 'doctor', "simpkv doctor has #{count(warnings, 'warning')}.") if warnings.positive?
        return unless unknown.positive?

        add('warning', 'doctor', "simpkv doctor could not examine #{count(unknown, 'subject')}.")
      end
    end
  end
end
