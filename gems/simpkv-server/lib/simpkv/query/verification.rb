# frozen_string_literal: true

require 'simpkv/query/index'

module Simpkv
  module Query
    # Compares the rows of nodes in an index with those that their documents make.
    class Verification
      # The columns that depend on the time of the refresh.
      TIMES = %w[expired source].freeze
      # The tables that are compared, with their rows as the index has them.
      TABLES = (Rows::COLUMNS.keys - %w[fact_paths]).freeze
      # Paths of other nodes, and earlier ones, are in the same table.
      PATH = 'SELECT 1 FROM fact_paths WHERE path = ? AND type = ? AND name = ?'
      private_constant :TIMES, :TABLES, :PATH

      # @param database [SQLite3::Database]
      def initialize(database)
        @database = database
        @statements = TABLES.to_h { |table| [table, database.prepare(selection(table))] }
        @path = database.prepare(PATH)
      end

      # @param certname [String]
      # @param rows [Hash{String => Array<Array>}] see {Rows}
      # @return [Boolean] whether the index has these rows
      def same?(certname, rows)
        TABLES.all? { |table| stored(table, certname) == made(table, rows[table]) } &&
          rows['fact_paths'].all? { |row| @path.execute(row).first }
      end

      # @return [void]
      # @raise [DamagedError] SQLite finds something wrong with the file
      def demand_sound
        found = @database.get_first_value('PRAGMA quick_check(1)')
        raise DamagedError, "the file is damaged: #{found}" unless found == 'ok'
      end

      # @return [void]
      def close
        [@path, *@statements.values].each(&:close)
      end

      private

      def selection(table)
        columns = (Rows::COLUMNS[table] - TIMES).join(', ')
        case table
        when 'nodes' then "SELECT #{columns} FROM nodes WHERE certname = ?"
        when *Index::OF_REPORT
          columns = columns.sub('report', 'reports.hash').gsub(/(?<=, )/, "#{table}.")
          "SELECT #{columns} FROM #{table} JOIN reports ON reports.id = report #{of_node('reports')}"
        else "SELECT #{columns} FROM #{table} #{of_node(table)}"
        end
      end

      def of_node(table)
        "WHERE #{table}.node = (SELECT id FROM nodes WHERE certname = ?)"
      end

      def stored(table, certname)
        comparable(@statements[table].execute(certname).to_a)
      end

      def made(table, rows)
        kept = Rows::COLUMNS[table].each_index.reject { |index| TIMES.include?(Rows::COLUMNS[table][index]) }
        comparable(rows.map { |row| row.values_at(*kept) })
      end

      def comparable(rows)
        rows.map { |row| Native.generate(row) }.sort
      end
    end
    private_constant :Verification
  end
end
