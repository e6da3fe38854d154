# frozen_string_literal: true

require 'simpkv/server/console/nodes/node_table'
require 'simpkv/server/console/rows'
require 'simpkv/server/console/section'

module Simpkv
  module Server
    module Console
      class Nodes < Section
        # The table of nodes.
        class TablePage < Page
          include Rows

          # The number of environments that a filter suggests.
          ENVIRONMENTS = 100
          private_constant :ENVIRONMENTS

          # @return [String] HTML
          def show
            removed = removed()
            wanted = %w[q status environment state failed message sort order].to_h { |name| [name, given(name)] }
            found = found(NodeTable.new(api, wanted))
            response.status = found.status if missing?(found)
            file_of('nodes') { file_rows(found) } || table(wanted, found, removed)
          end

          private

          # @return [Array<Hash>] what a file has
          def file_rows(found)
            raise Problem.new(found.status, found.message) if missing?(found)

            found.rows.map { |row| row.to_h.transform_keys(&:to_s).merge('notes' => row.notes.join(', ')) }
          end

          # @return [String] HTML
          def table(wanted, found, removed)
            page('Nodes', 'nodes/table', wanted: wanted, found: found,
                                         columns: missing?(found) ? [] : columns(wanted, found.columns),
                                         environments: environments, removed: removed,
                                         filtered: wanted.except('sort', 'order').values.any?(/./))
          end

          # Without the index, the store has the same nodes.
          #
          # @return [NodeTable::Found, Missing] missing if a value of the filter is wrong
          def found(table)
            return allowed(part(400) { table.stored(*window, nil) }, 400) if table.never_run?

            found = part(400) { table.indexed(*window) }
            return found unless missing?(found) && found.status != 400

            allowed(part(400) { table.stored(*window, found.message) }, 400)
          end

          # @return [Object, Missing] the part
          # @raise [Problem] it is missing, with another status
          def allowed(part, status)
            return part unless missing?(part) && part.status != status

            raise Problem.new(part.status, part.message, key: part.key)
          end

          # @param names [Array<String>] of the columns
          # @return [Array<String>] HTML: the headings of the table, with links that sort
          def columns(wanted, names)
            @sorted = [wanted['sort'].empty? ? 'name' : wanted['sort'], wanted['order'] == 'desc']
            NodeTable::COLUMNS.slice(*names).map { |name, (title, *)| heading(title, name) }
          end

          def environments
            found = part { api.find('environments', nil, order: [%w[name asc]], limit: ENVIRONMENTS) }
            missing?(found) ? [] : found.rows.map { |row| row['name'] }
          end

          # @return [String, nil] the node that a form has just deactivated
          def removed
            certname = take('removed')
            certname if notice == 'removed'
          end
        end
      end
    end
  end
end
