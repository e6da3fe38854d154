# frozen_string_literal: true

require 'simpkv/estate/puppetdb_data'
require 'time'

module Simpkv
  module Cli
    # The data of a node in a PuppetDB, in the form in which the estate stores them: see {Estate::PuppetDBData}.
    class PuppetDBNode
      # @param row [Hash] of the entity `nodes`
      # @param factset [Hash, nil] of the entity `factsets`
      # @param resources [Array<Hash>] of the entity `resources`
      def initialize(row, factset, resources)
        @row = row
        @factset = factset
        @resources = resources
      end

      # @return [String]
      def name
        @row['certname']
      end

      # @return [Hash{String => Object}, nil] the facts, without the trusted ones; nil if there are none
      def facts
        @facts ||= values && Estate::PuppetDBData.facts(values)
      end

      # @return [Hash, nil] the trusted facts, which PuppetDB keeps as a fact
      def trusted
        values && Estate::PuppetDBData.trusted(values)
      end

      # @return [String] the time of the run that reported them
      def facts_timestamp
        time(@factset['producer_timestamp'] || @factset['timestamp'])
      end

      # @return [String] the time of the last run; '' if it is unknown
      def last_seen
        %w[report_timestamp catalog_timestamp facts_timestamp].map { |name| time(@row[name]) }.max
      end

      # @return [String, nil]
      def environment
        %w[catalog_environment facts_environment report_environment].map { |name| @row[name] }.compact.first
      end

      # @return [Hash{String => Object}] as in {Estate::Statuses}
      def status
        seen = last_seen unless last_seen.empty?
        { 'last_seen' => seen, 'environment' => environment, 'status' => @row['latest_report_status'],
          'noop' => @row['latest_report_noop'] }.compact
      end

      # @return [Hash{String => Array<Hash>}] the exported resources, by the lower-case name of their type
      def exports
        @exports ||= Estate::PuppetDBData.exports(@resources)
      end

      private

      def values
        return unless @factset

        @values ||= member(member(@factset, 'facts', Hash), 'data', Array)
                    .to_h { |fact| [member(fact, 'name'), fact['value']] }
      end

      # @return [String] in UTC, in whole seconds, as the estate writes it
      def time(text)
        text ? Time.iso8601(text.to_s).utc.iso8601 : ''
      rescue ArgumentError
        raise MalformedError, 'PuppetDB has a time that is none', cause: nil
      end

      def member(row, name, type = String)
        Estate::PuppetDBData.member(row, name, type)
      end
    end
  end
end
