# frozen_string_literal: true

require 'simpkv/server/problem'

module Simpkv
  module Server
    module Console
      # Columns by which a table can be sorted: the parameters `sort` and `order` say how. A class that includes this
      # includes {Html}, too, and has `given` and `here`.
      module Sorting
        ORDERS = ['', 'asc', 'desc'].freeze
        private_constant :ORDERS

        private

        # @param columns [Hash{String => Object}] by the name of a column; the first one sorts unless the address says
        #   otherwise
        # @param from_end [Boolean] whether it does so from its end
        # @return [Array(Object, Boolean)] that of the column that sorts, and whether from its end
        # @raise [Problem] there is no such column
        def sorted_by(columns, from_end: false)
          name, order = %w[sort order].map { |parameter| given(parameter) }
          check_choice('sort', name, ['', *columns.keys])
          check_choice('order', order, ORDERS)
          descending = name.empty? && order.empty? ? from_end : order == 'desc'
          @sorted = [name.empty? ? columns.keys.first : name, descending]
          [columns.fetch(@sorted.first), @sorted.last]
        end

        # @param fields [Hash{String => Array<String>}] of the index, by the name of a column
        # @return [Array<Array(String, String)>] an order for {Api#find}: by the fields of the column, then by others
        def order_of(fields)
          first, descending = sorted_by(fields)
          others = fields.values.flatten - first
          first.map { |field| [field, descending ? 'desc' : 'asc'] } + others.map { |field| [field, 'asc'] }
        end

        # @param rows [Array]
        # @param columns [Hash{String => Proc}] what is compared, by the name of a column: numbers or texts; nil for the
        #   order that the rows have
        # @param how [Hash] as for {#sorted_by}
        # @return [Array] the rows in order. Those without a value come first
        def in_order(rows, columns, **how)
          value, descending = sorted_by(columns, **how)
          return descending ? rows.reverse : rows unless value

          numbers, texts = rows.partition { |row| value.call(row).is_a?(Numeric) }
          found = texts.sort_by { |row| value.call(row).to_s } + numbers.sort_by(&value)
          descending ? found.reverse : found
        end

        # @param title [String] of a column
        # @param name [String] of {#sorted_by}
        # @param kind [String] more attributes, such as a class
        # @return [String] HTML: its heading, with a link that sorts by it
        def heading(title, name, kind = '')
          descending = @sorted.last if @sorted&.first == name
          sort = { nil => 'none', true => 'descending', false => 'ascending' }[descending]
          address = here(sort: name, order: ('desc' if descending == false), offset: nil)
          %(<th scope="col" aria-sort="#{sort}"#{kind}><a href="#{h(address)}">#{h(title)}</a></th>)
        end

        def check_choice(name, value, known)
          return if known.include?(value)

          raise Problem.new(400, "the parameter '#{name}' must be one of #{known.reject(&:empty?).join(', ')}")
        end
      end
    end
  end
end
