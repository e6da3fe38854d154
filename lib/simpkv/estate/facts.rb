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

      # Stores the facts of a node if they have changed.
      #
      # @param certname [String]
      # @param values [Hash{String => Object}] plain data
      # @param trusted [Hash, nil] the trusted facts
      # @return [void]
      # @raise [Error]
      def save(certname, values, trusted: nil)
        kept = { 'values' => allowed(values, @blocklist), 'trusted' => trusted }.compact
        digest = Documents.digest(kept)
        stored = @estate.inventory.update(certname) do |record|
          unless record && record['facts_digest'] == digest
            @documents.put(certname, kept.merge('timestamp' => Time.now.utc.iso8601))
          end
          (record || {}).merge('facts' => indexed(kept['values']), 'facts_digest' => digest)
        end
        @estate.inventory.keep(certname, stored)
      end

      # @param certname [String]
      # @return [Hash, nil] as above; nil if none are stored
      def find(certname)
        @documents.get(certname)
      end

      # @yieldparam key [String] of a document that cannot be read
      # @yieldparam why [String]
      # @return [Hash{String => Hash}] those of all nodes
      def all(&block)
        @documents.all(&block)
      end

      # @return [Boolean] whether there were any
      def delete(certname)
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
