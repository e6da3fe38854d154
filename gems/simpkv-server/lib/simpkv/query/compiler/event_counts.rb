# frozen_string_literal: true

require 'simpkv/query/compiler/select'

module Simpkv
  module Query
    class Compiler
      # The numbers of events by their status, of resources, classes or nodes.
      class EventCounts
        # For each value of summarize_by, the columns that are the subject of a count: names, and SQL.
        SUBJECTS = { 'resource' => { 'resource_type' => 'e.resource_type', 'resource_title' => 'e.resource_title' },
                     'containing_class' => { 'containing_class' => 'e.containing_class' },
                     'certname' => { 'certname' => 'n.certname' } }.freeze

        SUBJECT = { 'resource' => "'type', resource_type, 'title', resource_title",
                    'containing_class' => "'title', containing_class", 'certname' => "'title', certname" }.freeze

        COUNTS = { 'failures' => 'failure', 'skips' => 'skipped', 'successes' => 'success', 'noops' => 'noop' }.freeze

        SUMS = COUNTS.map { |name, status| "coalesce(sum(status = '#{status}'), 0) AS #{name}" }.join(', ')

        MEMBERS = COUNTS.keys.map { |name| "'#{name}', #{name}" }.join(', ')

        # The numbers of subjects that have such an event.
        TOTALS = COUNTS.keys.map { |name| "'#{name}', coalesce(sum(#{name} > 0), 0)" }.join(', ')

        OPERATORS = %w[= > < >= <=].freeze

        # @param options [Options]
        # @param condition [Fragment, nil] on events
        def initialize(options, condition)
          @options = options
          @condition = condition
        end

        # @param paging [Paging]
        # @return [Array<Fragment>] the rows, and their number without paging
        def rows(paging)
          subject = subject(@options.summarize_by)
          row = "json_object('subject_type', ?, 'subject', json_object(#{SUBJECT.fetch(subject)}), #{MEMBERS})"
          body = Fragment.of("SELECT #{row} FROM ?", subject, counts(subject))
          [Fragment.join([body, order(subject, paging), Select.limit(paging)].compact, ' '),
           Fragment.of('SELECT count(*) FROM ?', counts(subject))]
        end

        # @return [Array<Fragment>] a row for each value of summarize_by, and their number
        def aggregates
          subjects = @options.summarize_by.split(',', -1)
          subjects = [''] if subjects.empty?
          selects = subjects.map do |name|
            row = "json_object('summarize_by', ?, #{TOTALS}, 'total', count(*))"
            Fragment.of("SELECT #{row} FROM ?", name, counts(subject(name)))
          end
          [Fragment.join(selects, ' UNION ALL '), Fragment.of('SELECT ?', subjects.length)]
        end

        private

        def subject(name)
          SUBJECTS.key?(name) ? name : raise(InvalidError, "Unsupported value for 'summarize_by': '#{name}'")
        end

        # A table of counts by subject.
        def counts(subject)
          columns = SUBJECTS.fetch(subject)
          events = columns.map { |name, sql| "#{sql} AS #{name}" }.unshift('e.status AS status')
          events.unshift('DISTINCT n.certname AS counted') if @options.nodes?
          select = Select.new(Entities['events'], events.map { |sql| Fragment.new(sql) }, @condition).fragment
          names = columns.keys.join(', ')
          table = Fragment.of("SELECT #{names}, #{SUMS} FROM (?) GROUP BY #{names}", select)
          Fragment.of('(SELECT * FROM (?)?)', table, filter)
        end

        def filter
          query = @options.counts_filter
          return Fragment.new('') if query.nil?

          operator, *arguments = Syntax.operation(query)
          raise Syntax.unknown_operator(query) unless OPERATORS.include?(operator)

          unless arguments.length == 2
            raise InvalidError, "#{operator} requires exactly two arguments, but #{arguments.length} were supplied"
          end

          compared(operator, *arguments)
        end

        def compared(operator, name, number)
          raise InvalidError, "#{name} is not a queryable object for event counts" unless COUNTS.key?(name)
          raise InvalidError, "Argument #{JSON.generate(number)} is no number" unless number.is_a?(Numeric)

          Fragment.of(" WHERE #{name} #{operator} ?", number)
        end

        def order(subject, paging)
          names = [*COUNTS.keys, *SUBJECTS.fetch(subject).keys]
          unknown = paging.order_by.map(&:first) - names
          unless unknown.empty?
            raise InvalidError, "Unrecognized column '#{unknown.first}' specified in :order_by; Supported columns " \
                                "are #{names.map { |name| "'#{name}'" }.join(', ')}"
          end

          keys = paging.order_by.map { |name, direction| "#{name} #{Select::ORDERS.fetch(direction)}" }
          Fragment.new("ORDER BY #{keys.join(', ')}") unless keys.empty?
        end
      end
    end
  end
end
