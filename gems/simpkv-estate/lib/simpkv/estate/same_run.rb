# frozen_string_literal: true

module Simpkv
  class Estate
    # Tells whether two reports of a node are of one run. They may differ in their form: one that comes from an archive
    # has times to milliseconds, lacks secrets, and has members that others compute (docs/adr/0118).
    module SameRun
      # The time of the run by the clock of the node.
      TIME = 'time'
      UUID = 'transaction_uuid'
      # The members that are the same in each form of a report.
      MEMBERS = %w[status environment noop puppet_version catalog_uuid code_id].freeze
      # What {Produced.order} has after milliseconds.
      FINER = 6
      private_constant :TIME, :UUID, :MEMBERS, :FINER

      class << self
        # @param stored [Hash] a stored report
        # @param report [Hash] one that was sent
        # @return [Boolean] whether both are of one run: their times are the same, and their UUID, or all else without
        #   one
        def of?(stored, report)
          return false unless time?(stored[TIME], report[TIME]) && time?(sent(stored, report), report[Produced::TIME])
          return false unless stored[UUID].to_s == report[UUID].to_s

          !report[UUID].to_s.empty? || contents(stored) == contents(report)
        end

        private

        # Queries show the time of its receipt for a report that has no other one.
        def sent(stored, report)
          stored[Produced::TIME] || (stored['received'] if report[Produced::TIME])
        end

        # Two times that have more digits than milliseconds differ if one of these does.
        def time?(*times)
          times.map! { |time| Produced.order(time) }
          return true if times.uniq.one?

          times.any? { |time| time.end_with?('0' * FINER) } && times.uniq { |time| time[0...-FINER] }.one?
        end

        def contents(report)
          seconds = report['times'].to_h.transform_values { |value| value.is_a?(Numeric) ? value.to_f.round(3) : value }
          [report.values_at(*MEMBERS), report['configuration_version'].to_s, seconds, report['resources'].to_h,
           report['event_counts'].to_h, events(report)]
        end

        def events(report)
          report['events'].to_a.grep(Hash).map { |event| event.values_at('resource', 'property', 'status') }
                          .sort_by(&:to_s)
        end
      end
    end
    private_constant :SameRun
  end
end
