# frozen_string_literal: true

require 'simpkv/query/rows'

module Simpkv
  module Query
    class Index
      # The reports of a node that are kept: the numbers of the first and of the last run, and the time since which they
      # were sent.
      Kept = Struct.new(:from, :upto, :since)

      # The tables whose rows have the number of a report in the column `report`, and its hash in {Rows}.
      OF_REPORT = %w[metrics events].freeze

      # Writes rows of nodes, with one connection. The caller has begun a transaction.
      class Writer
        # The tables whose rows have the number of a node in the column `node`.
        OF_NODE = %w[factsets facts package_inventory catalogs resources edges].freeze
        SEEN = Rows::COLUMNS['nodes'].index('seen')
        # The one that may have a row twice.
        REPEATED = 'edges'
        FACTS = 'facts'
        HASH_OF_FACTS = Rows::COLUMNS['factsets'].index('hash')
        PATHS = Rows::COLUMNS['fact_paths']
        NAME_OF_FACT, NAME_OF_PATH = [Rows::COLUMNS[FACTS], PATHS].map { |columns| columns.index('name') }
        private_constant :OF_NODE, :SEEN, :REPEATED, :FACTS, :HASH_OF_FACTS, :PATHS, :NAME_OF_FACT, :NAME_OF_PATH

        # @param database [SQLite3::Database]
        def initialize(database)
          @database = database
          @statements = {}
        end

        # Replaces all rows of a node. Rows of facts and resources that stay the same are not written.
        #
        # @param certname [String]
        # @param rows [Hash{String => Array<Array>}] see {Rows}. Tables that are not there stay
        # @param kept [Kept, nil] the reports that are not replaced
        # @return [void]
        def replace(certname, rows, kept = nil)
          node = number(certname)
          clear_reports(node, kept) if node
          node = insert_node(node, rows['nodes'].first)
          tables = OF_NODE & rows.keys
          tables.delete(FACTS) if same_facts?(node, rows['factsets'].first)
          date_catalog(node, rows['nodes'].first)
          fresh = tables.to_h { |table| [table, exchange(table, node, rows[table])] }
          insert_paths(rows['fact_paths'], fresh.fetch(FACTS, []))
          insert_reports(node, rows)
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
          date_catalog(node, row)
          insert_reports(node, rows)
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
          replaced = "node = ?#{' AND NOT (run BETWEEN ? AND ? AND producer_timestamp >= ?)' if kept}"
          OF_REPORT.each do |table|
            run("DELETE FROM #{table} WHERE report IN (SELECT id FROM reports WHERE #{replaced})", [node, *kept])
          end
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

        # A catalog without a time has that of the last run.
        def date_catalog(node, row)
          run('UPDATE catalogs SET producer_timestamp = ? WHERE node = ? AND NOT dated', [row[SEEN], node])
        end

        # @param factset [Array, nil] the row
        # @return [Boolean] whether the facts of the node are those of before
        def same_facts?(node, factset)
          hash = factset && factset[HASH_OF_FACTS]
          !hash.nil? && select('SELECT hash FROM factsets WHERE node = ?', node) == [[hash]]
        end

        # Those of facts that stay the same are there: paths are never deleted.
        #
        # @param facts [Array<Array>] the rows that were inserted
        def insert_paths(rows, facts)
          names = facts.to_h { |row| [row[NAME_OF_FACT], true] }
          rows.each do |row|
            run(insertion('fact_paths', PATHS, ignore: true), row) if names.key?(row[NAME_OF_PATH])
          end
        end

        # Deletes the rows of a node that it has no more, and inserts those that are new.
        #
        # @return [Array<Array>] those that were new
        def exchange(table, node, rows)
          columns = Rows::COLUMNS[table]
          stored = select("SELECT #{columns.join(', ')} FROM #{table} WHERE node = ?", node)
          deletion = "DELETE FROM #{table} WHERE node = ? AND #{columns.map { |name| "#{name} IS ?" }.join(' AND ')}"
          gone = stored.to_h { |row| [row, true] }
          fresh = rows.reject { |row| gone.delete(row) }
          fresh -= stored if table == REPEATED
          gone.each_key { |row| run(deletion, [node, *row]) }
          fresh.each { |row| run(insertion(table, ['node', *columns]), [node, *row]) }
        end

        def insert_reports(node, rows)
          ids = rows['reports'].to_h do |row|
            run(insertion('reports', ['node', *Rows::COLUMNS['reports']]), [node, *row])
            [row.first, @database.last_insert_row_id]
          end
          OF_REPORT.each do |table|
            sql = insertion(table, Rows::COLUMNS[table])
            rows[table].each { |hash, *row| run(sql, [ids.fetch(hash), *row]) }
          end
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
