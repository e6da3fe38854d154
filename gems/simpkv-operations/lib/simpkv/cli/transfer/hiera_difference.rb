# frozen_string_literal: true

module Simpkv
  module Cli
    # What is different between the results of two lookups. Names members of Hashes, and shows no value.
    class HieraDifference
      # The most differences of one key that are named.
      MOST = 5
      OUTCOMES = { value: 'finds a value', missing: 'finds none', failed: 'fails: puppet lookup tells why' }.freeze
      private_constant :MOST, :OUTCOMES

      # @param old [Hash{String => Array(Object), Symbol}] {HieraLookups#results} of the old hierarchy
      # @param new [Hash{String => Array(Object), Symbol}] those of the new one
      # @return [Hash{String => String}] what is different, by key
      def self.all(old, new)
        old.to_h { |key, result| [key, between(result, new[key])] }.compact
      end

      # @param old [Array(Object), Symbol] a result
      # @param new [Array(Object), Symbol] that of the other hierarchy
      # @return [String, nil] nil if both are equal
      def self.between(old, new)
        found = new(old, new).found
        return if found.empty?

        more = found.length - MOST
        "#{found.first(MOST).join('; ')}#{", and #{more} more" if more.positive?}"
      end

      # @return [Array<String>]
      attr_reader :found

      def initialize(old, new)
        @found = []
        outcomes = [old, new].map { |result| result.is_a?(Symbol) ? result : :value }
        if outcomes == %i[value value]
          compare(Part.new(old.first), Part.new(new.first), [])
        elsif outcomes != %i[missing missing]
          @found << "the old hierarchy #{OUTCOMES[outcomes.first]}, and the new one #{OUTCOMES[outcomes.last]}"
        end
      end

      # A value, and the number of Sensitives that it was in.
      class Part
        # @return [Object]
        attr_reader :value
        # @return [Integer]
        attr_reader :depth

        def initialize(value, depth = 0)
          while value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
            value = value.unwrap
            depth += 1
          end
          @value = value
          @depth = depth
        end

        # @return [Hash{Object => Part}, nil] the parts of a Hash or an Array
        def members
          case value
          when Hash then value.transform_values { |member| Part.new(member, depth) }
          when Array then value.each_with_index.to_h { |member, index| [index, Part.new(member, depth)] }
          end
        end

        # @return [Class]
        def kind
          value.class
        end

        # @return [Boolean] whether it is a condition, which {HieraLevel} leaves as it is
        def plain?
          [true, false, nil].include?(value)
        end
      end
      private_constant :Part

      private

      def compare(old, new, path)
        parts = [old, new].map(&:members)
        return leaves(old, new, path) unless parts.all? && old.kind == new.kind
        return compare_all(*parts, path) if old.kind == Hash || parts.map(&:length).uniq.one?

        tell(path, "has #{parts.last.length} members in place of #{parts.first.length}")
      end

      def compare_all(old, new, path)
        (old.keys | new.keys).each do |name|
          parts = [old, new].map { |part| part[name] }
          next compare(*parts, [*path, name]) if parts.all?

          tell([*path, name], parts.first ? 'is missing' : 'is new')
        end
      end

      def leaves(old, new, path)
        if old.kind != new.kind then tell(path, 'has another type')
        elsif old.value != new.value then tell(path, 'has another value')
        elsif !new.plain? then secrecy(old.depth, new.depth, path)
        end
      end

      # A plain value of eyaml that becomes a Sensitive is as intended.
      def secrecy(old, new, path)
        tell(path, 'is no longer Sensitive') if new.zero? && old.positive?
        tell(path, "is a Sensitive in a Sensitive: leave out 'convert_to'") if new > 1 && new > old
      end

      def tell(path, what)
        @found << "#{path.empty? ? 'it' : "its member #{path.join('.')}"} #{what}"
      end
    end
  end
end
