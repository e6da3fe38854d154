# frozen_string_literal: true

require 'simpkv/query/rows'

module Simpkv
  module Query
    class Index
      # The reports of a node that are kept: the numbers of the first and of the last run, and the time since which they
      # were received.
      Kept = Struct.new(:from, :upto, :since)

      # Writes rows of nodes, with one connection. The caller has begun a transaction.
      class Writer
        # The tables whose rows have the number of a node in the column `node`.
        OF_NODE = %w[factsets facts catalogs resources edges].freeze
        private_constant :OF_NODE

        # @param database [SQLite3::Database]
        def initialize(database)
          @database = database
          @statements = {}
        end

        # Replaces all rows of a node. Rows of facts and resources that stay the same are not written.
        #
        # @param certname [String]
        # @param rows [Hash{String => Array<Array>}] see {Rows}
        # @param kept [Kept, nil] the reports that are not replaced
        # @return [void]
        def replace(certname, rows, kept = nil)
          node = number(certname)
          clear_reports(node, kept) if node
          node = insert_node(node, rows['nodes'].first)
          OF_NODE.each { |table| exchange(table, node, rows[table]) }
          rows['fact_paths'].each { |row| run(insertion('fact_paths', Rows::COLUMNS['fact_paths'], ignore: true), row) }
          insert_reports(node, rows['reports'], rows['events'])
        end

        # Replaces the rows of a node that depend on its status.
        #
        # @param certname [String] of a node that is in the index, with facts
        # @param rows [Hash{String => Array<Array>}] see {Rows}, with `status_only`
        # @param kept [Kept, nil] as for {#replace}
        # @return [void]
        def replace_status(certname, rows, kept = nil)
          node = number(certname)
          clear_reports(node, kept)
          row = rows['nodes'].first
          insert_node(node, row)
          time = row[Rows::COLUMNS['nodes'].index('facts_timestamp')]
          run('UPDATE factsets SET timestamp = ?, producer_timestamp = ? WHERE node = ?', [time, time, node])
          insert_reports(node, rows['reports'], rows['events'])
        end

        # @param certname [String]
        # @return [void]
        def remove(certname)
          node = number(certname)
          return unless node

          clear(node)
          clear_reports(node)
          run('DELETE FROM nodes WHERE id = ?', [node])
        end

        # Marks the nodes whose time has passed, and no others: the clock may have been ahead.
        #
        # @param now [String] a time as the tables have it
        # @return [void]
        def expire(now)
          expired = 'CASE WHEN expires <= ?1 THEN expires END'
          run("UPDATE nodes SET expired = #{expired} WHERE expired IS NOT #{expired}", [now])
        end

        # @param values [Hash{String => Object}] of the table `meta`, by name
        # @return [void]
        def note(values)
          values.each { |name, value| run('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)', [name, value]) }
        end

        # Ends the use of the connection.
        #
        # @return [void]
        def close
          @statements.each_value(&:close)
          @statements.clear
        end

        private

        def number(certname)
          select('SELECT id FROM nodes WHERE certname = ?', certname).first&.first
        end

        # @return [Array<Array>]
        def select(sql, value)
          statement = statement(sql)
          statement.execute(value).to_a
        ensure
          statement&.reset!
        end

        # Cascades would look for rows in each table as well.
        def clear(node)
          OF_NODE.each { |table| run("DELETE FROM #{table} WHERE node = ?", [node]) }
        end

        def clear_reports(node, kept = nil)
          replaced = "node = ?#{' AND NOT (run BETWEEN ? AND ? AND receive_time >= ?)' if kept}"
          run("DELETE FROM events WHERE report IN (SELECT id FROM reports WHERE #{replaced})", [node, *kept])
          run("DELETE FROM reports WHERE #{replaced}", [node, *kept])
          run('UPDATE reports SET latest = 0 WHERE node = ? AND latest = 1', [node]) if kept
        end

        def insert_node(node, row)
          columns = ['id', *Rows::COLUMNS['nodes']]
          run("#{insertion('nodes', columns)} ON CONFLICT (id) DO UPDATE SET #{assignments}", [node, *row])
          node || @database.last_insert_row_id
        end

        def assignments
          @assignments ||= Rows::COLUMNS['nodes'].map { |name| "#{name} = excluded.#{name}" }.join(', ')
        end

        # Deletes the rows of a node that it has no more, and inserts those that are new.
        def exchange(table, node, rows)
          columns = Rows::COLUMNS[table]
          stored = select("SELECT #{columns.join(', ')} FROM #{table} WHERE node = ?", node)
          deletion = "DELETE FROM #{table} WHERE node = ? AND #{columns.map { |name| "#{name} IS ?" }.join(' AND ')}"
          (stored - rows).each { |row| run(deletion, [node, *row]) }
          (rows - stored).each { |row| run(insertion(table, ['node', *columns]), [node, *row]) }
        end

        def insert_reports(node, reports, events)
          ids = reports.to_h do |row|
            run(insertion('reports', ['node', *Rows::COLUMNS['reports']]), [node, *row])
            [row.first, @database.last_insert_row_id]
          end
          sql = insertion('events', Rows::COLUMNS['events'])
          events.each { |hash, *row| run(sql, [ids.fetch(hash), *row]) }
        end

        def insertion(table, columns, ignore: false)
          @insertions ||= {}
          @insertions[table] ||= "INSERT #{'OR IGNORE ' if ignore}INTO #{table} (#{columns.join(', ')}) " \
                                 "VALUES (#{columns.map { '?' }.join(', ')})"
        end

        def run(sql, values)
          statement = statement(sql)
          values.each_with_index { |value, index| statement.bind_param(index + 1, value) }
          statement.step
        ensure
          statement&.reset!
        end

        def statement(sql)
          @statements[sql] ||= @database.prepare(sql)
        end
      end
      private_constant :Writer
    end
  end
end
