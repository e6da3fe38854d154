# frozen_string_literal: true

require 'set'
require 'simpkv/query/feed'
require 'simpkv/query/index'
require 'simpkv/query/rows'
require 'simpkv/query/verification'

module Simpkv
  module Query
    # Brings an index to what the store has. A refresh may be killed at any time, and repeated.
    class Builder
      # The number of nodes that are read and written together.
      CHUNK = 50

      # The digest of a node that is read again by the next refresh.
      UNSETTLED = ''
      # What stands before the digest of a node that is doubtful: see {Estate::Snapshots::Snapshot}.
      DOUBTFUL = '?'
      # The seconds after which doubtful nodes are read again, though their digests are the same.
      DOUBT = 10
      # The members of Estate::Known. The run is NULL if there is a gap before it.
      NEWEST = 'SELECT digest, CASE WHEN (SELECT max(run) - min(run) + 1 = count(*) FROM reports WHERE node = n.id) ' \
               'THEN run END, r.hash, facts_timestamp, source FROM nodes n LEFT JOIN reports r ON r.node = n.id ' \
               'LEFT JOIN catalogs c ON c.node = n.id WHERE certname = ? ORDER BY run DESC LIMIT 1'
      private_constant :UNSETTLED, :DOUBTFUL, :DOUBT, :NEWEST

      # @return [Feed] of the estate
      attr_reader :feed

      # @return [Boolean] whether a node that was entered last was being saved, so that it is to be read again
      attr_reader :unsettled

      # @return [Integer] the number of nodes that the last comparison has found changed, without those that are read
      #   again anyway, as {#settle} does
      attr_reader :untold

      # @param estate [Estate]
      # @param index [Index]
      # @param warn [#call] receives a warning for each malformed document, with the option `skip_undecodable`
      # @param stopping [#call] returns true when a refresh is to be given up
      def initialize(estate, index, warn: ->(_warning) {}, stopping: -> { false })
        @estate = estate
        @index = index
        @feed = Feed.new(estate)
        @warn = warn
        @stopping = stopping
        @warned = {}
      end

      # Makes the index anew.
      #
      # @return [Integer] the number of nodes
      # @raise [ConfigError, Error] as {#refresh}
      def build
        @index.exclusively do
          @index.delete
          refresh
        end
      end

      # Enters what has changed since the last refresh. If a document cannot be read, the index stays as old as it is,
      # and says why.
      #
      # @param called [Time] what the store had then is in the index afterwards
      # @yieldreturn [Hash{String => String}] a list of the store since that time: see {Feed#list}
      # @return [Integer] the number of nodes that were new, have changed, or were removed
      # @raise [MalformedError] a document is malformed; names it
      # @raise [ConfigError] the store, or the folder of the index, is wrong
      # @raise [InterruptedError] it was given up
      # @raise [Error] the store or the index cannot be used
      def refresh(called = Time.now)
        @index.exclusively do
          next @untold = 0 if refreshed_since?(called)

          noting_failures { compare(called, block_given? ? yield : @feed.list) }
        end
      end

      # Enters nodes of which the feed has told. The index counts as no newer for it: there may be other changes.
      #
      # @param certnames [Array<String>]
      # @return [Integer] the number of those that had changed
      # @raise [MalformedError, ConfigError, InterruptedError, Error] as {#refresh}
      def follow(certnames)
        following { [certnames, []] }
      end

      # Enters what changes though no node is changed: nodes that were being saved, or are doubtful, reports that are
      # too old by now, and nodes that have expired.
      #
      # @return [Integer] the number of nodes that were read
      # @raise [MalformedError, ConfigError, InterruptedError, Error] as {#refresh}
      def settle
        following { |database| [again(database)] * 2 }.tap do
          @index.update { |writer| writer.expire(Rows::Times.of(Time.now)) }
        end
      end

      # @param certname [String]
      # @return [Boolean] whether the index has all that the store has now of a node
      # @raise [InvalidError, TooLargeError] no key can have the name
      # @raise [Error, ConfigError] the store or the index cannot be read
      def current?(certname)
        sql = 'SELECT digest FROM nodes WHERE certname = ?'
        entered = @index.read { |database| database.get_first_value(sql, [certname]) }
        entered&.delete_prefix(DOUBTFUL) == @estate.snapshots.latest_digest(certname)
      end

      # Compares the index with the store. Leaves out nodes that have changed since the last refresh.
      #
      # @return [Array<String>, nil] the names of nodes whose rows are not those that the store makes, sorted; nil if
      #   there is no index of this version and of these options
      # @raise [DamagedError] the file of the index is damaged
      # @raise [MalformedError] a document is malformed; names it
      # @raise [ConfigError, Error] as {#refresh}
      def check
        @index.examine do |database|
          verification = Verification.new(database)
          begin
            verification.demand_sound
            different(verification, digests(database))
          ensure
            verification.close
          end
        end
      end

      private

      # @return [Boolean] whether another process has refreshed the index while this one waited. A time that is yet to
      #   come tells nothing: the clock was ahead then
      def refreshed_since?(time)
        refreshed = @index.state.refreshed
        !refreshed.nil? && refreshed > time.to_f && refreshed <= Time.now.to_f
      end

      def new_rows
        Rows.new(lifetime: @estate.options['node_ttl'], secret_names: @estate.secret_names)
      end

      def different(verification, digests)
        rows = new_rows
        digests.keys.each_slice(CHUNK).flat_map do |certnames|
          snapshots = read(certnames)
          snapshots.select! { |name, snapshot| snapshot.digest && digest(snapshot) == digests[name] }
          rows_of(rows, snapshots).reject { |certname, node| verification.same?(certname, node) }.keys
        end.sort
      end

      # An index that was made anew meanwhile has to be compared first.
      #
      # @yieldparam database [SQLite3::Database]
      # @yieldreturn [Array(Array<String>, Array<String>)] nodes; those that are read even if their digest is the one of
      #   the index
      # @return [Integer] the number of nodes
      def following
        @index.exclusively do
          noting_failures do
            names, known = @index.read do |database|
              next unless Index::State.of(database).refreshed

              names, anew = yield database
              [names, known(database, names, anew)]
            end
            names ? enter(names, known).length : compare(Time.now, @feed.list)
          end
        end
      end

      # Enters the nodes that differ from a list of the store. The index may be newer than the list.
      def compare(started, listed)
        due, changed, known = @index.read do |database|
          due = again(database)
          names = differing(listed, digests(database)) | due
          [due, names, known(database, names, due)]
        end
        entered = enter(changed, known)
        @index.update do |writer|
          writer.expire(Rows::Times.of(started))
          writer.note('refreshed' => started.to_f, 'failed' => nil, 'failure' => nil, 'done' => nil, 'total' => nil)
        end
        @untold = (entered - due).length
        entered.length
      end

      def differing(listed, digests)
        digests.transform_values! { |digest| digest.delete_prefix(DOUBTFUL) }
        (listed.keys | digests.keys).reject { |name| listed[name] == digests[name] }
      end

      def noting_failures
        started = Time.now
        yield
      rescue InterruptedError
        raise
      rescue Error, ConfigError, SystemCallError => e
        fail_at(started, e)
        raise
      end

      def digests(database)
        database.execute('SELECT certname, digest FROM nodes').to_h
      end

      # @return [Array<String>] the nodes that are read again, whatever their digests are: those that were being saved,
      #   those with reports that are too old by now, and from time to time those that are doubtful, which may be many
      def again(database)
        doubt = @doubted.nil? || Clock.now - @doubted >= DOUBT
        @doubted = Clock.now if doubt
        names = database.execute('SELECT certname FROM nodes WHERE digest = ? OR (? AND digest LIKE ?)',
                                 [UNSETTLED, doubt ? 1 : 0, "#{DOUBTFUL}%"])
        limit = Rows::Times.text(@estate.reports.limit)
        old = 'SELECT DISTINCT certname FROM reports JOIN nodes ON nodes.id = node WHERE producer_timestamp < ?'
        names += database.execute(old, [limit]) if limit
        names.flatten.uniq
      end

      # @return [String] the digest of a node in the index
      def digest(snapshot)
        return UNSETTLED unless snapshot.digest

        "#{DOUBTFUL if snapshot.doubtful}#{snapshot.digest}"
      end

      # Of a node that was being saved, any report may have been missing.
      #
      # @param anew [Array<String>] the nodes whose digest counts as unknown
      # @return [Hash{String => Estate::Known}] what is in the index, by the names of nodes
      def known(database, certnames, anew)
        rows = database.prepare(NEWEST) { |newest| certnames.to_h { |one| [one, newest.execute(one).first] }.compact }
        rows.transform_values { |row| Estate::Known.new(*(row.first == UNSETTLED ? row.first(1) : row)) }
            .tap { |known| anew.each { |certname| known[certname]&.digest = UNSETTLED } }
      end

      # @param known [Hash{String => Estate::Known}] what is in the index
      # @return [Array<String>] the nodes that were not as they are known
      def enter(certnames, known)
        rows = new_rows
        @unsettled = false
        certnames.each_slice(CHUNK).with_index.flat_map do |names, number|
          raise InterruptedError, 'the refresh of the index was given up' if @stopping.call

          snapshots = read_whole(names, known)
          made = rows_of(rows, snapshots)
          @index.update do |writer|
            snapshots.each { |certname, snapshot| write(writer, certname, snapshot, made[certname]) }
            writer.note('done' => (number * CHUNK) + names.length, 'total' => certnames.length)
          end
          snapshots.keys
        end
      end

      # Reads nodes again whose runs are others than those that the index knows: they were removed, and have come back.
      def read_whole(certnames, known)
        snapshots = read(certnames, known)
        names = snapshots.select { |name, snapshot| snapshot.since && !continued?(name, snapshot, known[name]) }.keys
        snapshots.update(read(names)) if names.any?
        @unsettled ||= snapshots.each_value.any? { |snapshot| snapshot.stored? && snapshot.digest.nil? }
        snapshots
      end

      # @return [Boolean] whether the last report that the index has is among those that were read
      def continued?(certname, snapshot, known)
        last = snapshot.reports.find { |report| report['run'] == known.run }
        !last.nil? && Estate::Reports.hash_of(certname, last, @estate.secret_names) == known.report
      end

      # Called once for each node: the rows of a path of facts are among those of the first node that has it. Threads
      # that answer requests run in between: without that, one of them could wait for 0.1 s.
      #
      # @return [Hash{String => Hash}] the rows of each node that is there
      def rows_of(rows, snapshots)
        snapshots.select { |_, snapshot| snapshot.stored? }.to_h do |certname, snapshot|
          members = snapshot.to_h.reject { |name, _| %i[since same_source status_only doubtful].include?(name) }
          documents = Rows::Documents.new(certname: certname, **members, digest: digest(snapshot))
          [certname, rows.of(documents, **snapshot.to_h.slice(:same_source, :status_only))].tap { Thread.pass }
        end
      end

      # A node may be removed between the list and its documents.
      def write(writer, certname, snapshot, rows)
        Thread.pass
        return writer.remove(certname) unless rows

        writer.public_send(snapshot.status_only ? :replace_status : :replace, certname, rows, kept(snapshot))
      end

      # @return [Index::Kept, nil] the reports that the index has already
      def kept(snapshot)
        return unless snapshot.since

        first = snapshot.status['runs'] - @estate.options['reports'] + 1
        Index::Kept.new(first, snapshot.since - 1, Rows::Times.text(@estate.reports.limit).to_s)
      end

      # Warns of a malformed document once, as long as its node is read with it: a doubtful node is read again and
      # again.
      #
      # @return [Hash{String => Estate::Snapshots::Snapshot}] by the names of the nodes
      def read(certnames, known = {})
        met = Set.new
        snapshots = @estate.snapshots.of(certnames, known, &skip(met))
        @warned.select! { |key, _| met.include?(key) || !snapshots.key?(certname_of(key)) }
        snapshots
      end

      # @param met [Set<String>] receives the keys of malformed documents
      # @return [Proc, nil] what to do with malformed documents; nil to fail
      def skip(met)
        return unless @estate.options['skip_undecodable']

        lambda do |key, why|
          met << key
          @warn.call("'#{key}' cannot be read: #{why}") unless @warned[key] == why
          @warned[key] = why
        end
      end

      # @param key [String] of a document of a node, such as `globals/estate/reports/web1/2`
      def certname_of(key)
        key[%r{/reports/([^/]+)/}, 1] || File.basename(key)
      end

      # The time of the first failure stays.
      def fail_at(time, error)
        failed = @index.state.failed || time.to_f
        @index.update { |writer| writer.note('failed' => failed, 'failure' => error.message) }
      rescue Error, ConfigError, SystemCallError
        nil # The error that is raised says it.
      end
    end
  end
end
