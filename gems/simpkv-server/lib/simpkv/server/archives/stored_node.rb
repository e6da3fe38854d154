# frozen_string_literal: true

require 'set'
require 'simpkv/query/rows'

module Simpkv
  module Server
    module Archives
      # What the estate has of a node, as an archive would have it: without secrets, and with the time of the last run.
      # So an archive must not replace what it came from.
      class StoredNode
        # The member of a record of the inventory that has the time of the exports.
        EXPORTED = 'exported_at'
        private_constant :EXPORTED

        # @param estate [Estate]
        # @param certname [String]
        def initialize(estate, certname)
          @estate = estate
          @certname = certname
          @record = estate.inventory.readable(certname)&.value || {}
        end

        # @param payload [Commands::Payload] of `replace facts`
        # @return [Boolean] whether the estate has these facts, and they are not older
        # @raise [Error]
        def facts?(payload)
          facts = @estate.facts.readable(@certname)&.value or return false
          rows = rows(facts: facts)
          values = rows['facts'].to_h { |name, value| [name, Native.parse(value)] }
          return false unless not_before?(payload, column(rows, 'nodes', 'facts_timestamp'))

          payload.data['values'] == values &&
            payload.data['package_inventory'].to_a.to_set == rows['package_inventory'].to_set
        end

        # @param payload [Commands::Payload] of `replace catalog`
        # @return [Boolean] whether the estate has this catalog, or its exports, and they are not older; or later ones
        # @raise [Error]
        def catalog?(payload)
          catalog = (@estate.catalogs.readable(@certname)&.value if whole?)
          own = [@record[EXPORTED], catalog.to_h[Estate::Produced::TIME]]
          own.any? { |time| order(time) > time(payload) } || same_catalog?(payload, catalog)
        end

        private

        # The exports of a save that has died are not there.
        def same_catalog?(payload, catalog)
          return false unless @record.fetch('exports', { 'none' => nil }).values.all?

          rows = rows(catalog: catalog, exports: exports)
          times = [column(rows, 'nodes', 'catalog_timestamp'), column(rows, 'catalogs', 'producer_timestamp')]
          (times.none? || not_before?(payload, *times)) && content(payload.data) == stored_content(rows)
        end

        # @return [Boolean] whether catalogs are stored
        def whole?
          @estate.options['catalogs']
        end

        def time(payload)
          order(payload.timestamp(Estate::Produced::TIME))
        end

        def order(time)
          Estate::Produced.order(time)
        end

        def not_before?(payload, *times)
          times.any? { |time| order(time) >= time(payload) }
        end

        # @return [Hash{String => Array<Hash>}] those that can be read
        def exports
          @estate.exports.of(@certname) { |_key, _why| nil }
        rescue Estate::MissingError
          {}
        end

        def rows(**documents)
          documents = { certname: @certname, inventory: @record, status: @estate.statuses.before(@certname),
                        exports: {}, reports: [] }.merge(documents)
          Query::Rows.of(Query::Rows::Documents.new(**documents), secret_names: @estate.secret_names)
        end

        def hashes(rows, table)
          rows[table].map { |row| Query::Rows::COLUMNS[table].zip(row).to_h }
        end

        def column(rows, table, name)
          hashes(rows, table).first.to_h[name]
        end

        # @param payload [Hash]
        # @return [Array<Set>] the resources and edges that the estate stores of a catalog
        def content(payload)
          resources = payload['resources'].select { |each| whole? || each['exported'] }
          edges = whole? ? payload['edges'].to_a.map { |edge| edge.slice('relationship', 'source', 'target') } : []
          [resources.to_set { |each| Wire.resource(each) }, edges.to_set]
        end

        def stored_content(rows)
          resources = hashes(rows, 'resources').map do |each|
            each.merge('exported' => each['exported'] == 1,
                       **%w[tags parameters].to_h { |name| [name, Native.parse(each[name])] })
          end
          content('resources' => resources, 'edges' => Wire.edges(resources, hashes(rows, 'edges')))
        end
      end
      private_constant :StoredNode
    end
  end
end
