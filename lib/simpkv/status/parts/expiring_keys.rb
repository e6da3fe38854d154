# frozen_string_literal: true

require 'simpkv/counted'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/part'

module Simpkv
  module Status
    module Parts
      # The keys that expire soon, and those that cannot be read: see {Status::ExpiringKeys}.
      class ExpiringKeys < Part
        RANK = 40
        PERIOD = 300
        WORDS = 'keys that expire'
        TITLE = 'Keys that expire'
        METRICS = :reading
        # The most keys in memory.
        KEPT = 10_000
        private_constant :KEPT

        class << self
          def plain(value, most)
            Status::ExpiringKeys.plain(value, most)
          end

          def alert(part, alerts)
            unreadable(part['unreadable'], alerts)
            total = part['total']
            return if total.zero?

            alerts.add('warning', 'expiring_keys', "Expired, or to expire within 14 days: #{Counted.of(total, 'key')}.")
          end

          def lines(part, screen)
            unreadable = unreadable_lines(part['unreadable'], screen)
            if part['total'].zero?
              return ["none within 14 days#{', of those that can be read' if unreadable.any?}", *unreadable]
            end

            rows = part['keys'].map do |key|
              [key['backend'], key['environment'] || '(global)', key['name'], key['expires']]
            end
            screen.table(%w[backend environment key expires], rows, part['total']) + unreadable
          end

          # The number of some backends is not that of all.
          def performance(part, nagios)
            part['unreadable'].key?('backends') ? [] : [nagios.datum('expiring_keys', part['total'])]
          end

          private

          # Other parts tell of the documents that they judge.
          def unreadable(unreadable, alerts)
            unreadable.fetch('backends', {}).each do |name, error|
              alerts.add('unknown', 'expiring_keys', "The keys of the backend '#{name}' cannot be read: #{error}")
            end
            unreadable = Status::ExpiringKeys.without_nodes(unreadable) if alerts.told?('nodes')
            total = unreadable['total']
            return if total.zero?

            names = unreadable.fetch('keys', []).map { |key| "#{key['path']} of '#{key['backend']}'" }
            alerts.add('critical', 'expiring_keys',
                       "Keys or folders that cannot be read: #{alerts.some(total, names)}.")
          end

          def unreadable_lines(part, screen)
            backends = part.fetch('backends', {}).keys.map { |name| "those of '#{name}' cannot be read: see above" }
            return backends if part['total'].zero?

            rows = part['keys'].map { |key| key.values_at('backend', 'path', 'why') }
            [*backends, "#{part['total']} cannot be read:",
             *screen.table(['backend', 'path in the store', 'why'], rows, part['total'])]
          end
        end

        # @return [Hash{Symbol => Object}] `keys`, an Array of {Status::ExpiringKeys::Key}, those that expire first;
        #   `all`, whether these are all; `unreadable`, an Array of {Status::ExpiringKeys::Unreadable},
        #   `unreadable_total`, the number of all, and `unreadable_of_nodes`, of those that the part `nodes` has as
        #   well; and `errors`, why backends cannot be read, by their names
        # @raise [Error, ConfigError] the only backend cannot be read
        def read
          errors, found = read_keys.partition { |_, reading| reading.is_a?(Exception) }
          raise errors.first.last if names.one? && errors.any?

          keys, unreadable, totals, of_nodes = Array.new(4) { |part| found.flat_map { |_, reading| reading[part] } }
          { keys: keys.sort_by(&:expires).first(KEPT), all: keys.length < KEPT, unreadable: unreadable,
            unreadable_total: totals.sum, unreadable_of_nodes: of_nodes.sum,
            errors: errors.to_h.transform_values(&:message) }
        end

        def measure(page)
          names.map { |name| measure_backend(page, name) }.all?
        end

        private

        # Reads the keys of all backends at the same time. A backend that cannot be read hides nothing of the others.
        #
        # @return [Array<Array(String, Array|Exception)>] the name of each backend, and what was read, or the error
        def read_keys
          threads = names.map { |name| Thread.new { [name, keys_of(name)] } }
          threads.each { |thread| thread.report_on_exception = false }
          threads.map(&:value)
        end

        def keys_of(name)
          _, store = @site.store(@caller, name)
          judged = Part.all.each_value.map { |type| type.judged(@site, name) }.compact
          reading = Status::ExpiringKeys.new(name, store, judged: judged)
          [reading.first(KEPT), reading.unreadable, reading.unreadable_total, reading.unreadable_of_nodes]
        rescue Error, ConfigError => e
          e
        end

        # @return [Boolean] whether all keys of the backend could be read: a part of them has no metric
        def measure_backend(page, name)
          _, store = @site.store(@caller, name)
          count = Status::ExpiringKeys.new(name, store).count
          page.gauge(:simpkv_keys_expiring, 'Keys that have expired or expire within 14 days.', count, backend: name)
          true
        rescue Error, ConfigError
          false
        end
      end
    end
  end
end
