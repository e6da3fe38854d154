# frozen_string_literal: true

require 'time'

module Simpkv
  module Cli
    # The data of a node in a PuppetDB, in the form in which the estate stores them.
    #
    # Parameters are those that PuppetDB has: plain data, in which a reference is a String such as `File[/x]`.
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
        @facts ||= values&.reject { |name, _| name == 'trusted' }
      end

      # @return [Hash, nil] the trusted facts, which PuppetDB keeps as a fact
      def trusted
        trusted = values && values['trusted']
        trusted if trusted.is_a?(Hash)
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
        @exports ||= @resources.sort_by { |each| member(each, 'title') }
                               .group_by { |each| member(each, 'type').downcase }
                               .transform_values { |list| list.map { |each| data(each) } }
      end

      private

      def values
        return unless @factset

        @values ||= member(member(@factset, 'facts', Hash), 'data', Array)
                    .to_h { |fact| [member(fact, 'name'), fact['value']] }
      end

      # @return [Hash] as {Estate::Exports} has it
      def data(resource)
        parameters = member(resource, 'parameters', Hash)
        { 'title' => resource['title'], 'parameters' => parameters.transform_values { |value| rich(value) },
          'tags' => Array(resource['tags']).sort, 'file' => resource['file'], 'line' => resource['line'] }.compact
      end

      # Puppet's rich data mark an object by a member. PuppetDB has no objects, but perhaps a Hash with that member.
      def rich(value)
        case value
        when Array then value.map { |member| rich(member) }
        when Hash
          members = value.transform_values { |member| rich(member) }
          members.key?(RichData::TYPE) ? RichData.object('Hash', members.flatten(1)) : members
        else value
        end
      end

      # @return [String] in UTC, in whole seconds, as the estate writes it
      def time(text)
        text ? Time.iso8601(text.to_s).utc.iso8601 : ''
      rescue ArgumentError
        raise MalformedError, 'PuppetDB has a time that is none', cause: nil
      end

      def member(row, name, type = String)
        value = row[name] if row.is_a?(Hash)
        return value if value.is_a?(type)

        raise MalformedError, "PuppetDB has something whose '#{name}' is not of type #{type}"
      end
    end
  end
end
