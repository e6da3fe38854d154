# frozen_string_literal: true

require 'time'
require 'simpkv/termini'
require 'simpkv/termini/plain_data'
require 'simpkv/termini/stored_report'

module Simpkv
  module Termini
    # Reports of nodes: what is stored of each, and what Puppet gets back.
    module ReportTerminus
      class << self
        # @param report [Puppet::Transaction::Report]
        # @return [void]
        # @raise [Puppet::Error]
        def save(report)
          certname = report.host
          Termini.report("save the report of '#{certname}'", certname) do |estate, store|
            store.call(Estate::RunWrite::Report.of_whole(certname, whole(report), estate))
          end
        end

        # @param certname [String]
        # @return [Puppet::Transaction::Report, nil] the last one, as far as it is stored
        # @raise [Puppet::Error] a report cannot be read
        def find(certname)
          search(certname).first
        end

        # @param certname [String]
        # @return [Array<Puppet::Transaction::Report>] the stored ones of a node, newest first
        # @raise [Puppet::Error]
        def search(certname)
          summaries = Termini.perform("read the reports of '#{certname}'", node: certname, otherwise: []) do |estate|
            estate.reports.whole(certname, strict: true) { |key, why| Termini.malformed(key, why) }
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
        # @return [Estate::WholeReport]
        def whole(report)
          members = Estate::ReportSummary::MEMBERS.select { |name| report.respond_to?(name) }
          members = members.to_h { |name| [name, PlainData.of(report.public_send(name))] }
          members.merge!(Termini.produced, 'time' => timestamp(report.time))
          statuses = report.resource_statuses.values.compact
          Estate::WholeReport.new(members, report.metrics.transform_values { |metric| values(metric) },
                                  statuses.flat_map { |status| events(status) }, report.logs.map { |log| log(log) },
                                  StoredReport.statuses(statuses))
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
          Estate::ReportSummary.time(time)
        end

        # @return [Hash{String => Numeric}]
        def values(metric)
          metric.values.to_h { |key, _label, value| [key.to_s, value] }
        end

        # A resource that was skipped has no events. One stands for it.
        def events(status)
          return status.events.map { |event| event(status, event) } unless status.skipped && status.events.empty?

          [of_resource(status).merge('status' => Estate::ReportSummary::SKIPPED, 'time' => timestamp(status.time))]
        end

        # The message is the one of Puppet's log, which does not show sensitive values. The values of an event that has
        # some are not stored.
        def event(status, event)
          members = { 'property' => text(event.property), 'name' => text(event.name), 'status' => event.status.to_s,
                      'time' => timestamp(event.time), 'message' => text(event.message),
                      'corrective_change' => event.corrective_change, 'values' => StoredReport.values(event) }
          of_resource(status).merge(members)
        end

        def of_resource(status)
          { 'resource' => text(status.resource), 'file' => text(status.file), 'line' => status.line,
            'containment_path' => PlainData.of(status.containment_path) }
        end

        def log(log)
          { 'level' => log.level.to_s, 'message' => text(log.message), 'source' => text(log.source),
            'tags' => PlainData.of(log.tags.to_a), 'time' => timestamp(log.time), 'file' => text(log.file),
            'line' => log.line }
        end

        def text(value)
          value.nil? ? nil : PlainData.of(value.to_s)
        end
      end
    end
  end
end
