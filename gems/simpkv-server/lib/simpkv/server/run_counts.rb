# frozen_string_literal: true

module Simpkv
  module Server
    # Counts the runs of the last days by their status, from the reports in the index of queries.
    class RunCounts
      # The number of days, today included.
      DAYS = 14
      STATUSES = %w[failed changed noop unchanged unknown].freeze
      # A report that came late counts for the day of its run.
      TIME = 'producer_timestamp'
      DAY = ['function', 'to_string', TIME, 'YYYY-MM-DD'].freeze
      COUNT = %w[function count].freeze
      private_constant :DAYS, :TIME, :DAY, :COUNT

      # @param queries [Queries]
      # @param estate [Estate]
      def initialize(queries, estate)
        @queries = queries
        @estate = estate
      end

      # @return [Hash{String => Object}] `days`: of each day (UTC) its `date`, and a number for each of {STATUSES};
      #   `reports_per_node`: the most reports that the store keeps of a node; `complete_since`: before this time, the
      #   store has deleted reports, so that days have fewer runs than there were; nil if it has not; `index_time`: the
      #   time until which the index has the runs, if it does not follow the store; nil if it does
      # @raise [InvalidError] the store keeps no reports
      # @raise [Error] the index cannot be asked
      def of_days
        kept = @estate.options['reports']
        raise InvalidError, "the store keeps no reports: the option 'reports' of the estate is 0" if kept.zero?

        # The answers may be newer.
        { 'index_time' => @queries.behind&.since, 'days' => days, 'reports_per_node' => kept,
          'complete_since' => complete_since(kept) }
      end

      private

      def days
        today = Time.now.utc.to_date
        dates = Array.new(DAYS) { |back| (today - (DAYS - 1 - back)).iso8601 }
        counts = dates.to_h { |date| [date, STATUSES.to_h { |status| [status, 0] }] }
        rows(dates.first).each do |row|
          day = counts[row['to_string']]
          day[status(row)] += row['count'] if day
        end
        counts.map { |date, numbers| { 'date' => date, **numbers } }
      end

      def status(row)
        return 'noop' if row['noop'] && row['status'] != 'failed'

        STATUSES.include?(row['status']) ? row['status'] : 'unknown'
      end

      def rows(first)
        ask(['extract', [DAY, 'status', 'noop', COUNT], ['>=', TIME, "#{first}T00:00:00Z"],
             ['group_by', DAY, 'status', 'noop']])
      end

      # The oldest report of a node of which the store keeps no more, or the age at which the store deletes reports.
      def complete_since(kept)
        oldest = ask(['extract', ['certname', COUNT, ['function', 'min', TIME]], %w[group_by certname]])
        [*oldest.select { |row| row['count'] >= kept }.map { |row| row['min'] }, *@estate.reports.limit].max
      end

      def ask(query)
        @queries.ask('path' => ['reports'], 'query' => query).data
      end
    end
  end
end
