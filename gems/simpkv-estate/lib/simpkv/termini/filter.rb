# frozen_string_literal: true

require 'simpkv/termini/rich_values'

module Simpkv
  module Termini
    # The condition of a collector, on the plain data of a resource (see {Resources}). It holds for the same resources
    # as with PuppetDB:
    #
    # - a tag is compared without regard to case, and `tag != x` leaves out each resource that has the tag;
    # - title and parameters are compared exactly: case, type (1 is neither '1' nor 1.0), and an Array as a whole.
    #
    # Puppet's collectors of virtual resources in one catalog compare differently (docs/adr/0030-exported-resources.md).
    class Filter
      PLAIN = [String, Numeric, true, false, nil].freeze
      private_constant :PLAIN

      # @param filter [Array, nil] as Puppet passes it: `[field, '==' or '!=', value]`, or `[filter, 'and' or 'or',
      #   filter]`; nil for all resources
      # @raise [Puppet::Error] it has another operator
      def initialize(filter)
        @compare = Puppet::Pops::Evaluator::CompareOperator.new
        @condition = filter ? condition(*filter) : ->(_) { true }
      end

      # @param resource [Hash]
      # @return [Boolean]
      # @raise [MalformedError] a parameter that counts cannot be restored
      def match?(resource)
        @condition.call(resource)
      end

      private

      def condition(left, operator, right)
        case operator
        when 'and' then both(condition(*left), condition(*right))
        when 'or' then either(condition(*left), condition(*right))
        when '==' then comparison(left.to_s, right)
        when '!=' then different(comparison(left.to_s, right))
        else raise Puppet::Error, "simpkv estate: a collector cannot have the operator '#{operator}'"
        end
      end

      def both(left, right)
        ->(resource) { left.call(resource) && right.call(resource) }
      end

      def either(left, right)
        ->(resource) { left.call(resource) || right.call(resource) }
      end

      def different(condition)
        ->(resource) { !condition.call(resource) }
      end

      def comparison(field, wanted)
        field == 'tag' ? tagged(wanted) : ->(resource) { same?(value(resource, field), wanted) }
      end

      def tagged(tags)
        tags = (tags.is_a?(Array) ? tags : [tags]).map { |tag| tag.to_s.downcase }
        ->(resource) { tags.any? { |tag| (resource['tags'] || []).include?(tag) } }
      end

      # Puppet compares objects, such as references: it knows both forms of a reference.
      def same?(value, wanted)
        case value
        when Array then same_members?(value, wanted)
        when Hash then same_hash?(value, wanted)
        when *PLAIN then value.eql?(wanted)
        else !plain?(wanted) && @compare.equals(value, wanted)
        end
      end

      def plain?(value)
        case value
        when Array, Hash, *PLAIN then true
        else false
        end
      end

      def same_members?(value, wanted)
        wanted.is_a?(Array) && value.length == wanted.length && value.zip(wanted).all? { |pair| same?(*pair) }
      end

      def same_hash?(value, wanted)
        wanted.is_a?(Hash) && value.length == wanted.length &&
          value.all? { |name, member| wanted.key?(name) && same?(member, wanted[name]) }
      end

      def value(resource, field)
        return resource['title'] if field == 'title'

        parameters = resource['parameters']
        parameters && RichValues.load(parameters[field])
      end
    end
  end
end
