# frozen_string_literal: true

module Simpkv
  class Estate
    # One short record for each node: its environment, the facts of the option `indexed_facts`, and digests of the other
    # documents of the node, so that one small read tells what has changed:
    #
    #     { 'environment' => 'production', 'facts' => { 'os.name' => 'Debian' }, 'facts_digest' => '9f86...',
    #       'exports' => { 'host' => '60303...' }, 'exported_at' => '2026-11-23T01:02:03.456789Z',
    #       'seen' => '2026-11-23T01:02:03Z' }
    #
    # `exports` has each type of which a document may be stored: nil in place of a digest if a save runs, or has died.
    # Then `saving` has the time of each such save, by its token; `overtaken_by` the token of the last save that has
    # ended before them; and `in_doubt` the types that the latest save does not export, but that another save may store
    # until it has ended. `facts_saving` and `facts_overtaken_by` are the same for `facts_digest`. `seen` is there if
    # nodes expire, and `deactivated` if the node is: see {Deactivation}.
    class Inventory < Documents
      # The folder of a document, as {#demand_all} takes it.
      FACTS = ['facts'].freeze

      class << self
        # @param record [Hash]
        # @return [Array<Array<String>>] the folders of the documents that it names, below the estate's
        def named(record)
          exports = record['exports'].is_a?(Hash) ? record['exports'] : {}
          types = exports.compact.keys.map { |type| ['exported', type] }
          record['facts_digest'] ? types.push(FACTS) : types
        end

        # @param place [String] the path of a document that is not there
        # @param certname [String] of the node whose record names it
        # @return [String]
        def lost(place, certname)
          "'#{place}' is missing, or hidden from this identity, though the inventory names it. The next run of " \
            "'#{certname}' stores it again, if nothing hides it. 'simpkv init --only estate --incomplete' gives it up"
        end
      end

      def initialize(estate)
        super(estate, 'inventory')
        @named = Recent.new { find_named }
      end

      # Refuses the result of a search of a folder that lacks documents which the records name: see {Recent}.
      #
      # @param folder [Array<String>] `exported` and a type, or `facts`
      # @param found [Array<String>] the nodes of which a document was found, or need not be there
      # @yieldparam key [String] of a damaged record, which may have named a document
      # @yieldparam why [String]
      # @return [void]
      # @raise [MissingError] a document is missing, or hidden
      # @raise [MalformedError] without a block: a record is damaged; names the key
      # @raise [Error] the store cannot read a record
      def demand_all(folder, found, &block)
        (@named.value.values_at(folder, nil).compact.flatten - found).each { |name| demand_named(folder, name, &block) }
      end

      # Refuses the absence of a document that the record of its node names.
      #
      # @param folder [Array<String>] as of {#demand_all}, as for the block and the errors
      # @param certname [String]
      # @return [void]
      def demand_named(folder, certname)
        return unless lost?(folder, certname)

        place = [FOLDER, *folder, certname].join('/')
        raise MissingError, Inventory.lost(place, certname) unless damaged?(certname)

        why = "nobody knows whether there must be a '#{place}'. The next run of '#{certname}' stores it again"
        raise MalformedError.unreadable(path(certname), why) unless block_given?

        yield path(certname), why
      end

      # Keeps a record for the next step of the same run, which then does not read it.
      #
      # @param certname [String]
      # @param stored [Stored]
      # @return [void]
      def keep(certname, stored)
        Run.current.keep(self, certname, stored)
      end

      # @param certname [String]
      # @return [Stored, nil] the record that was kept, once; else the one that is stored
      def take(certname)
        Run.current.take(self, certname) { intact(certname) }
      end

      # Reads a record and the documents that it names, for a run that saves some of them. It then stores again what is
      # missing or damaged.
      #
      # @param certname [String]
      # @yieldparam value [Object, Error] that of the facts, if the record names them
      # @return [Stored, nil] the record, with nil in place of the digest of such a document
      # @raise [DeniedError] a document is encrypted with a key that this process does not have
      # @raise [Error] the store cannot read a document
      def intact(certname, &block)
        stored = readable(certname)
        record = stored&.value
        return stored unless record

        damaged = damaged(certname, record, &block)
        damaged.empty? ? stored : Stored.new(stored.document, without(record, damaged))
      end

      # Gives up the documents of exports that records name and that are not there, and those that damaged records have
      # named. The next run of the node stores them again.
      #
      # @return [Array<String>] their paths below the estate's folder
      # @raise [Error]
      def give_up
        found = find_named
        damaged = found.delete(nil) || []
        damaged.each { |certname| update(certname) { |record| record || {} } }
        damaged.map { |certname| "inventory/#{certname}" } +
          found.flat_map { |folder, names| names.map { |certname| give_up_document(folder, certname) }.compact }
      end

      # Reads the records of all nodes that are active: they have not expired, and are not deactivated.
      #
      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}]
      # @raise [MalformedError] see {Documents#all}
      def current(strict: false, &block)
        expired = @estate.statuses.expired
        all(strict: strict, &block)
          .reject { |certname, record| expired.include?(certname) || Deactivation.of?(record) }
      end

      # @param certnames [Array<String>]
      # @yieldparam key [String] see {Documents#demand_many}, as for the block and the errors
      # @yieldparam why [String]
      # @return [Array<String>] those that are not deactivated
      def active(certnames, &block)
        records = demand_many(certnames.map { |name| [name] }, &block)
        certnames - records.select { |_, stored| Deactivation.of?(stored.value) }.keys.flatten
      end

      # A run that enters its save into the record after this is too late: the record has gone, or has changed.
      #
      # @param record [Hash]
      # @return [Boolean] whether the node has exports, or a run of it may be saving
      def needed?(record)
        (record['exports'] || {}).any? || @estate.exports.saving?(record) || @estate.facts.saving?(record)
      end

      # @param record [Hash]
      # @return [Boolean] whether its time is to be renewed: four times in the lifetime of a node
      def stale?(record)
        lifetime = @estate.options['node_ttl']
        lifetime ? record['seen'].to_s < (Time.now.utc - (lifetime / 4)).iso8601 : false
      end

      # Replaces a record.
      #
      # @param certname [String]
      # @param stored [Stored, nil] the record as it was read
      # @param value [Hash]
      # @return [Stored]
      # @raise [ConflictError, ExistsError] another writer has replaced it since
      def replace_stored(certname, stored, value)
        replace(path(certname), stored, value)
      end

      private

      # @return [String, nil] the path of the document if it was lost
      def give_up_document(folder, certname)
        return unless lost?(folder, certname)

        update(certname) { |record| without(record, [folder]) if record && lost?(folder, certname) }
        [*folder, certname].join('/')
      end

      # @return [Boolean] whether a document is not there that the record names, or may have named before it was
      #   damaged. Reads the record before and after the document: if both are the same, no save has ended in between
      def lost?(folder, certname)
        stored = readable(certname)
        return false unless stored && (stored.value.nil? || Inventory.named(stored.value).include?(folder))

        !stored?([FOLDER, *folder, certname].join('/')) && readable(certname) == stored
      end

      # @return [Boolean] whether there is a record, and it is malformed
      def damaged?(certname)
        stored = readable(certname)
        !stored.nil? && stored.value.nil?
      end

      def stored?(place)
        !@estate.store.get(place, latest: true, required: false).nil?
      rescue MalformedError
        true # A damaged one.
      end

      # @return [Hash{Array<String>, nil => Array<String>}] the nodes by the folder of a document that must be stored;
      #   those of damaged records, which may have named one, under nil
      def find_named
        damaged = {}
        folders = all(strict: true, as: ->(_, record) { Inventory.named(record) }) do |key, _|
          damaged[key[%r{[^/]+\z}]] = [nil]
        end
        folders.merge(damaged).each_with_object({}) do |(certname, names), nodes|
          names.each { |folder| (nodes[folder] ||= []) << certname }
        end
      end

      # @param record [Hash]
      # @return [Array<Array<String>>] the folders of documents that the record names and that are not there, or damaged
      def damaged(certname, record)
        digests = Inventory.named(record).to_h do |folder|
          [folder, folder == FACTS ? :any : record['exports'][folder.last]]
        end
        return [] if digests.empty?

        values = values(certname, digests.keys)
        yield values[FACTS] if block_given? && digests.key?(FACTS)
        values.reject { |folder, value| intact?(value, digests[folder]) }.keys
      end

      # @return [Hash{Array<String> => Object, Error}] the values of the documents of a node, by their folders
      def values(certname, folders)
        places = folders.to_h { |folder| [[FOLDER, *folder, certname].join('/'), folder] }
        documents_and_marker(places.keys).to_h { |place, document| [places[place], value_or_error(place, document)] }
      end

      # A run thus learns what the estate records now, without a round trip more.
      def documents_and_marker(places)
        marker = @estate.agreement.path
        documents = @estate.store.get_many([*places, marker])
        @estate.compare(documents.delete(marker))
        documents
      end

      def look_at_marker(_names, marker)
        @estate.compare(marker)
      end

      # @return [Boolean] whether a value is the one that the record names
      # @raise [Error] the store cannot read it
      def intact?(value, digest)
        return digest == :any || digest?(value, digest) unless value.is_a?(Error)
        raise value unless value.is_a?(NotFoundError) || value.is_a?(MalformedError)

        false
      end

      def digest?(value, digest)
        Documents.digest(Codec.encode(value)) == digest
      end

      def without(record, folders)
        types = folders.select { |folder| folder.length == 2 }.map(&:last)
        record = record.merge('exports' => record['exports'].merge(types.to_h { |type| [type, nil] })) if types.any?
        folders.include?(FACTS) ? record.merge('facts_digest' => nil) : record
      end

      def valid?(record)
        record.is_a?(Hash) && times?(record.values_at('seen', 'deactivated', 'exported_at').compact) &&
          (record['environment'].nil? || record['environment'].is_a?(String)) &&
          record.values_at('exports', 'facts', 'saving', 'facts_saving').compact.all?(Hash) &&
          texts?(record.fetch('in_doubt', []))
      end

      def times?(list)
        list.all? { |time| Produced.time?(time) }
      end

      def texts?(list)
        list.is_a?(Array) && list.all?(String)
      end
    end
  end
end
