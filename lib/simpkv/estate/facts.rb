# frozen_string_literal: true

module Simpkv
  class Estate
    # The facts of each node, without those of the option `facts_blocklist`:
    #
    #     { 'values' => { 'os' => { 'name' => 'Debian' } }, 'trusted' => { 'certname' => 'web1' },
    #       'timestamp' => '2026-11-23T01:02:03Z' }
    #
    # `timestamp` is the time of the run in which they last changed.
    class Facts
      def initialize(estate)
        @estate = estate
        @documents = Documents.new(estate, 'facts')
        @blocklist = estate.options['facts_blocklist'].map { |glob| glob.split('.') }
      end

      # Stores the facts of a node if they have changed. The record of the inventory has no digest until they are
      # stored, so that the next save completes one that has died.
      #
      # @param certname [String]
      # @param values [Hash{String => Object}] plain data
      # @param trusted [Hash, nil] the trusted facts
      # @param timestamp [String] the time of the run
      # @return [void]
      # @raise [Error]
      def save(certname, values, trusted: nil, timestamp: Time.now.utc.iso8601)
        kept = { 'values' => allowed(values, @blocklist), 'trusted' => trusted }.compact
        digest = Documents.digest(kept)
        stored = @estate.inventory.update(certname) { |record| without_digest(record, digest) }
        stored = @estate.inventory.update(certname, known: stored) do |record|
          current = record && record['facts_digest'] == digest
          @documents.put(certname, kept.merge('timestamp' => timestamp)) unless current
          renewed(record || {}).merge('facts' => indexed(kept['values']), 'facts_digest' => digest)
        end
        @estate.inventory.keep(certname, stored)
      end

      # @param certname [String]
      # @return [Hash, nil] as above; nil if none are stored
      # @raise [MalformedError] names the key
      def find(certname)
        record = @documents.get(certname)
        return record if record.nil? || facts?(record)

        raise MalformedError, "'#{@documents.path(certname)}' cannot be read: it has another form than simpkv writes"
      end

      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}] those of all nodes
      def all(&block)
        @documents.all(valid: method(:facts?), &block)
      end

      # Searches all nodes that have not expired. Needs memory for the facts of one node only.
      #
      # @param unreadable [Proc] gets the key of a document that cannot be read, and the reason
      # @yieldparam certname [String]
      # @yieldparam record [Hash] as above
      # @yieldreturn [Boolean]
      # @return [Array<String>] the names of the nodes for which the block returns true, unsorted
      def select(unreadable)
        expired = @estate.statuses.expired
        matching = ->(certname, record) { !expired.include?(certname) && yield(certname, record) }
        @documents.all(valid: method(:facts?), as: matching, &unreadable).select { |_, matches| matches }.keys
      end

      # Deletes the facts of a node. The next save of the node stores them again.
      #
      # @param certname [String]
      # @return [Boolean] whether there were any
      def delete(certname)
        @estate.inventory.update(certname) do |record|
          record&.reject { |name, _| %w[facts facts_digest].include?(name) }
        end
        @documents.delete(certname)
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

      def facts?(record)
        record.is_a?(Hash) && record['values'].is_a?(Hash) && record['timestamp'].is_a?(String) &&
          (record['trusted'].nil? || record['trusted'].is_a?(Hash))
      end

      # Returns nil if the record may stay as it is.
      def without_digest(record, digest)
        known = record && record['facts_digest']
        known && known != digest ? record.merge('facts_digest' => nil) : nil
      end

      def renewed(record)
        @estate.inventory.stale?(record) ? record.merge('seen' => Time.now.utc.iso8601) : record
      end

      def indexed(values)
        @estate.options['indexed_facts'].to_h { |name| [name, Facts.dig(values, name)] }.compact
      end

      # @param globs [Array<Array<String>>] the parts of globs that are left at this depth
      def allowed(values, globs)
        values.each_with_object({}) do |(name, value), kept|
          matching = globs.select { |glob| File.fnmatch?(glob.first, name.to_s, File::FNM_EXTGLOB | File::FNM_DOTMATCH) }
          next if matching.any? { |glob| glob.length == 1 }

          kept[name] = value.is_a?(Hash) ? allowed(value, matching.map { |glob| glob.drop(1) }) : value
        end
      end
    end
  end
end
