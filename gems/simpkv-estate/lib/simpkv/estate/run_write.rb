# frozen_string_literal: true

require 'time'

module Simpkv
  class Estate
    # What one step of a run stores, as plain data. Puppet's termini store it at once, or put it into the {Spool} while
    # the server of writes is away. A subclass for each kind, see {KINDS}, knows how.
    class RunWrite
      # @return [String]
      attr_reader :certname

      # @return [String] when the step stored it, by the clock of the compiler: RFC 3339 in UTC, with microseconds
      attr_reader :time

      # @return [Object] plain data of the kind
      attr_reader :data

      # @return [String] one of {KINDS}
      def self.kind
        KINDS.key(self)
      end

      # @param document [Hash] of {#document}
      # @return [RunWrite]
      # @raise [MalformedError] it is none
      def self.of(document)
        kind, certname, time, data = Hash(document).values_at('kind', 'certname', 'time', 'data')
        time = Time.iso8601(time.to_s).utc.iso8601(6)
        raise TypeError unless certname.is_a?(String) && data.is_a?(Hash)

        KINDS.fetch(kind).new(certname, data, time: time)
      rescue ArgumentError, TypeError, KeyError
        raise MalformedError, 'it is not what a run stores', cause: nil
      end

      # @param certname [String]
      # @param data [Hash] of the kind
      # @param time [String] see {#time}
      def initialize(certname, data, time: Time.now.utc.iso8601(6))
        @certname = certname
        @data = data
        @time = time
      end

      # @return [Hash] what {.of} reads
      def document
        { 'kind' => self.class.kind, 'certname' => certname, 'time' => time, 'data' => data }
      end

      # Checks whether it can be stored: what waits in the spool, and cannot, waits for ever. Asks no server.
      #
      # @param estate [Estate]
      # @return [void]
      # @raise [InvalidError, TooLargeError, UnencodableError]
      def check(estate)
        estate.inventory.check_key(certname)
      end

      # Stores it.
      #
      # @param estate [Estate]
      # @return [void]
      # @raise [Error, ConfigError]
      def save(estate)
        raise NotImplementedError
      end

      # Stores it later. Does nothing if something newer of the node is stored, or the node was deactivated or removed
      # meanwhile.
      # May be repeated.
      #
      # @param estate [Estate]
      # @return [Boolean] whether it was stored
      # @raise [Error, ConfigError]
      def deliver(estate)
        status = estate.statuses.before(certname)
        return false if deactivated?(estate) || overtaken?(estate, status)

        save_late(estate)
      end

      private

      # @return [Boolean] see {#deliver}
      def save_late(estate)
        save(estate)
        true
      end

      # @return [Boolean] whether the node was deactivated or removed after this
      def deactivated?(estate)
        later?(estate.inventory.readable(certname)&.value.to_h[Deactivation::MEMBER]) ||
          later?(estate.purged.time(certname))
      end

      def overtaken?(estate, status)
        later?(stored_at(estate, status)) || later?(last_run(estate, status))
      end

      # @return [String, nil] the time of what is stored of this kind. Nil if that is lost or malformed: this write
      #   replaces it
      def stored_at(_estate, _status); end

      # @return [String, nil] when the last run began that was compiled and has ended. If reports are stored, a run has
      #   ended when its report has arrived, maybe at another compiler; the report has the time at which the run began
      def last_run(estate, status)
        return status['last_seen'] unless status['runs']
        return status[RunStatus::BEGAN] if estate.options['reports'].zero?

        reports = estate.reports.all(certname) { nil }.select { |report| RunStatus.compiled?(report) }
        reports.map { |report| report['time'] }.compact.max
      end

      # @return [Boolean] whether it is a time, and after this one
      def later?(stored)
        Time.iso8601(stored.to_s) > Time.iso8601(time)
      rescue ArgumentError
        false
      end

      # @return [String] the time, in whole seconds
      def second
        Time.iso8601(time).utc.iso8601
      end
    end

    # The kinds.
    class RunWrite
      # `{ 'values' => {}, 'trusted' => {}, 'produced' => {}, 'environment' => 'production' }`
      class Facts < RunWrite
        def save(estate, in_order: false)
          estate.facts.save(certname, data['values'], trusted: data['trusted'], timestamp: second,
                                                      produced: { Produced::TIME => time }.merge(data['produced'].to_h),
                                                      environment: data['environment'], in_order: in_order)
        end

        private

        def save_late(estate)
          save(estate, in_order: true)
        end

        def stored_at(estate, _status)
          facts = estate.facts.readable(certname)&.value || {}
          facts[Produced::TIME] || facts['timestamp']
        end
      end

      # `{ 'resources' => { 'user' => [...] }, 'environment' => 'production' }`
      class Exports < RunWrite
        def check(estate)
          estate.exports.check(certname, data['resources'])
        end

        def save(estate, in_order: false)
          estate.exports.save(certname, data['resources'], data['environment'], time: time, in_order: in_order)
        end

        private

        def save_late(estate)
          save(estate, in_order: true)
        end

        def stored_at(_estate, status)
          status[Statuses::KEPT]
        end
      end

      # The catalog.
      class Catalog < RunWrite
        def save(estate)
          estate.catalogs.put(certname, data)
        end

        private

        def stored_at(estate, _status)
          (estate.catalogs.readable(certname)&.value || {})[Produced::TIME]
        end
      end

      # `{ 'environment' => 'production' }`, of a run without a report
      class Status < RunWrite
        def save(estate)
          estate.statuses.enter(certname) { data }
        end

        private

        def save_late(estate)
          estate.statuses.enter(certname) { data.merge('last_seen' => second) }
          true
        end
      end

      # `{ 'summary' => {}, 'details' => {} }`: see {WholeReport#parts}. The report is stored however late it is, unless
      # it is stored already.
      class Report < RunWrite
        # @param certname [String]
        # @param report [WholeReport]
        # @param estate [Estate] whose options say what is kept
        # @return [Report]
        def self.of_whole(certname, report, estate)
          new(certname, %w[summary details].zip(report.parts(estate.options, estate.secret_names)).to_h)
        end

        def save(estate)
          estate.reports.save(certname, parts)
        end

        private

        def save_late(estate)
          estate.reports.save_once(certname, parts)
          true
        end

        def parts
          WholeReport::Parts.new(*data.values_at('summary', 'details'))
        end

        def overtaken?(_estate, _status)
          false
        end
      end

      # `{ 'outcome' => {}, 'last' => {} }`: see {Inspections#replace_last}
      class Inspection < RunWrite
        def save(estate)
          estate.inspections.replace_last(certname, *data.values_at('outcome', 'last'))
        end

        private

        def save_late(estate)
          estate.inspections.replace_last(certname, data['outcome'], last(estate))
          true
        end

        def stored_at(estate, _status)
          last(estate).to_h[Inspections::CHANGED_AT]
        end

        def last(estate)
          estate.inspections.readable(certname)&.value
        end
      end

      # The answer of another classifier.
      class Node < RunWrite
        def save(estate)
          estate.nodes.cache(certname, data)
        end
      end

      # What a run reports, by kind. A run stores nothing else while the server of writes is away: the record of a
      # discovered node must be stored before its catalog is compiled.
      KINDS = { 'facts' => Facts, 'node' => Node, 'inspection' => Inspection, 'exports' => Exports,
                'catalog' => Catalog, 'status' => Status, 'report' => Report }.freeze
    end
  end
end
