# frozen_string_literal: true

require 'simpkv/estate/ordered_exports'
require 'simpkv/estate/saving'

module Simpkv
  class Estate
    # The exported resources of each node, a document for each type: a list of Hashes with at least `title`.
    #
    # The record of the inventory names each type of which a document may be stored, with the digest of the document. A
    # save first enters its token and the types that it changes, without digests; then it writes and deletes documents;
    # then it enters the digests. If the save dies, the digests are missing, and the next save of the node completes it.
    # If several saves of the node run at once, the last to end enters the digests: a save that was overtaken may write
    # documents before it notices. A removal is a save without resources.
    #
    # If the order of saves is known, the latest save enters the digests even if earlier saves still run. If an earlier
    # save replaces a document after that, it puts the replaced one back. A save that finds another save in the record,
    # alive or dead, trusts no digest: it compares each document, and writes those that differ (docs/adr/0079).
    # docs/estate-saves.md has a picture of these states and steps.
    #
    # `exported_at` is the time of the last save that has stored the exports: a save that may be late does nothing if
    # its own time is earlier (docs/adr/0121).
    class Exports
      # The documents of all types. The folder of a type has a marker if the marker of the exports names the type.
      #
      # A record of the inventory may name a type that no key can have: earlier versions entered it before they noticed.
      # There is no document of it, so those who read or delete one find none.
      class ByType < Documents
        %i[readable delete].each do |name|
          define_method(name) { |*names| super(*names) if key?(*names) }
        end

        def read_many(keys)
          super(possible(keys))
        end

        def demand_many(keys, **how, &block)
          super(possible(keys), **how, &block)
        end

        # @return [Boolean] whether a value is a list of resources
        def valid?(value)
          value.is_a?(Array) && value.all? { |resource| resource.is_a?(Hash) && resource?(resource) }
        end

        # Replaces or deletes a document.
        #
        # @param stored [Stored, nil] what is stored: see {Documents#readable}
        # @param list [Array<Hash>, nil] nil to delete it
        # @return [void]
        # @raise [ConflictError, ExistsError] another writer has changed it since
        def exchange(type, certname, stored, list)
          return replace(path(type, certname), stored, list) if list

          gone = stored.nil? || delete_expected(type, certname, stored.document)
          CompareAndSwap.overtaken(path(type, certname)) unless gone
        end

        private

        def resource?(resource)
          title, parameters, tags = resource.values_at('title', 'parameters', 'tags')
          title.is_a?(String) && !title.empty? && (parameters.nil? || parameters.is_a?(Hash)) &&
            (tags.nil? || (tags.is_a?(Array) && tags.all?(String)))
        end

        def possible(keys)
          keys.select { |names| key?(*names) }
        end

        def listed(names, &block)
          return super if names.empty?

          marked, listed = search(names, &block)
          return listed if marked
          return listed if listed.values.all?(&:empty?) && !@estate.markers.types.include?(names.first)

          # A run may have added the type since.
          marked, listed = search(names, &block)
          marked ? listed : raise(MissingError.marker(@subject, *names))
        end
      end
      # The member of a record that has the types that the latest save has deleted while earlier ones, which are on
      # their way, may store them.
      IN_DOUBT = 'in_doubt'
      # The member of a record that has the time of what is exported, by the clock of the compiler.
      TIME = 'exported_at'
      private_constant :ByType, :IN_DOUBT

      def initialize(estate)
        @estate = estate
        @documents = ByType.new(estate, 'exported')
        @saving = Saving.new(estate, 'exports', '')
      end

      # Stores what a node exports now, in place of what it exported before. Writes nothing if it is the same.
      #
      # @param certname [String]
      # @param resources [Hash{String => Array<Hash>}] plain data by the lower-case name of the type
      # @param environment [String] in which the node was compiled
      # @param time [String, nil] of RFC 3339 in UTC, of the run; nil if it is unknown
      # @param in_order [Boolean] whether to do nothing if the stored exports, or a deactivation, are later: these ones
      #   may have come late
      # @return [Boolean] whether they are stored; false if they were late
      # @raise [ConflictError] others kept saving exports of this node
      # @raise [InvalidError, TooLargeError, UnencodableError] see {#check}
      # @raise [Error]
      def save(certname, resources, environment, time: Exports.now, in_order: false)
        documents, members = encoded(certname, resources, environment)
        timed = members.merge({ TIME => time }.compact)
        @saving.repeat(certname, @estate.inventory.take(certname)) do |stored, token|
          next give_way(certname, token, stored) if in_order && late?(stored, time)
          next true if current?(stored, in_order ? timed : members)

          store(certname, token, stored, documents, seen(timed), before(certname, stored, token))
          true
        end
      end

      # Checks what a node exports, before anything of the same catalog is stored. Asks no server.
      #
      # @param certname [String]
      # @param resources [Hash{String => Array<Hash>}] as for {#save}
      # @return [void]
      # @raise [InvalidError] a resource is malformed: collectors would fail. Or no key can have a name
      # @raise [TooLargeError] the name of a type, or of the node, is too long for a key
      # @raise [UnencodableError] no document can hold a value
      def check(certname, resources)
        encoded(certname, resources, nil)
        nil
      end

      # @return [String] the time of a save that begins
      def self.now
        Time.now.utc.iso8601(6)
      end

      # As {#save}, if the order of saves is known; they may arrive in another order. A save that learns that a later
      # one has begun ends, and puts back what it has replaced. The caller has entered the begin of this save.
      #
      # @param certname [String]
      # @param resources [Hash{String => Array<Hash>}]
      # @param environment [String]
      # @param time [String, nil] see {#save}
      # @yieldreturn [Boolean] whether a later save has begun
      # @return [void]
      # @raise [ConflictError] others kept saving exports of this node
      # @raise [Error]
      def save_in_order(certname, resources, environment, time: nil, &later)
        _, members = encoded(certname, resources, environment)
        timed = members.merge({ TIME => time }.compact)
        ordered = OrderedExports.new(@documents, certname, &later)
        @saving.repeat(certname, @estate.inventory.take(certname)) do |stored, token|
          next withdraw(certname, token, stored, ordered) if ordered.overtaken?
          next if current?(stored, members)

          store_in_order(certname, token, stored, resources, seen(timed), ordered)
        end
      end

      # @param type [String] in lower case
      # @param except [String, nil] the node that collects: its own run stores its documents again
      # @param strict [Boolean] see {Documents#all}, as for the block
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Array<Hash>}] the resources that nodes export, by the nodes' names; without those of
      #   nodes that have expired
      # @raise [MalformedError] see {Documents#all}
      # @raise [MissingError] a document is missing, or hidden, that the inventory names
      def all(type, except: nil, strict: false, &block)
        expired = @estate.statuses.expired
        found = @documents.all(type, except: except, strict: strict, &block)
        @estate.inventory.demand_all(['exported', type], [*found.keys, *expired, except], &block)
        found.reject { |certname, _| certname == except || expired.include?(certname) }
      end

      # @param certname [String]
      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Array<Hash>}] by type
      # @raise [MissingError] a document is missing, or hidden, that the inventory names
      # @raise [Error] the record of the inventory cannot be read
      def of(certname, &block)
        named = @estate.inventory.get(certname).to_h['exports'].to_h.keys
        values = documents(certname, named)
        demand(certname, named - values.keys, &block)
        lists, others = values.partition { |_, value| @documents.valid?(value) }.map(&:to_h)
        others.each { |type, value| yield(*problem(@documents.path(type, certname), value)) } if block_given?
        lists
      end

      # Reads the exports of many nodes.
      #
      # @param types [Hash{String => Array<String>}] the types that the inventory names, by the names of the nodes
      # @yieldparam key [String] see {Documents#demand_many}, as for the block
      # @yieldparam why [String]
      # @return [Hash{String => Hash{String => Stored}}] by the names of the nodes and by type
      # @raise [Error]
      def many(types, &block)
        keys = types.flat_map { |certname, names| names.map { |type| [type, certname] } }
        found = @documents.demand_many(keys, &block)
        found.each_with_object(types.transform_values { {} }) do |((type, certname), stored), exports|
          exports[certname][type] = stored
        end
      end

      # @param certname [String]
      # @param types [Array<String>] of which no document was found, though the inventory names one
      # @yieldparam key [String] of a record of the inventory that cannot be read
      # @yieldparam why [String]
      # @return [void]
      # @raise [MissingError] one is lost. Otherwise a save has changed the record since
      def demand(certname, types, &block)
        stored = types.select { |type| @documents.key?(type, certname) }
        stored.each { |type| @estate.inventory.demand_named(['exported', type], certname, &block) }
      end

      # @return [Array<String>] all types of which a document is stored, or was
      # @raise [ConfigError] their folder is missing or hidden
      def types
        @documents.folders.sort
      end

      # Deletes what a node exported, of any type. The next save of the node stores it again.
      #
      # @param certname [String]
      # @return [Integer] the number of documents
      # @raise [ConflictError] others kept saving exports of this node
      # @raise [Error]
      def delete(certname)
        deleted = 0
        @saving.repeat(certname, @estate.inventory.readable(certname)) do |stored, token|
          before = all_before(certname, stored)
          next if before.empty?

          deleted += store(certname, token, stored, {}, { 'exports' => {} }, before)
        end
        deleted
      end

      # @param record [Hash] of the inventory
      # @param certname [String]
      # @param record [Hash] of the inventory
      # @return [Array<String>] the types that it names, and that no key can have
      def impossible(certname, record)
        unknown(record).keys.reject { |type| @documents.key?(type, certname) }
      end

      # @return [Boolean] whether a save may be on its way
      def saving?(record)
        @saving.of(record).any?
      end

      private

      # @return [Array(String, String)] the key and the reason
      def problem(key, value)
        [key, value.is_a?(Error) ? value.reason : Documents::OTHER_FORM]
      end

      # @return [Array(Hash, Hash)] the documents by type, and the members of the record that belong to them
      # @raise [InvalidError, TooLargeError, UnencodableError] see {#check}
      def encoded(certname, resources, environment)
        type, = resources.find { |_, list| !@documents.valid?(list) }
        if type
          raise InvalidError, "an exported resource of the type '#{type}' is malformed: it needs a title that is not " \
                              'empty, and has parameters by name, and tags that are texts'
        end

        @estate.inventory.check_key(certname)
        resources.each_key { |each| @documents.check_key(each, certname) }
        documents = resources.transform_values { |list| Codec.encode(list) }
        digests = documents.transform_values { |document| Documents.digest(document) }
        [documents, { 'environment' => environment, 'exports' => digests }]
      end

      def current?(stored, members)
        record = stored&.value
        record && !record['saving'] && !Deactivation.of?(record) &&
          members.all? { |name, value| record[name] == value } && !@estate.inventory.stale?(record)
      end

      def late?(stored, time)
        record = stored&.value || {}
        record.values_at(TIME, Deactivation::MEMBER).any? { |other| Produced.order(time) < Produced.order(other) }
      end

      # Ends a save that is late. If it began before the later save, some documents may be its own. The record then has
      # no digests of them, so that the next run of the node stores them again.
      #
      # @return [false]
      def give_way(certname, token, stored)
        record = stored&.value || {}
        if @saving.all(record).key?(token)
          @estate.inventory.replace_stored(certname, stored, leave(record, token).first)
        end
        false
      end

      def seen(members)
        @estate.options['node_ttl'] ? members.merge('seen' => Time.now.utc.iso8601) : members
      end

      # @param documents [Hash{String => String}] by type
      # @return [Integer] the number of documents that were deleted
      def store(certname, token, stored, documents, members, before)
        changed = changed(members['exports'], before)
        deleted = 0
        if changed.any?
          stored = mark(certname, token, stored, before, changed) unless marked?(token, stored, changed)
          deleted = write(certname, documents, changed)
        end
        finish(certname, token, stored, members)
        deleted
      end

      # @return [Array<String>] the types of which a document must be written or deleted
      def changed(wanted, before)
        (wanted.keys | before.keys).reject { |type| before[type] && before[type] == wanted[type] }
      end

      def store_in_order(certname, token, stored, resources, members, ordered)
        before = before(certname, stored, token)
        changed = changed(members['exports'], before)
        if changed.any?
          unless marked?(token, stored, changed)
            stored = ordered.erase_digests(stored) { mark(certname, token, stored, before, changed) }
          end
          return withdraw(certname, token, stored, ordered) if ordered.overtaken?

          @estate.markers.add_types(changed & resources.keys)
          ordered.write(changed.to_h { |type| [type, resources[type]] })
        end
        finish_in_order(certname, token, stored, members)
      end

      # Enters the digests in any case: an earlier save that is on its way puts back what it replaces.
      def finish_in_order(certname, token, stored, members)
        record, others = leave(stored&.value || {}, token)
        record = record.merge(IN_DOUBT => unknown(record).keys - members['exports'].keys) if others
        @estate.inventory.replace_stored(certname, stored, Deactivation.ended(record).merge(members))
      end

      # Ends a save that a later one has overtaken. It enters no digests, since it cannot know whether the documents are
      # those of one save. Only if nobody has written a document since it erased digests, it puts those back.
      def withdraw(certname, token, stored, ordered)
        record = stored&.value || {}
        return enter_again(certname, token, stored, ordered) unless @saving.all(record).key?(token)

        ordered.restore(record['exports'].to_h)
        left, others = leave(record, token, @saving.all(record))
        before = ordered.before unless others || @saving.overtaken?(record)
        @estate.inventory.replace_stored(certname, stored, before ? left.merge('exports' => before) : left)
      end

      # For a record from which this save is missing, because it counted as dead, or because the record was removed. If
      # the save has replaced documents, the record must change before they are put back: the latest save may be about
      # to enter their digests (docs/adr/0100).
      def enter_again(certname, token, stored, ordered)
        return unless ordered.replaced?

        @estate.inventory.replace_stored(certname, stored, @saving.enter(stored&.value || {}, token))
        CompareAndSwap.overtaken
      end

      # @param saves [Hash{String => String}] those of which the record keeps the tokens
      # @return [Array(Hash, Boolean)] see {Saving#leave}
      def leave(record, token, saves = @saving.of(record))
        left, others = @saving.leave(record, token, saves)
        [others ? left : left.reject { |name, _| name == IN_DOUBT }, others]
      end

      # @return [Hash{String => String, nil}] the digests of documents that may be stored, by type; nil for all if
      #   another save is on its way, or has died. Without a list in the record, each stored document counts: the record
      #   was removed during a save, or cannot be read
      def before(certname, stored, token)
        record = stored&.value || {}
        return without_digests(documents(certname, types)) unless record['exports']

        (@saving.all(record).keys - [token]).any? ? unknown(record) : record['exports']
      end

      # @return [Hash{String => nil}] the types of which a document may be stored
      def unknown(record)
        without_digests(record['exports'].to_h).merge(record[IN_DOUBT].to_a.to_h { |type| [type, nil] })
      end

      # The listed types may come from a replica that is late.
      def all_before(certname, stored)
        unknown(stored&.value || {}).merge(without_digests(documents(certname, types)))
      end

      def without_digests(types)
        types.transform_values { nil }
      end

      def documents(certname, types)
        @documents.read_many(types.map { |type| [type, certname] }).transform_keys(&:first)
      end

      # A save that repeats itself does not disturb the others a second time.
      def marked?(token, stored, changed)
        record = stored&.value
        record && @saving.of(record).key?(token) && changed.all? { |type| record['exports'].fetch(type, '').nil? }
      end

      def mark(certname, token, stored, before, changed)
        exports = before.merge(changed.to_h { |type| [type, nil] })
        marked = @saving.enter((stored&.value || {}).merge('exports' => exports), token)
        @estate.inventory.replace_stored(certname, stored, marked)
      end

      def write(certname, documents, changed)
        kept, vanished = changed.partition { |type| documents[type] }
        @estate.markers.add_types(kept)
        @documents.put_many(kept.to_h { |type| [[type, certname], documents[type]] })
        vanished.count { |type| @documents.delete(type, certname) }
      end

      # If there are other saves, the last of them enters the digests.
      def finish(certname, token, stored, members)
        record, others = leave(stored&.value || {}, token)
        members = members.reject { |name, _| name == 'exports' } if others
        @estate.inventory.replace_stored(certname, stored, Deactivation.ended(record).merge(members))
      end
    end
  end
end
