# frozen_string_literal: true

require 'digest/sha1'

module Simpkv
  class Estate
    # The last reports of each node, as many as the option `reports` says: summaries of Puppet's reports
    # ({ReportSummary}), of which these members count here:
    #
    #     { 'environment' => 'production', 'status' => 'changed', 'noop' => false,
    #       'resources' => { 'changed' => 3, 'failed' => 0, 'failed_to_restart' => 0 } }
    #
    # A stored report has two more: `received`, the time on the server, and `run`, the number of the node's run. Its key
    # is that number modulo the option, so that a new report replaces the oldest one.
    class Reports < Documents
      # The members that a stored report has more than the one that was sent.
      ADDED = %w[received run].freeze
      private_constant :ADDED

      # @param certname [String]
      # @param report [Hash] a stored one
      # @param names [SecretNames]
      # @return [String] what queries call its hash. Two nodes may have sent the same report. It depends on no secret:
      #   it would confirm a guess
      def self.hash_of(certname, report, names)
        Digest::SHA1.hexdigest([certname, Native.generate(without_secrets(report, names))].join("\0"))
      end

      # @param report [Hash] a stored one
      # @param names [SecretNames]
      # @param replacement [String, nil] of what is left out
      # @return [Hash] a copy without the messages of secret properties: Puppet writes the old and the new value there
      def self.without_secrets(report, names, replacement = nil)
        events = report['events']
        return report unless events.is_a?(Array)

        report.merge('events' => events.map do |event|
          secret = event.is_a?(Hash) && event['message'] && names.include?(event['property'].to_s)
          secret ? event.merge('message' => replacement) : event
        end)
      end

      def initialize(estate)
        super(estate, 'reports')
      end

      # Stores a report, the status of the node, and the counters of this process if they are due.
      #
      # @param certname [String]
      # @param report [Hash] plain data, see above
      # @return [Hash] the status, see {Statuses}
      # @raise [Error]
      def save(certname, report)
        # The status goes first: it gives the run its number. If the report fails then, a retry counts the run again,
        # and there is no report of the first number.
        status = @estate.statuses.enter(certname) { |before| status_after(report, before) }
        documents = slots.positive? ? { path(*key(certname, status['runs'])) => stored_form(report, status) } : {}
        store_many(documents.transform_values { |value| Codec.encode(value) })
        @estate.counters.save_due
        status
      end

      # As {#save}, for a report that may arrive again, because its sender has had no answer: does nothing if it is
      # stored. A run whose status was stored without its report counts twice.
      #
      # @param certname [String]
      # @param report [Hash]
      # @return [Hash] the status
      # @raise [Error]
      def save_once(certname, report)
        before = @estate.statuses.before(certname)
        stored?(certname, report, before['runs'].to_i) ? before : save(certname, report)
      end

      # @param certname [String]
      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Array<Hash>] the stored reports of a node, newest first
      # @raise [MissingError] there is none, and their folder has no marker
      # @raise [MalformedError] see {Documents#all}; or there is a document in place of the folder of the node
      def all(certname, strict: false, &block)
        reports = super.values.sort_by { |report| [report['received'].to_s, report['run'].to_i] }
        if reports.empty?
          demand_folder
          demand_folders([certname])
        end
        young(reports.reverse.first(slots))
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
        runs.to_h { |certname, numbers| [certname, young(among(found, certname, numbers).reverse)] }
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
            yield [certname, slot], document if report && report['received'].to_s < limit
          end
        end
      end

      # Deletes the reports that are too old, except those that a run replaces meanwhile.
      #
      # @return [Integer] their number
      # @raise [Error]
      def expire
        deleted = 0
        each_old { |names, document| deleted += 1 if delete_expected(*names, document) }
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

      # @return [Array<Hash>] the reports of these runs among those that were found, by number
      def among(found, certname, numbers)
        reports = numbers.map { |number| found[key(certname, number)]&.value }.compact
        reports.select { |report| numbers.cover?(report['run'].to_i) }
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
        limit ? reports.reject { |report| report['received'].to_s < limit } : reports
      end

      def valid?(report)
        report.is_a?(Hash) && report.values_at('time', 'environment', 'status', 'received').compact.all?(String) &&
          report.values_at('run', 'events_left_out').compact.all?(Integer) &&
          (report['events'] || []).is_a?(Array) && counts?(report['resources'] || {})
      end

      def counts?(resources)
        resources.is_a?(Hash) && resources.values_at('changed', 'failed', 'failed_to_restart').compact.all?(Numeric)
      end

      # If there is a report of a later run than the status knows, the status was lost.
      def stored?(certname, report, runs)
        all(certname) { |_key, _why| nil }.any? do |stored|
          stored['run'].to_i <= runs && stored.reject { |name, _| ADDED.include?(name) } == report
        end
      end

      def status_after(report, before)
        resources = report.fetch('resources', {})
        { 'environment' => report['environment'], 'status' => report['status'],
          'noop' => report['noop'], 'changes' => resources['changed'].to_i,
          'failures' => resources['failed'].to_i + resources['failed_to_restart'].to_i,
          'runs' => before['runs'].to_i + 1 }
      end

      def stored_form(report, status)
        report.merge('received' => status['last_seen'], 'run' => status['runs'])
      end
    end
  end
end
