# frozen_string_literal: true

module Simpkv
  class Estate
    # The status of a node ({Statuses}) when a report has arrived.
    class RunStatus
      # The member of the status that has the number of the last run with a document of details. A run without details
      # reads the report that it replaces only if that may have details, so that most runs need no round trip for this.
      DETAILED = 'details'
      # The member that has the time at which the last compiled run began, where no reports are stored that have it.
      BEGAN = 'began'

      # @param report [Hash] see {Reports}
      # @return [Boolean] whether a catalog was compiled for the run. One whose compilation has failed, or that has used
      #   a cached catalog, has exported nothing
      def self.compiled?(report)
        return false unless [nil, 'not_used'].include?(report['cached_catalog_status'])

        report['status'] != 'failed' || !report['catalog_uuid'].nil?
      end

      # @param report [Hash] see {Reports}
      # @param before [Hash] the status before
      def initialize(report, before)
        @report = report
        @before = before
      end

      # @return [Boolean] whether the report is older than that of the status
      def late?
        times = [@report[Produced::TIME], @before['report_timestamp']]
        times.all? && times.map { |time| Produced.order(time) }.reduce(:<)
      end

      # @param number [Integer] of the run
      # @param detailed [Boolean] whether the report has a document of details
      # @return [Hash] the members of the status
      def after(number, detailed)
        last = detailed ? number : @before[DETAILED]
        (late? ? kept : run).merge({ 'runs' => number }, { DETAILED => last }.compact)
      end

      # @return [Hash{String => String}] the member {BEGAN} of the status; none if it is unknown
      def began
        times = [@before[BEGAN], (@report['time'] if self.class.compiled?(@report))].compact
        times.empty? ? {} : { BEGAN => times.max_by { |time| Produced.order(time) } }
      end

      private

      def run
        resources = @report.fetch('resources', {})
        { 'environment' => @report['environment'], 'status' => @report['status'],
          'noop' => @report['noop'], 'changes' => resources['changed'].to_i,
          'failures' => resources['failed'].to_i + resources['failed_to_restart'].to_i }
          .merge({ 'report_timestamp' => @report[Produced::TIME] }.compact)
      end

      def kept
        @before.merge('run' => Statuses.newest_run(@before), 'received' => Time.now.utc.iso8601)
      end
    end
  end
end
