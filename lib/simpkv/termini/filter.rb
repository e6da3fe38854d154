# frozen_string_literal: true

require 'simpkv/termini/rich_values'

module Simpkv
  module Termini
    # The condition of a collector, on the plain data of a resource (see {Resources}). It holds for the same resources
    # as in Puppet's own collectors of virtual resources: Puppet compares the values. The one exception is a Regexp that
    # is a member of an Array: it is equal to no String. Puppet would match it, so that a node that exports it could
    # keep each compiler busy for hours.
    class Filter
      # @param filter [Array, nil] as Puppet passes it: `[field, '==' or '!=', value]`, or `[filter, 'and' or 'or',
      #   filter]`; nil for all resources
      # @param scope [Puppet::Parser::Scope, nil] the collector's
      # @raise [Puppet::Error] it has another operator
      def initialize(filter, scope)
        @compare = Puppet::Pops::Evaluator::CompareOperator.new
        @scope = scope
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
        when '==' then left == 'tag' ? tagged(right) : equal(left.to_s, right)
        when '!=' then different(left.to_s, right)
        else raise Puppet::Error, "simpkv estate: a collector cannot have the operator '#{operator}'"
        end
      end

      def both(left, right)
        ->(resource) { left.call(resource) && right.call(resource) }
      end

      def either(left, right)
        ->(resource) { left.call(resource) || right.call(resource) }
      end

      def tagged(tags)
        tags = (tags.is_a?(Array) ? tags : [tags]).map { |tag| tag.to_s.downcase }
        ->(resource) { tags.any? { |tag| (resource['tags'] || []).include?(tag) } }
      end

      def equal(field, wanted)
        lambda do |resource|
          value = value(resource, field)
          value.is_a?(Array) ? @compare.include?(value.grep_v(Regexp), wanted, @scope) : @compare.equals(value, wanted)
        end
      end

      def different(field, wanted)
        ->(resource) { !@compare.equals(value(resource, field), wanted) }
      end

      def value(resource, field)
        return resource['title'] if field == 'title'

        parameters = resource['parameters']
        parameters && RichValues.load(parameters[field])
      end
    end
  end
end
