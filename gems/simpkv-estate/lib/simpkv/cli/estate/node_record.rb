# frozen_string_literal: true

module Simpkv
  module Cli
    # A change of the declared record of a node.
    class NodeRecord
      # The members whose entries are set one by one.
      HASHES = %w[classes parameters].freeze
      private_constant :HASHES

      class << self
        # @param record [Object] a record, or a part of one
        # @return [Object] the same with a Hash as `classes`, if that is a list of names
        def uniform(record)
          return record unless record.is_a?(Hash) && record['classes'].is_a?(Array)

          record.merge('classes' => record['classes'].to_h { |name| [name, {}] })
        end

        # Compares two records. Names members only, because parameters can be secret.
        #
        # @param old [Hash, nil]
        # @param new [Hash]
        # @return [Hash{String => String}] by member, or entry of one such as `parameters.role`: `added`, `changed` or
        #   `removed`
        def changes(old, new)
          old, new = [old, new].map { |record| entries(record) }
          changed = (old.keys | new.keys).reject { |path| old.key?(path) && new.key?(path) && old[path] == new[path] }
          changed.sort.to_h { |path| [path, kind(old.key?(path), new.key?(path))] }
        end

        private

        def kind(old, new)
          return 'changed' if old && new

          old ? 'removed' : 'added'
        end

        def entries(record)
          return {} unless record.is_a?(Hash)

          record.each_with_object({}) do |(name, value), entries|
            next entries[name] = value unless HASHES.include?(name) && value.is_a?(Hash)

            value.each { |entry, member| entries["#{name}.#{entry}"] = member }
          end
        end
      end

      # @param given [Hash{String => Object}] members; entries of a Hash are added to it, others replace what is there
      # @param removed [Array<String>] members, or entries of them: `parameters.role`
      # @param replace [Boolean] whether to remove all that is not given
      def initialize(given, removed: [], replace: false)
        @given = self.class.uniform(given)
        @removed = removed
        @replace = replace
      end

      # @param record [Object] the declared record; nil for none
      # @return [Hash] the record with the change
      def applied_to(record)
        former = @replace || !record.is_a?(Hash) ? {} : self.class.uniform(record)
        merged = former.merge(@given) { |_, old, new| old.is_a?(Hash) && new.is_a?(Hash) ? old.merge(new) : new }
        @removed.inject(merged) { |rest, path| without(rest, path) }
      end

      private

      def without(record, path)
        name, entry = path.split('.', 2)
        return record.reject { |member, _| member == name } if entry.nil?
        return record unless record[name].is_a?(Hash)

        record.merge(name => record[name].reject { |member, _| member == entry })
      end
    end
  end
end
