# frozen_string_literal: true

module Simpkv
  class Estate
    # What a caller of {Snapshots} knows of a node: the digest, the number of the last run of which it has the report,
    # its own name of that report, the time of its facts, as text, and the source of its resources. The number is nil if
    # the caller lacks the report of a run before: its place may have an older report, which no later run shows.
    Known = Struct.new(:digest, :run, :report, :time, :source)

    # Reads all that is stored of nodes, for the index of queries. The record of the inventory is written after the
    # documents that it names, and the status names the last report: if the record and the status are the same as
    # before, so is the rest.
    class Snapshots
      # What is stored of a node, as its classes return it: nil for what is not. `exports` are lists of resources by
      # type, `reports` a list, of the run with the number `since` and later ones, or of all if that is nil. `digest`
      # changes with the inventory record and the status; it is nil while the documents do not agree, because a run is
      # saving them, or because a replica is late. A node is `doubtful` if its facts or exports differ from those that
      # its record names: a replica may be so late that there is a digest nevertheless, which does not change when they
      # arrive. `source` is a digest of all that its resources come from, if a catalog is stored and no save is on its
      # way. With `same_source`, the catalog was not decoded, because the caller knows the resources. With
      # `status_only`, facts and exports were not read.
      Snapshot = Struct.new(:digest, :inventory, :status, :facts, :exports, :catalog, :reports, :since, :source,
                            :same_source, :status_only, :doubtful) do
        # @return [Boolean] whether there is such a node: a list may have had it before
        def stored?
          !(inventory.nil? && status.nil?)
        end
      end

      # The number of seconds for which documents that do not agree count as those of a run that is on its way.
      SETTLING = 60
      # The number of reports that are read by the numbers of their runs. More are read as a list of the node.
      NUMBERED = 8
      private_constant :SETTLING, :NUMBERED

      # @param estate [Estate]
      def initialize(estate)
        @estate = estate
        @misnamed = Misnamed.new(estate)
      end

      # Lists the nodes.
      #
      # @return [Hash{String => String}] the digest of each node, by name: see {Snapshot}
      # @raise [ConfigError] a folder is missing or hidden
      # @raise [Error] the store cannot read a document
      def digests
        records = @estate.inventory.digests
        statuses = @estate.statuses.digests
        (records.keys | statuses.keys).to_h { |name| [name, "#{records[name]}.#{statuses[name]}"] }
      end

      # @param certname [String]
      # @return [String, nil] as in {#digests}, from the server that takes writes, even if others answer in its place
      #   else; nil if there is no such node
      # @raise [InvalidError, TooLargeError] no key can have the name
      # @raise [MalformedError] a document is malformed; names the key
      # @raise [Error] the store cannot read a document
      def latest_digest(certname)
        stored = Run.current.at_writer do
          [@estate.inventory, @estate.statuses].map { |documents| documents.read(certname) }
        end
        digest(*stored) if stored.any?
      end

      # @param certnames [Array<String>]
      # @param known [Hash{String => Known}] what the caller knows, by the names of nodes: that is not read again
      # @yieldparam key [String] of a document whose content is malformed, and which is left out then
      # @yieldparam why [String]
      # @return [Hash{String => Snapshot}] by the names of the nodes, without those that have the digest that is known
      # @raise [MalformedError] without a block: a document is malformed; names the key
      # @raise [MalformedError] no node can have one of the names: see {Misnamed#refuse}
      # @raise [MissingError] a document is missing, or hidden, that the inventory names
      # @raise [Error] the store cannot read a document
      def of(certnames, known = {}, &block)
        certnames.each { |name| @misnamed.refuse(name) }
        records = named(@estate.inventory, certnames, &block)
        statuses = named(@estate.statuses, certnames, &block)
        changed = certnames.reject { |name| digest(records[name], statuses[name]) == known[name]&.digest }
        snapshots(changed, records, statuses, known, &block)
      end

      private

      def snapshots(certnames, records, statuses, known, &block)
        catalogs, sources = catalogs(certnames, records, known, &block)
        same_sources = sources.to_h { |name, source| [name, source == known[name]&.source] }
        same = certnames.to_h { |name| [name, same?(known[name], records[name], statuses[name], same_sources[name])] }
        parts = [records, statuses, *read(certnames.reject { |name| same[name] }, records, &block), catalogs,
                 *numbered(wanted(statuses.slice(*certnames), known), &block), sources, same_sources, same]
        certnames.to_h do |name|
          [name, complete(name, Snapshot.new(nil, *parts.map { |part| part[name] }), &block)]
        end
      end

      # @return [Array<Hash>] facts and exports, by the names of nodes
      def read(certnames, records, &block)
        types = certnames.to_h { |name| [name, (records[name]&.value.to_h['exports'] || {}).keys] }
        [@estate.facts.many(certnames, &block), @estate.exports.many(types, &block)]
      end

      # @return [Array<Hash>] catalogs, without those whose resources are known, and the sources of resources, by the
      #   names of nodes
      def catalogs(certnames, records, known, &block)
        return [{}, {}] unless @estate.options['catalogs']

        sources = {}
        unchanged = lambda do |(name), document|
          source = source(records[name]&.value, document)
          sources[name] = source if source
          source && source == known[name]&.source
        end
        found = named(@estate.catalogs, certnames, known: unchanged, &block)
        [found.transform_values(&:value), sources]
      end

      # @return [String, nil] see {Snapshot}. The record names the digests of the exports
      def source(record, catalog)
        return unless record && whole?(record)

        parts = [Documents.digest(catalog), record['environment'], *record['exports'].sort.flatten]
        Documents.digest(Codec.encode(parts))
      end

      # @return [Hash{String => Stored}] by the names of nodes
      def named(documents, certnames, **how, &block)
        documents.demand_many(certnames.map { |name| [name] }, **how, &block).transform_keys(&:first)
      end

      # Returns true if only the status has changed: the record names the digests of facts and exports. A catalog has
      # none there.
      def same?(known, record, status, same_source)
        return false if [known&.time, record, status].include?(nil) || (@estate.options['catalogs'] && !same_source)

        known.digest.start_with?("#{Documents.digest(record.document)}.") && whole?(record.value) &&
          status.value['last_seen'].to_s > known.time
      end

      # @return [Boolean] whether no save is on its way, or has died
      def whole?(record)
        record.values_at('environment', 'exports', 'facts_digest').all? && record['exports'].values.all?
      end

      # @return [Hash{String => Range<Integer>}] the runs of which reports are read, for nodes with few new ones
      def wanted(statuses, known)
        return {} if @estate.options['reports'].zero?

        most = [NUMBERED, @estate.options['reports']].min
        statuses.each_with_object({}) do |(name, status), wanted|
          last = status.value['runs']
          firsts = [known[name]&.run, Statuses.newest_run(status.value)]
          wanted[name] = firsts.min..last if firsts.all? && (0...most).cover?(last - firsts.min)
        end
      end

      # Reads reports of runs. If one of a node is not stored, because a run has died or still saves, its place may have
      # an older report: then all of the node are read.
      #
      # @return [Array<Hash>] reports, and the first of their runs, by the names of nodes
      def numbered(runs, &block)
        found = @estate.reports.of_runs(runs, &block)
        runs = runs.select { |name, numbers| lacking(numbers, found[name]).empty? }
        [found.slice(*runs.keys), runs.transform_values(&:begin)]
      end

      # @return [Array<Integer>] the runs of which there is no report
      def lacking(numbers, reports)
        numbers.to_a - reports.map { |report| report['run'] }
      end

      # Adds reports, digest and doubt. The snapshot still has record, status and exports with their documents.
      def complete(name, snapshot, &block)
        digest = digest(snapshot.inventory, snapshot.status)
        exports = take_values(snapshot)
        snapshot.reports ||= reports(name, snapshot, &block)
        snapshot.doubtful = !as_named?(name, snapshot, exports, &block)
        snapshot.source = nil if snapshot.doubtful
        snapshot.digest = digest if settled?(snapshot)
        snapshot
      end

      # @return [Hash{String => Stored}] the exports with their documents
      def take_values(snapshot)
        exports = snapshot.exports || {}
        snapshot.inventory = snapshot.inventory&.value
        snapshot.status = snapshot.status&.value
        snapshot.exports = exports.transform_values(&:value)
        exports
      end

      def settled?(snapshot)
        (!snapshot.doubtful && reports_agree?(snapshot)) || !settling?(snapshot)
      end

      def digest(*stored)
        stored.map { |one| one && Documents.digest(one.document) }.join('.')
      end

      def reports(name, snapshot, &block)
        snapshot.status.to_h['runs'] ? @estate.reports.all(name, strict: true, &block) : []
      end

      # @return [Boolean] whether facts and exports are those that the record of the inventory names
      def as_named?(name, snapshot, exports, &block)
        snapshot.status_only ||
          (exports_agree?(name, snapshot, exports, &block) && facts_agree?(name, snapshot, &block))
      end

      def exports_agree?(name, snapshot, exports, &block)
        digests = snapshot.inventory.to_h['exports'].to_h.compact
        missing = digests.keys - exports.keys
        @estate.exports.demand(name, missing, &block)
        missing.empty? && digests.all? { |type, digest| Documents.digest(exports[type].document) == digest }
      end

      # The documents of a node come from one server, unless others may answer.
      def facts_agree?(name, snapshot, &block)
        digest = snapshot.inventory.to_h['facts_digest']
        return true if digest.nil?

        if snapshot.facts.nil?
          @estate.facts.demand(name, &block)
          return false
        end
        !@estate.replica? || @estate.facts.intact?(snapshot.facts, digest)
      end

      # The status of a run is stored before its report. Of two runs at once, the later one may store its report first.
      def reports_agree?(snapshot)
        last = snapshot.status.to_h['runs']
        return true if last.nil? || @estate.options['reports'].zero?

        first = [snapshot.since || 1, last - @estate.options['reports'] + 1].max
        lacking(first..last, snapshot.reports).empty?
      end

      def settling?(snapshot)
        status = snapshot.status.to_h
        last = [status['received'], Statuses.last_seen(status, snapshot.inventory.to_h)].compact.max
        !last.nil? && last > (Time.now.utc - SETTLING).iso8601
      end
    end
    private_constant :Snapshots
  end
end
