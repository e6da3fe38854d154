# frozen_string_literal: true

require 'simpkv/estate/puppetdb_data'
require 'time'

module Simpkv
  module Cli
    # A report in a PuppetDB, in the form in which the estate stores it.
    class PuppetDBReport
      # The members of a row that a summary has by the same names.
      MEMBERS = %w[status environment noop noop_pending corrective_change puppet_version report_format
                   configuration_version transaction_uuid catalog_uuid code_id job_id cached_catalog_status type
                   producer].freeze
      # The members of an event that are stored as they are.
      OF_EVENT = %w[property name status message file line corrective_change containment_path].freeze
      OF_LINE = %w[level message source tags file line].freeze
      private_constant :MEMBERS, :OF_EVENT, :OF_LINE

      # @param row [Hash] of the entity `reports`
      def initialize(row)
        @row = row
      end

      # @return [String] when PuppetDB has received it, in whole seconds
      def received
        time(@row['receive_time'] || @row['producer_timestamp'])&.sub(/\.\d+/, '') || malformed
      end

      # @return [Estate::WholeReport]
      def whole
        Estate::WholeReport.new(members, metrics, data('resource_events').map { |event| event(event) },
                                data('logs').map { |line| with_time(line, OF_LINE, 'time') })
      end

      private

      def members
        times = { 'time' => 'start_time', 'end_time' => 'end_time', 'producer_timestamp' => 'producer_timestamp' }
        @row.slice(*MEMBERS).merge(times.transform_values { |name| time(@row[name]) },
                                   'host' => Estate::PuppetDBData.member(@row, 'certname'))
      end

      def metrics
        rows = data('metrics').group_by { |row| Estate::PuppetDBData.member(row, 'category') }
        rows.transform_values { |list| list.to_h { |row| row.values_at('name', 'value') } }
      end

      # PuppetDB has neither lists where there are none, nor those of a very old version.
      def data(name)
        part = @row[name]
        list = part.is_a?(Hash) ? part['data'] || [] : []
        list.is_a?(Array) && list.all?(Hash) ? list : malformed
      end

      def event(row)
        type, title = %w[resource_type resource_title].map { |name| Estate::PuppetDBData.member(row, name) }
        values = { 'old' => row['old_value'], 'new' => row['new_value'] }.compact
        with_time(row, OF_EVENT, 'timestamp').merge('resource' => "#{type}[#{title}]",
                                                    'values' => (values unless values.empty?))
      end

      def with_time(row, names, time)
        row.slice(*names).merge('time' => time(row[time]))
      end

      def time(text)
        Estate::ReportSummary.time(text && Time.iso8601(text.to_s))
      rescue ArgumentError
        malformed
      end

      def malformed
        raise MalformedError, 'PuppetDB has a report that is none', cause: nil
      end
    end
  end
end
