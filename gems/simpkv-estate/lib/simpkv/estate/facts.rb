# frozen_string_literal: true

require 'securerandom'
require 'time'
require 'simpkv/estate/saving'

module Simpkv
  class Estate
    # The facts of each node, without those of the option `facts_blocklist`:
    #
    #     { 'values' => { 'os' => { 'name' => 'Debian' } }, 'trusted' => { 'certname' => 'web1' },
    #       'timestamp' => '2026-11-23T01:02:03Z', 'producer' => 'puppet1',
    #       'producer_timestamp' => '2026-11-23T01:02:03.456Z' }
    #
    # `timestamp` is the time of the run in which they last changed, and {Produced} has the others.
    #
    # The record of the inventory has their digest. A save first enters its token in place of the digest, then writes
    # the document, then enters the digest. If it dies, the digest is missing, and the next save of the node completes
    # it. If other saves or deletions of the node are on their way, the last of them enters the digest: a save that was
    # overtaken may write its document before it notices.
    class Facts
      # The documents of all nodes.
      class ByNode < Documents
        # @return [Hash, nil] a value; nil if it has another form
        def valid(value)
          value if valid?(value)
        end

        private

        def valid?(record)
          record.is_a?(Hash) && record['values'].is_a?(Hash) && time?(record['timestamp']) &&
            (record['trusted'].nil? || record['trusted'].is_a?(Hash)) && Produced.valid?(record)
        end

        def time?(text)
          text.is_a?(String) && Time.parse(text) && true
        rescue ArgumentError
          false
        end
      end

      # The number of bytes of a fact, as a document, that the inventory holds. Larger ones are in the facts only.
      INDEXED_MAX = 2048
      # What the names begin with that a glob matches.
      LITERAL = /\A[^*?\[{\\]*/.freeze
      private_constant :ByNode, :INDEXED_MAX, :LITERAL

      def initialize(estate)
        @estate = estate
        @documents = ByNode.new(estate, 'facts')
        @saving = Saving.new(estate, 'facts', 'facts_')
        @blocklist = estate.options['facts_blocklist'].map { |glob| glob.split('.') }
      end

      # Stores the facts of a node if they have changed.
      #
      # @param certname [String]
      # @param values [Hash{String => Object}] plain data
      # @param trusted [Hash, nil] the trusted facts
      # @param timestamp [String] the time of the run
      # @param produced [Hash{String => String}] see {Produced}
      # @param environment [String, nil] of the run. The inventory has it until the first catalog
      # @param in_order [Boolean] whether to do nothing if other facts were sent later than these, which may be late
      # @return [Boolean] whether they are stored; false if they were late
      # @raise [ConflictError] others kept saving facts of this node
      # @raise [Error]
      def save(certname, values, trusted: nil, timestamp: Time.now.utc.iso8601, produced: {}, environment: nil, # rubocop:disable Metrics/ParameterLists
               in_order: false)
        kept = { 'values' => allowed(values, @blocklist), 'trusted' => trusted }.compact
        members = { 'facts' => indexed(kept['values']), 'facts_digest' => digest(kept), 'environment' => environment }
        before = late = nil
        known = @estate.inventory.intact(certname) { |facts| before = @documents.valid(facts) }
        saved = @saving.repeat(certname, known) do |stored, token|
          late = in_order && late?(certname, stored, members, produced, before)
          next stored if late

          before = nil # The next attempt is after a save of others.
          store(certname, token, stored, members) { kept.merge({ 'timestamp' => timestamp }, produced) }
        end
        @estate.inventory.keep(certname, saved)
        !late
      end

      # @param certname [String]
      # @return [Hash, nil] as above; nil if none are stored
      # @raise [ConfigError] the folder of the facts is missing or hidden, or there are none, though the inventory names
      #   them
      # @raise [MalformedError] names the key
      def find(certname)
        record = @documents.get(certname)
        demand(certname) unless record
        record
      end

      # @param certname [String]
      # @return [Documents::Stored, nil] see {Documents#readable}
      # @raise [Error]
      def readable(certname)
        @documents.readable(certname)
      end

      # @param certname [String] of a node of which no facts were found
      # @yieldparam key [String] see {Inventory#demand_named}, as for the block
      # @yieldparam why [String]
      # @return [void]
      # @raise [MissingError] they are lost. Otherwise there are none, or a save has changed the record since
      def demand(certname, &block)
        @estate.inventory.demand_named(Inventory::FACTS, certname, &block)
      end

      # @param certname [String]
      # @return [Hash, nil] the facts as rules see them, with the trusted ones as the fact `trusted`; nil if none are
      #   stored
      # @raise [ConfigError, MalformedError] as {#find}
      def with_trusted(certname)
        record = find(certname)
        record && Facts.joined(record)
      end

      # @param certnames [Array<String>]
      # @yieldparam key [String] see {Documents#demand_many}, as for the block
      # @yieldparam why [String]
      # @return [Hash{String => Hash}] those of these nodes, as {#find}
      # @raise [Error]
      def many(certnames, &block)
        found = @documents.demand_many(certnames.map { |name| [name] }, &block)
        found.to_h { |(name), stored| [name, stored.value] }
      end

      # @param record [Hash] as of {#find}
      # @param digest [String] of the inventory
      # @return [Boolean] whether the record is the one that the inventory names
      def intact?(record, digest)
        digest(record.slice('values', 'trusted')) == digest
      end

      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}] those of all nodes
      # @raise [MissingError] some are missing, or hidden, that the inventory names
      def all(&block)
        found = @documents.all(&block)
        @estate.inventory.demand_all(Inventory::FACTS, found.keys, &block)
        found
      end

      # Searches all nodes that have not expired, and are not deactivated. Needs memory for the facts of one node only.
      #
      # @param unreadable [Proc] gets the key of a document that cannot be read, and the reason
      # @param strict [Boolean] see {Documents#all}
      # @yieldparam certname [String]
      # @yieldparam record [Hash] as above
      # @yieldreturn [Boolean]
      # @return [Array<String>] the names of the nodes for which the block returns true, unsorted
      # @raise [MissingError] facts are missing, or hidden, that the inventory names
      def select(unreadable, strict: false)
        expired = @estate.statuses.expired
        matching = ->(certname, record) { !expired.include?(certname) && yield(certname, record) }
        found = @documents.all(as: matching, strict: strict, &unreadable)
        @estate.inventory.demand_all(Inventory::FACTS, [*found.keys, *expired], &unreadable)
        @estate.inventory.active(found.select { |_, matches| matches }.keys, &unreadable)
      end

      # Deletes the facts of a node. The next save of the node stores them again.
      #
      # @param certname [String]
      # @return [Boolean] whether there were any
      def delete(certname)
        token = SecureRandom.hex(8)
        @estate.inventory.update(certname) { |record| record && entered(record, token) }
        deleted = @documents.delete(certname)
        @estate.inventory.update(certname) do |record|
          record && @saving.leave(record, token).first.reject { |name, _| %w[facts facts_digest].include?(name) }
        end
        deleted
      end

      # @param record [Hash] of the inventory
      # @return [Boolean] whether a save may be on its way
      def saving?(record)
        @saving.of(record).any?
      end

      # @param record [Hash] as of {#find}
      # @return [Hash{String => Object}] its facts, with the trusted ones as the fact `trusted`
      def self.joined(record)
        record['values'].merge(record.slice('trusted').compact)
      end

      # @param facts [Hash{String => Object}]
      # @param name [String] dotted, such as `os.release.major`; an Array's members have numbers
      # @return [Object, nil] the fact
      def self.dig(facts, name)
        return facts[name] if facts.key?(name)

        name.split('.').reduce(facts) do |value, part|
          case value
          when Hash then value[part]
          when Array then part.match?(/\A\d+\z/) ? value[part.to_i] : nil
          end
        end
      end

      private

      # @param before [Hash, nil] the facts that were read with the record; nil to read them
      def late?(certname, stored, members, produced, before)
        before_deactivation?(stored&.value || {}, produced) ||
          (differ?(stored, members) && newer?(certname, produced, before))
      end

      def before_deactivation?(record, produced)
        Produced.order(produced[Produced::TIME]) < Produced.order(record[Deactivation::MEMBER])
      end

      def differ?(stored, members)
        (stored&.value || {})['facts_digest'] != members['facts_digest']
      end

      # The time of stored facts is that of the run in which they last changed. A catalog may have come since then, with
      # the same facts or with these.
      def newer?(certname, produced, before)
        stored = before || readable(certname)&.value or return false

        times = [stored[Produced::TIME] || stored['timestamp'], @estate.statuses.before(certname)[Statuses::KEPT]]
        Produced.order(produced[Produced::TIME]) < times.map { |time| Produced.order(time) }.max
      end

      # The order of facts and of their members may differ from run to run.
      def digest(kept)
        Documents.digest(Codec.encode(sorted(kept)))
      end

      def sorted(value)
        case value
        when Hash then value.sort_by { |name, _| name.to_s }.to_h { |name, member| [name, sorted(member)] }
        when Array then value.map { |member| sorted(member) }
        else value
        end
      end

      # @yieldreturn [Hash] the document
      # @return [Stored] the record of the inventory
      def store(certname, token, stored, members)
        record = stored&.value || {}
        if differ?(stored, members)
          stored = enter(certname, stored, record, token)
          @documents.put(certname, yield)
        end
        @estate.inventory.replace_stored(certname, stored, left(stored.value, token, members))
      end

      # A save that repeats itself does not disturb the others a second time.
      def enter(certname, stored, record, token)
        return stored if @saving.of(record).key?(token) && record['facts_digest'].nil?

        @estate.inventory.replace_stored(certname, stored, entered(record, token))
      end

      def entered(record, token)
        @saving.enter(record, token).merge('facts_digest' => nil)
      end

      def left(record, token, members)
        record, others = @saving.leave(renewed(record), token)
        members = members.reject { |name, _| name == 'environment' } if record['exports']
        record.merge(members.compact, others ? { 'facts_digest' => nil } : {})
      end

      def renewed(record)
        record = Deactivation.ended(record)
        @estate.inventory.stale?(record) ? record.merge('seen' => Time.now.utc.iso8601) : record
      end

      # Agents choose the values, so the size of the record needs a limit.
      def indexed(values)
        facts = @estate.options['indexed_facts'].to_h { |name| [name, Facts.dig(values, name)] }.compact
        facts.select { |_, value| Codec.encode(value).bytesize <= INDEXED_MAX }
      end

      # @param globs [Array<Array<String>>] the parts of globs that are left at this depth
      def allowed(values, globs)
        beginnings = globs.map { |glob| glob.first[LITERAL] }
        values.each_with_object({}) do |(name, value), kept|
          next kept[name] = value unless name.to_s.start_with?(*beginnings)

          matching = matching(globs, name.to_s)
          kept[name] = below(value, matching.map { |glob| glob.drop(1) }) if matching.none? { |glob| glob.length == 1 }
        end
      end

      def below(value, globs)
        value.is_a?(Hash) ? allowed(value, globs) : value
      end

      def matching(globs, name)
        globs.select { |glob| File.fnmatch?(glob.first, name, File::FNM_EXTGLOB | File::FNM_DOTMATCH) }
      end
    end
  end
end
