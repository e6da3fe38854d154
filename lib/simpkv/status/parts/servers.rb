# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/status/part'
require 'simpkv/status/servers'

module Simpkv
  module Status
    module Parts
      # The servers of directories: see {Status::Servers}.
      class Servers < Part
        RANK = 10
        PERIOD = 15
        WORDS = 'servers of directories'
        TITLE = 'Servers'
        LIMITS = { certificate: Limit.new('TIME', 'a certificate expires in less (30d; 7d)', 30, 7),
                   lag: Limit.new('TIME', 'a server lags behind by so much (1m; 15m)', 60, 900),
                   latency: Limit.new('MS', 'a read takes so many ms (1000; none)', 1, nil) }.freeze
        METRICS = :state
        # By member of a server: the name of its performance datum, its unit, and the name of its limits.
        DATA = { 'latency_ms' => ['latency', 'ms', :latency], 'lag_seconds' => ['lag', 's', :lag],
                 'certificate_days' => ['certificate', '', :certificate] }.freeze
        # By member of a server: the name, the description and the unit of its metric.
        GAUGES = { 'latency_ms' => [:simpkv_directory_server_latency_seconds, 'The time of a read.', 1000],
                   'certificate_days' => [:simpkv_directory_server_certificate_days,
                                          'The days until the certificate of the server expires.', 1],
                   'lag_seconds' => [:simpkv_replica_lag_seconds,
                                     'The time between the last change of the server and of all servers.', 1] }.freeze
        private_constant :DATA, :GAUGES

        class << self
          def alert(part, alerts)
            servers = part['servers']
            down = servers.select { |server| server['state'] == 'down' }
            alerts.most('servers of directories', 'servers') do
              misconfigured(servers, alerts)
              down.each { |each| no_answer(*each.values_at('uri', 'error'), alerts) }
              (servers - down).each { |each| server(each, alerts) }
              unknown_lags(servers.select { |each| each['lag_unknown'] }, down.map { |each| each['backend'] }, alerts)
              part['without_write_uri'].each { |name| writers(name, alerts) }
            end
          end

          def lines(part, screen)
            servers = part['servers']
            return ['none: the keys are in files'] if servers.empty?

            rows = servers.map do |each|
              [each['backend'], each['uri'], each['writes'] ? 'yes' : 'no', each['state'],
               screen.unit(each['latency_ms'], 'ms'), lag_of(each), screen.unit(each['certificate_days'], 'days')]
            end
            screen.table(%w[backend server writes state latency lag certificate], rows) +
              servers.map { |each| each['lag_unknown'] }.compact.uniq.map { |why| "lag ?: #{why}" }
          end

          def performance(part, nagios)
            part['servers'].flat_map do |server|
              DATA.select { |member, _| server[member] }.map do |member, (name, unit, limit)|
                bounds = %w[warning critical].map { |level| bound(nagios.limit(limit, level), name) }
                nagios.datum("#{name} #{server['backend']} #{server['uri']}", "#{server[member]}#{unit}", *bounds)
              end
            end
          end

          def metrics(page, part)
            servers = part.fetch('servers', [])
            unasked = servers.select { |server| server['state'] == 'misconfigured' }
            misconfigured = unasked.map { |server| server['backend'] }
            servers.map { |server| server['backend'] }.uniq.each do |name|
              flag(page, name, :simpkv_backend_without_write_uri,
                   'Whether several servers can take writes, without a write_uri.', part['without_write_uri'])
              flag(page, name, :simpkv_backend_misconfigured,
                   'Whether the options of the backend cannot be used, so that no server is asked.', misconfigured)
            end
            (servers - unasked).each { |each| gauges(page, each) }
          end

          private

          def no_answer(uri, error, alerts)
            alerts.add('critical', 'servers', "The server #{uri} does not answer: #{error.delete_prefix("#{uri}: ")}")
          end

          # Adds one alert for each backend that is misconfigured.
          def misconfigured(servers, alerts)
            unasked = servers.select { |each| each['state'] == 'misconfigured' }
            unasked.to_h { |each| each.values_at('backend', 'error') }.each do |backend, error|
              alerts.add('critical', 'servers', "The servers of the backend '#{backend}' cannot be asked: #{error}")
            end
          end

          # While all servers answer, an unknown lag is no alert: the identity of a backend may lack the right to read
          # it. If a server is down, it is an alert, because somebody may be about to move writes. A server that has
          # stored no change of another one is an alert, too: it may lack all of them.
          def unknown_lags(servers, backends, alerts)
            servers.select { |each| each['lag_unseen'] || backends.include?(each['backend']) }.each do |each|
              alerts.add('unknown', 'servers',
                         "The lag of the server #{each['uri']} is unknown: #{each['lag_unknown']}.")
            end
          end

          def writers(backend, alerts)
            alerts.add('warning', 'servers',
                       "Several servers of the backend '#{backend}' can take writes, and one key can get two values: " \
                       "set 'write_uri' to one server (docs/high-availability.md).")
          end

          def server(server, alerts)
            uri, latency, lag, comparison = server.values_at('uri', 'latency_ms', 'lag_seconds', 'lag')
            if latency
              alerts.add(alerts.high(latency / 1000.0, :latency), 'servers',
                         "A read of the server #{uri} takes #{latency} ms.")
            end
            lag(uri, lag, alerts) if lag
            comparison(uri, comparison, alerts) if comparison
            alerts.certificate('servers', "of the server #{uri}",
                               *server.values_at('certificate_days', 'certificate_ends'))
          end

          def lag(uri, seconds, alerts)
            alerts.add(alerts.high(seconds, :lag), 'servers',
                       "The server #{uri} lacks changes: its last one is #{seconds.round} s older than the last one " \
                       'of another server.')
          end

          def comparison(uri, lag, alerts)
            unless lag['ok']
              return alerts.add('warning', 'servers', "The keys of the server #{uri} could not be compared.")
            end

            differences = lag.values_at('missing', 'different', 'surplus').sum(&:to_i)
            return if differences.zero?

            alerts.add('critical', 'servers',
                       "The server #{uri} differs from the first one by #{Counted.of(differences, 'key')}.")
          end

          # @return [String] `-` for the only server of a directory
          def lag_of(server)
            return '-' unless server.key?('lag_seconds')
            return '?' unless server['lag_seconds']

            "#{'>= ' if server['lag_unknown']}#{server['lag_seconds']} s"
          end

          # A certificate should have many days left: the alert is below the limit.
          def bound(limit, name)
            scale = name == 'latency' ? 1000 : 1
            "#{limit * scale}#{':' if name == 'certificate'}" if limit
          end

          # Adds 1 for a backend that is one of the named ones, else 0.
          def flag(page, backend, metric, help, names)
            page.gauge(metric, help, names.include?(backend) ? 1 : 0, backend: backend)
          end

          def gauges(page, server)
            labels = { backend: server['backend'], server: server['uri'] }
            up = server['state'] == 'up' ? 1 : 0
            page.gauge(:simpkv_directory_server_up, 'Whether the server answers.', up, labels)
            GAUGES.each do |member, (name, text, unit)|
              page.gauge(name, text, server[member] && (server[member] / unit), labels)
            end
          end
        end

        # @return [Hash] `servers`: see {Status::Servers#all}; and `without_write_uri`: see
        #   {Status::Servers.without_writer}
        def read
          all = backends
          { 'servers' => Status::Servers.new(all).all, 'without_write_uri' => Status::Servers.without_writer(all) }
        end
      end
    end
  end
end
