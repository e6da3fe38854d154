# frozen_string_literal: true

require 'time'
require 'simpkv/termini'
require 'simpkv/termini/plain_data'
require 'simpkv/termini/stored_report'

module Simpkv
  module Termini
    # Reports of nodes: the summary that is stored of each, and what Puppet gets back.
    module ReportTerminus
      class << self
        # @param report [Puppet::Transaction::Report]
        # @return [void]
        # @raise [Puppet::Error]
        def save(report)
          certname = report.host
          Termini.perform("save the report of '#{certname}'", report: true, node: certname) do |estate|
            estate.reports.save(certname, summary(report))
          end
        end

        # @param certname [String]
        # @return [Puppet::Transaction::Report, nil] the last one, as far as its summary goes
        # @raise [Puppet::Error] a report cannot be read
        def find(certname)
          search(certname).first
        end

        # @param certname [String]
        # @return [Array<Puppet::Transaction::Report>] the stored ones of a node, newest first
        # @raise [Puppet::Error]
        def search(certname)
          summaries = Termini.perform("read the reports of '#{certname}'", node: certname, otherwise: []) do |estate|
            estate.reports.all(certname, strict: true) { |key, why| Termini.malformed(key, why) }
          end
          summaries.map { |summary| report(certname, summary) }.compact
        end

        # @param certname [String]
        # @return [Boolean] whether there were any
        # @raise [Puppet::Error]
        def delete(certname)
          Termini.perform("delete the reports of '#{certname}'", node: certname, soft: false) do |estate|
            estate.reports.delete(certname)
          end
        end

        # @param report [Puppet::Transaction::Report]
        # @return [Hash] plain data: see {Estate::ReportSummary}
        def summary(report)
          members = Estate::ReportSummary::MEMBERS.select { |name| report.respond_to?(name) }
          members = members.to_h { |name| [name, PlainData.of(report.public_send(name))] }
          members['time'] = timestamp(report.time)
          Estate::ReportSummary.of(members, report.metrics.transform_values { |metric| values(metric) }, events(report))
        end

        private

        def report(certname, summary)
          Puppet::Transaction::Report.from_data_hash(StoredReport.new(summary).to_data_hash)
        rescue StandardError # Its message may quote values.
          return Termini.left_out("a report of '#{certname}'") if Termini.estate.options['skip_undecodable']

          raise Puppet::Error, "simpkv estate: could not read the reports of '#{certname}': one is no summary of a " \
                               'report', cause: nil
        end

        def timestamp(time)
          time = Time.parse(time) if time.is_a?(String)
          time&.utc&.iso8601
        end

        # @return [Hash{String => Numeric}]
        def values(metric)
          metric.values.to_h { |key, _label, value| [key.to_s, value] }
        end

        def events(report)
          report.resource_statuses.values.compact.flat_map do |status|
            status.events.map { |event| event(status, event) }
          end
        end

        # The message is the one of Puppet's log, which does not show sensitive values. Other members may.
        def event(status, event)
          { 'resource' => text(status.resource), 'property' => text(event.property), 'status' => event.status.to_s,
            'time' => timestamp(event.time), 'message' => text(event.message), 'file' => text(status.file),
            'line' => status.line, 'corrective_change' => event.corrective_change }
        end

        def text(value)
          value.nil? ? nil : PlainData.of(value.to_s)
        end
      end
    end
  end
end
