# frozen_string_literal: true

require 'simpkv/server/console/query/table'

module Simpkv
  module Server
    module Console
      # The rows of an answer in CSV (RFC 4180).
      module QueryCsv
        # A program for tables would take such a text for a formula.
        FORMULA = /\A[=+\-@\t\r]/.freeze
        private_constant :FORMULA

        class << self
          # @param rows [Array]
          # @return [String]
          def text(rows)
            records = QueryTable.records(rows)
            names = QueryTable.names(records)
            [names, *records.map { |record| record.values_at(*names) }].map { |fields| line(fields) }.join
          end

          private

          def line(fields)
            "#{fields.map { |value| field(value) }.join(',')}\r\n"
          end

          def field(value)
            case value
            when nil then ''
            when String then quoted(value.match?(FORMULA) ? "'#{value}" : value)
            else quoted(Native.generate(value))
            end
          end

          def quoted(text)
            text.match?(/[",\r\n]/) ? %("#{text.gsub('"', '""')}") : text
          end
        end
      end
    end
  end
end
