# frozen_string_literal: true

require 'json'

module Simpkv
  module Query
    # Which rows of an answer a client wants, and in which order.
    class Paging
      CLAUSES = %w[limit offset order_by].freeze

      # SQLite's integers have 64 bits.
      MAXIMUM = (2**63) - 1

      # @return [Integer, nil]
      attr_reader :limit, :offset

      # @return [Array<Array(String, String)>] pairs of the name of a field, and asc or desc
      attr_reader :order_by

      # The parameters of a request.
      #
      # @param limit [String, Integer, nil]
      # @param offset [String, Integer, nil]
      # @param order_by [String, Array, nil] a list of `{"field": NAME, "order": "asc" or "desc"}`, or its JSON
      # @param include_total [String, Boolean, nil] whether to count the rows of all pages
      # @return [Paging]
      # @raise [InvalidError]
      def self.of(limit: nil, offset: nil, order_by: nil, include_total: nil)
        new(limit: integer(:limit, limit, 1, 'a positive non-zero integer'),
            offset: integer(:offset, offset, 0, 'a non-negative integer'),
            order_by: orders(order_by), total: include_total.to_s.casecmp?('true'))
      end

      # @return [Paging] all rows in any order
      def self.none
        new
      end

      # @param clauses [Array<Array>] such as `["limit", 5]` and `["order_by", ["certname", ["timestamp", "desc"]]]`
      # @return [Paging]
      # @raise [InvalidError]
      def self.of_clauses(clauses)
        clauses.group_by(&:first).each do |name, same|
          raise InvalidError, "Multiple '#{name}' clauses are not permitted" if same.length > 1
          raise InvalidError, "'#{name}' takes exactly one argument" if same.first.length != 2
        end
        limit, offset, order_by = clauses.to_h.values_at(*CLAUSES)
        raise InvalidError, 'limit and offset take integers' unless [limit, offset].compact.all?(Integer)

        of(limit: limit, offset: offset, order_by: order_by && pairs(order_by))
      end

      def self.integer(name, value, minimum, expected)
        return if value.nil?

        number = Integer(value.to_s, 10) if value.to_s.match?(/\A\d{1,19}\z/)
        return number if number&.between?(minimum, MAXIMUM)

        raise InvalidError, "Illegal value '#{value}' for :#{name}; expected #{expected}."
      end
      private_class_method :integer

      def self.orders(value)
        return [] if value.nil?

        fields = value.is_a?(String) ? JSON.parse(value) : value
        unless fields.is_a?(Array) && fields.all?(Hash)
          raise InvalidError, "Illegal value '#{value}' for :order_by; expected an array of maps."
        end

        fields.map { |field| order(field) }
      rescue JSON::ParserError
        raise InvalidError, "Illegal value '#{value}' for :order_by; expected a JSON array of maps."
      end
      private_class_method :orders

      def self.order(map)
        name = map['field']
        order = map.fetch('order', 'asc')
        text = JSON.generate(map)
        missing = "Illegal value '#{text}' in :order_by; missing required key field."
        raise InvalidError, missing unless name.is_a?(String)
        unless order.is_a?(String) && %w[asc desc].include?(order.downcase)
          raise InvalidError, "Illegal value '#{text}' in :order_by; 'order' must be either 'asc' or 'desc'"
        end

        [name, order.downcase]
      end
      private_class_method :order

      def self.pairs(fields)
        raise InvalidError, 'order_by takes a list of fields' unless fields.is_a?(Array)

        fields.map do |field|
          name, order, *more = field
          raise InvalidError, 'order_by takes names of fields, or pairs of a name and asc or desc' unless more.empty?

          order ? { 'field' => name, 'order' => order } : { 'field' => name }
        end
      end
      private_class_method :pairs

      def initialize(limit: nil, offset: nil, order_by: [], total: false)
        @limit = limit
        @offset = offset
        @order_by = order_by
        @total = total
      end

      def ==(other)
        other.is_a?(self.class) && state == other.state
      end

      # @return [Boolean] whether to count the rows of all pages
      def total?
        @total
      end

      # @param other [Paging] of a query itself; where both say something, this one decides
      # @return [Paging]
      def over(other)
        self.class.new(limit: limit || other.limit, offset: offset || other.offset,
                       order_by: order_by.empty? ? other.order_by : order_by, total: total?)
      end

      protected

      def state
        [limit, offset, order_by, total?]
      end
    end
  end
end
