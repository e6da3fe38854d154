# frozen_string_literal: true

require 'simpkv/cli/puppetdb/puppetdb_report'
require 'simpkv/estate/puppetdb_data'
require 'time'

module Simpkv
  module Cli
    # The data of a node in a PuppetDB, in the form in which the estate stores them: see {Estate::PuppetDBData}.
    class PuppetDBNode
      # @param row [Hash] of the entity `nodes`
      # @param factset [Hash, nil] of the entity `factsets`
      # @param resources [Array<Hash>] of the entity `resources`
      # @param reports [Array<Hash>] of the entity `reports`, the newest first
      # @param packages [Array<Hash>] of the entity `package_inventory`
      def initialize(row, factset, resources, reports, packages)
        @row = row
        @factset = factset
        @resources = resources
        @reports = reports
        @packages = packages
      end

      # @return [String]
      def name
        @row['certname']
      end

      # @return [Hash{String => Object}, nil] the facts, without the trusted ones, and with that of the packages; nil if
      #   there are none
      def facts
        @facts ||= values && Estate::PuppetDBData.with_packages(Estate::PuppetDBData.facts(values), packages)
      end

      # @return [Hash, nil] the trusted facts, which PuppetDB keeps as a fact
      def trusted
        values && Estate::PuppetDBData.trusted(values)
      end

      # @return [String] the time of the run that reported them
      def facts_timestamp
        time(@factset['producer_timestamp'] || @factset['timestamp'])
      end

      # @return [Hash{String => String}] see {Estate::Produced}
      def facts_produced
        producer, text = @factset.values_at(*Estate::Produced::MEMBERS)
        Estate::Produced.members(producer&.to_s, exact(text))
      end

      # @return [String] the time of the last run; '' if it is unknown
      def last_seen
        %w[report_timestamp catalog_timestamp facts_timestamp].map { |name| time(@row[name]) }.max
      end

      # @return [String, nil] the time of the catalog that exported them; nil if it is unknown
      def exports_timestamp
        text = @row['catalog_timestamp']
        text && time(text)
      end

      # @return [String, nil]
      def environment
        %w[catalog_environment facts_environment report_environment].map { |name| @row[name] }.compact.first
      end

      # @return [Hash{String => Object}] as in {Estate::Statuses}: a report that is older does not replace it
      def status
        seen = last_seen unless last_seen.empty?
        { 'last_seen' => seen, 'environment' => environment, 'status' => @row['latest_report_status'],
          'noop' => @row['latest_report_noop'], 'report_timestamp' => exact(@row['report_timestamp']) }.compact
      end

      # @return [Hash{String => Array<Hash>}] the exported resources, by the lower-case name of their type
      def exports
        @exports ||= Estate::PuppetDBData.exports(@resources)
      end

      # @return [Array<Array(Estate::WholeReport, String)>] the reports with the times at which PuppetDB has received
      #   them, the oldest first
      def reports
        @reports.reverse.map do |row|
          report = PuppetDBReport.new(row)
          [report.whole, report.received]
        end
      end

      private

      def values
        return unless @factset

        @values ||= member(member(@factset, 'facts', Hash), 'data', Array)
                    .to_h { |fact| [member(fact, 'name'), fact['value']] }
      end

      # @return [Array<Array(String, String, String)>] in the same order each time
      def packages
        @packages.map { |row| %w[package_name version provider].map { |name| member(row, name) } }.sort
      end

      # @return [String] in UTC, in whole seconds, as the estate writes it
      def time(text)
        text ? parsed(text).iso8601 : ''
      end

      # @return [String, nil] in UTC, with its digits
      def exact(text)
        text && Estate::Produced.text(parsed(text), text)
      end

      def parsed(text)
        Time.iso8601(text.to_s).utc
      rescue ArgumentError
        raise MalformedError, 'PuppetDB has a time that is none', cause: nil
      end

      def member(row, name, type = String)
        Estate::PuppetDBData.member(row, name, type)
      end
    end
  end
end
