# frozen_string_literal: true

require 'erubi'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Rules < Section
        # The outcome of an inspection, in words.
        class Outcome
          # - `outcome`: whether the rule matched
          # - `details`: lines
          Row = Struct.new(:uuid, :title, :phase, :outcome, :details)
          # Characters of a line.
          LINE = 600
          # The most rules of a page, and lines of a rule; and the bytes of lines after which no other rule follows.
          ROWS = 50
          LINES = 20
          BYTES = 20_000
          private_constant :LINE, :ROWS, :LINES, :BYTES

          KNOWN = { 'declared' => 'The node has a declared record.',
                    'discovered' => 'The node has no declared record: discovery would declare the one below.',
                    'unknown' => 'The node has no declared record.' }.freeze
          private_constant :KNOWN

          # @return [Hash, nil] the effective record; nil if the node gets none
          attr_reader :record

          # @return [String] the certname
          attr_reader :name

          # @return [Integer] the number of rules before those of this page
          attr_reader :first

          # @param data [Hash] of the API
          # @param first [Integer]
          def initialize(data, first = 0)
            @data = data
            @first = first
            @name, @record = data.values_at('name', 'record')
          end

          # @return [Boolean] whether the node gets a catalog
          def accepted?
            !@record.nil?
          end

          # @return [String]
          def verdict
            rule = @data['failed'] || @data['error']
            return "The rules accept the node. #{KNOWN.fetch(@data['known'])}" unless rule

            named = Inspection::Explanation.named(rule)
            return ["The node is refused by the #{named}", rule['msg']].compact.join(': ') if @data['failed']
            return "The #{named} cannot be applied. It is sensitive, so the reason is not shown" if rule['sensitive']

            "The #{[named, rule['place'], rule['message']].compact.join(': ')}. It cannot be applied"
          end

          # @return [Integer] the number of all rules
          def total
            @data['rules'].length
          end

          # @return [Integer, nil] the number of rules before those of the next page; nil for the last page
          def following
            last = first + rules.length
            last if last < total
          end

          # @return [Array<Row>] the rules of a page, in the order in which they ran
          def rules
            @rules ||= @data['rules'].drop(first).first(ROWS).each_with_object([]) do |rule, rows|
              break rows if rows.sum { |row| bytes(row) } > BYTES

              rows << row(rule)
            end
          end

          # @return [Array<String>]
          def effects
            limited(@data['effects'].map { |effect| shortened(Inspection::Explanation.effect(effect)) })
          end

          private

          def row(rule)
            title = rule['description'].to_s.empty? ? rule['uuid'] : rule['description']
            Row.new(rule['uuid'], title, rule['phase'], Inspection::Explanation.outcome(rule),
                    limited(Inspection::Explanation.details(rule).map { |line| shortened(line) }))
          end

          def bytes(row)
            row.details.sum { |line| Erubi.h(line).bytesize }
          end

          def limited(lines)
            lines.length > LINES ? [*lines.first(LINES), "and #{lines.length - LINES} more"] : lines
          end

          def shortened(line)
            line.length > LINE ? "#{line[0, LINE]}… (#{line.length} characters)" : line
          end
        end
      end
    end
  end
end
