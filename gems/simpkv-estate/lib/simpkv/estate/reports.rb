# frozen_string_literal: true

require 'digest/sha1'
require 'simpkv/estate/reread_reports'

module Simpkv
  class Estate
    # The last reports of each node, as many as the option `reports` says: summaries of Puppet's reports
    # ({ReportSummary}), of which these members count here:
    #
    #     { 'environment' => 'production', 'status' => 'changed', 'noop' => false,
    #       'resources' => { 'changed' => 3, 'failed' => 0, 'failed_to_restart' => 0 } }
    #
    # A stored report has two more: `received`, the time on the server, and `run`, the number of the node's run. Its key
    # is that number modulo the option, so that a new report replaces the oldest one. It may have details, which are not
    # read with it: see {ReportDetails}.
    #
    # The order of reports is that of the time at which their servers sent them ({Produced}), and then that of their
    # arrival. One that is older than the last one has come late: it is stored, unless it would replace a newer one, and
    # the status of the node stays (docs/adr/0115).
    class Reports < Documents
      # The members that are details, or belong to them.
      DETAILS = %w[details logs values statuses].freeze
      # The name of a value in an event.
      VALUES = ->(name) { %w[old new].include?(name) ? "#{name}_value" : name }
      private_constant :DETAILS, :VALUES

      # @param certname [String]
      # @param report [Hash] a stored one
      # @param names [SecretNames]
      # @return [String] what queries call its hash. Two nodes may have sent the same report. No secret goes into the
      #   hash, which could confirm a guess
      def self.hash_of(certname, report, names)
        report = without_secrets(report, names).reject { |name, _| name == ReportDetails::INLINE }
        Digest::SHA1.hexdigest([certname, Native.generate(report)].join("\0"))
      end

      # @param report [Hash] a stored one
      # @param names [SecretNames]
      # @param replacement [String, nil] of what is left out
      # @return [Hash] a copy without the messages of secret properties: Puppet writes the old and the new value there
      def self.without_secrets(report, names, replacement = nil)
        ReportSecrets.new(names, replacement).report(report)
      end

      # @param report [Hash] a stored one
      # @return [Hash] a copy without its details
      def self.summary(report)
        report.reject { |name, _| DETAILS.include?(name) }
      end

      # @param report [Hash] with its details: see {#with_details}
      # @return [Hash] a copy, for people and programs, in which each event has its values
      def self.whole(report)
        values = report['values'] || []
        events = report['events'].to_a.each_with_index.map do |event, index|
          event.is_a?(Hash) && values[index] ? event.merge(values[index].transform_keys(&VALUES)) : event
        end
        summary(report).merge('events' => events, 'logs' => report['logs'] || [])
      end

      def initialize(estate)
        super(estate, 'reports')
        @details = ReportDetails.new(estate)
      end

      # @param report [Hash] a stored one, or one that was sent
      # @return [String] the order of reports is that of these texts
      def self.order(report)
        Produced.order(report[Produced::TIME] || report['received'])
      end

      # Stores a report, the status of the node, and the counters of this process if they are due.
      #
      # @param certname [String]
      # @param report [Hash, WholeReport, WholeReport::Parts] plain data, see above
      # @return [Hash] the status, see {Statuses}
      # @raise [Error]
      def save(certname, report)
        report, details = parts(report)
        # The status goes first: it gives the run its number. If the report then fails, a retry counts the run again,
        # and the first number has no report.
        number = last = nil
        status = @estate.statuses.enter(certname) do |before|
          last = before[RunStatus::DETAILED]
          number = number(certname, report, before)
          next unless number

          run = RunStatus.new(report, before)
          run.after(number, ReportDetails.document?(details)).merge(slots.zero? ? run.began : {})
        end
        store(certname, stored_form(report, status, number), details, last) if number && slots.positive?
        @estate.counters.save_due
        status
      end

      # As {#save}, for a report that may arrive again, because its sender has had no answer: does nothing if it is
      # stored. A run whose status was stored without its report counts twice.
      #
      # @param certname [String]
      # @param report [Hash, WholeReport, WholeReport::Parts]
      # @return [Hash] the status
      # @raise [Error]
      def save_once(certname, report)
        before = @estate.statuses.before(certname)
        parts = WholeReport::Parts.new(*parts(report))
        stored?(certname, parts.summary, before['runs'].to_i) ? before : save(certname, parts)
      end

      # @param status [Hash] of a node
      # @param count [Integer] of reports that {#import} stores
      # @return [Hash] a copy that has counted them as runs
      def self.numbered(status, count)
        return status if count.zero?

        runs = status['runs'].to_i + count
        status.merge('runs' => runs, RunStatus::DETAILED => runs)
      end

      # @param certname [String]
      # @param reports [Array<Array(WholeReport, String)>] with the times of their receipt, the oldest first
      # @return [Array<Array(WholeReport, String)>] those that are not stored, as many as may be
      # @raise [Error]
      def missing(certname, reports)
        stored = all(certname) { |_key, _why| nil }
        reports.last(slots).reject do |report, _|
          report = parts(report).first
          stored.any? { |each| SameRun.of?(each, report) }
        end
      end

      # Stores reports of another server.
      #
      # @param certname [String]
      # @param reports [Array<Array(WholeReport, String)>] as for {#missing}
      # @param runs [Integer, nil] the number of the last one's run: see {.numbered}
      # @return [void]
      # @raise [Error]
      def import(certname, reports, runs)
        reports.each_with_index do |(whole, received), index|
          report, details = parts(whole)
          run = runs - reports.length + index + 1
          store(certname, report.merge('received' => received, 'run' => run), details, run)
        end
      end

      # Reads the details of reports of any nodes.
      #
      # @param tokens [Hash{Array(String, Integer) => String}] the member `details` of reports, by the names of their
      #   nodes and the numbers of their runs
      # @return [Hash{Array(String, Integer) => Hash}] details, by the same: see {WholeReport}. None for a report that
      #   another one has replaced since
      # @raise [Error]
      def details(tokens)
        keys = tokens.keys.to_h { |certname, run| [[certname, run], key(certname, run)] }
        found = @details.of(tokens.transform_keys { |run| keys[run] })
        keys.transform_values { |key| found[key] }.compact
      end

      # @param certname [String]
      # @param reports [Array<Hash>] stored ones of the node
      # @yieldparam key [String] of a report that has no details any more: see {#details}
      # @return [Array<Hash>] the same with the members of their details
      # @raise [Error]
      def with_details(certname, reports)
        tokens = reports.select { |report| report['details'] }
                        .to_h { |report| [[certname, report['run']], report['details']] }
        found = details(tokens)
        (tokens.keys - found.keys).each { |report| yield path(*key(*report)) } if block_given?
        reports.map { |report| report.merge(found[[certname, report['run']]] || {}) }
      end

      # @return [Array<Hash>] see {RereadReports#all}, as for the parameters
      def whole(certname, count = slots, **how, &block)
        RereadReports.new(self).all(certname, count, **how, &block)
      end

      # @param certname [String]
      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Array<Hash>] the stored reports of a node, newest first
      # @raise [MissingError] there is none, and their folder has no marker
      # @raise [MalformedError] see {Documents#all}; or there is a document in place of the folder of the node
      def all(certname, strict: false, &block)
        reports = super(certname, strict: strict, except: ReportDetails::NAME, &block)
        reports = in_order(reports.values.max_by(slots) { |report| report['run'].to_i })
        if reports.empty?
          demand_folder
          demand_folders([certname])
        end
        young(reports)
      end

      # Reads the reports of some runs of many nodes, with one connection in a directory.
      #
      # @param runs [Hash{String => Range<Integer>}] the numbers of the runs, by the names of the nodes
      # @yieldparam key [String] see {Documents#demand_many}, as for the block
      # @yieldparam why [String]
      # @return [Hash{String => Array<Hash>}] those that are stored, newest first
      # @raise [Error]
      def of_runs(runs, &block)
        keys = runs.flat_map { |certname, numbers| numbers.map { |number| key(certname, number) } }
        found = demand_many(keys, &block)
        demand_folders(runs.keys - found.keys.map(&:first)) if found.length < keys.length
        runs.to_h { |certname, numbers| [certname, young(among(found, certname, numbers))] }
      end

      # @return [String, nil] the time before which a report is too old by the option `report_ttl`; nil without it
      def limit
        lifetime = @estate.options['report_ttl']
        lifetime && (Time.now.utc - lifetime).iso8601
      end

      # Finds the reports that are too old. Skips those that cannot be read.
      #
      # @yieldparam names [Array<String>] of the key
      # @yieldparam document [String]
      # @return [void]
      # @raise [Error]
      def each_old
        limit = limit() or return

        folders.each do |certname|
          @estate.store.list(path(certname), required: false)[:keys].each do |slot, document|
            report = value_or_nil(path(certname, slot), document)
            yield [certname, slot], document if report && old?(report, limit)
          end
        end
      end

      # Deletes the reports that are too old, except those that a run replaces meanwhile.
      #
      # @return [Integer] their number
      # @raise [Error]
      def expire
        deleted = 0
        each_old do |names, document|
          next unless delete_expected(*names, document)

          deleted += 1
          remove_details(names, Codec.decode(document)[:value])
        end
        deleted
      end

      # @param certname [String]
      # @return [Hash, nil] the newest report of a node; nil if there is none
      def latest(certname, &block)
        all(certname, &block).first
      end

      # Deletes the reports of a node.
      #
      # @param certname [String]
      # @return [Boolean] whether there were any
      def delete(certname)
        deletetree(certname)
      end

      private

      # @return [Array<Hash>] newest first
      def in_order(reports)
        reports.sort_by { |report| [Reports.order(report), report['received'].to_s, report['run'].to_i] }.reverse
      end

      # @return [Array<Hash>] the reports of these runs among those that were found, newest first
      def among(found, certname, numbers)
        reports = numbers.map { |number| found[key(certname, number)]&.value }.compact
        in_order(reports.select { |report| numbers.cover?(report['run'].to_i) })
      end

      # Refuses a document in place of the folder of a node, which looks like no reports.
      def demand_folders(certnames)
        @estate.store.get_many(certnames.map { |certname| path(certname) }).each do |place, found|
          next if found.is_a?(NotFoundError) || found.is_a?(IsFolderError)

          raise found.is_a?(Error) ? found : MalformedError.unreadable(place, NO_FOLDER)
        end
      end

      def slots
        @estate.options['reports']
      end

      # @param run [Integer]
      # @return [Array<String>] the names of the key of its report
      def key(certname, run)
        [certname, (run % slots).to_s]
      end

      def young(reports)
        limit = limit()
        limit ? reports.reject { |report| old?(report, limit) } : reports
      end

      def old?(report, limit)
        Reports.order(report) < Produced.order(limit)
      end

      # @return [Array(Hash, Hash)] a summary and details; nil in place of these for a summary alone
      def parts(report)
        report.respond_to?(:parts) ? report.parts(@estate.options, @estate.secret_names) : [report, nil]
      end

      # The details go first, so that none are missing of a summary.
      #
      # @param last [Integer, nil] see {RunStatus::DETAILED}, before this run
      def store(certname, report, details, last)
        key = key(certname, report['run'])
        before = last && last >= report['run'] - slots ? replaced(key) : {}
        report = report.merge(@details.save(key, details))
        store_many(path(*key) => Codec.encode(report))
        remove_details(key, before) unless ReportDetails.apart?(report['details'].to_s)
      end

      # @return [Hash] the report that a new one replaces; an empty one if there is none, or it cannot be read
      def replaced(key)
        readable(*key)&.value || {}
      rescue MalformedError, DeniedError
        {}
      end

      def remove_details(key, report)
        token = report['details'].to_s
        @details.remove(key, token) if ReportDetails.apart?(token)
      end

      def valid?(report)
        report.is_a?(Hash) && texts?(report) &&
          report.values_at('run', 'events_left_out').compact.all?(Integer) &&
          (report['events'] || []).is_a?(Array) && counts?(report['resources'] || {})
      end

      def texts?(report)
        report.values_at('time', 'environment', 'status', 'received', 'details').compact.all?(String) &&
          Produced.valid?(report)
      end

      def counts?(resources)
        resources.is_a?(Hash) && resources.values_at('changed', 'failed', 'failed_to_restart').compact.all?(Numeric)
      end

      # If there is a report of a later run than the status knows, the status was lost. Only a document that has the
      # second of the report can be the same: others are not decoded.
      def stored?(certname, report, runs)
        second = report[Produced::TIME].to_s[0, 19]
        found = listed([certname]) do |_, document|
          next unless document.include?(second)

          decoded_or_error(document, method(:valid?)) { |old| old['run'].to_i <= runs && SameRun.of?(old, report) }
        end
        found[:keys].empty? ? demand_folder : found[:keys].value?(true)
      end

      # @return [Integer, nil] of the run; nil for a late report that is older than the one that it would replace
      def number(certname, report, before)
        number = before['runs'].to_i + 1
        return number unless RunStatus.new(report, before).late? && slots.positive?

        replaced = replaced(key(certname, number))
        number unless replaced.any? && Reports.order(report) < Reports.order(replaced)
      end

      def stored_form(report, status, number)
        report.merge('received' => status['received'] || status['last_seen'], 'run' => number)
      end
    end
  end
end
