# frozen_string_literal: true

require 'simpkv/termini'
require 'simpkv/termini/resources'

module Simpkv
  module Termini
    # Catalogs of nodes: what they export, and their resources.
    module CatalogTerminus
      class << self
        # Saves a catalog after Puppet has compiled or received it. The catalog of a rest terminus has no exported
        # resources any more, so only a compiler's changes them. A catalog that an operator compiles for another node
        # (`puppet catalog compile`) changes nothing: the node has not run.
        #
        # @param request [Puppet::Indirector::Request] with the catalog
        # @param origin [Symbol] the main terminus of the indirection; `simpkv` if the catalog is to be stored
        # @return [void]
        # @raise [Puppet::Error]
        def save(request, origin)
          certname = request.key
          catalog = request.instance
          compiled = ![*STORED, :rest].include?(origin)
          return if compiled && !(complete?(catalog) && run?(request))

          save_exports(certname, catalog) if compiled
          save_catalog(request, origin)
          # The status goes last: a change of it tells the index of queries that the other documents are there.
          save_status(certname, catalog) if compiled && !reported?
        end

        # @param certname [String]
        # @param origin [Symbol] as for {save}
        # @return [Puppet::Resource::Catalog, nil] nil as well if catalogs are not stored
        # @raise [Puppet::Error]
        def find(certname, origin)
          data = Termini.perform("read the catalog of '#{certname}'", node: certname) do |estate|
            estate.catalogs.get(certname) if stored?(estate, origin)
          end
          data && restored(certname, data)
        end

        # @param certname [String]
        # @return [Boolean] whether there was one
        # @raise [Puppet::Error]
        def delete(certname)
          Termini.perform("delete the catalog of '#{certname}'", node: certname, soft: false) do |estate|
            estate.catalogs.delete(certname)
          end
        end

        private

        def save_exports(certname, catalog)
          Termini.report("save the exported resources of '#{certname}'", certname) do |_estate, store|
            exported = Resources.exported(catalog)
            data = { 'resources' => exported, 'environment' => catalog.environment.to_s }
            encodable(exported) { store.call(Estate::RunWrite::Exports.new(certname, data)) }
          end
        end

        # The estate's message has the path inside a value, which could show a part of a Sensitive.
        #
        # @param resources [Hash{String => Array<Hash>}] that the block saves, by type
        def encodable(resources)
          yield
        rescue UnencodableError => e
          raise UnencodableError, Resources.unencodable(resources) || e.message, cause: nil
        end

        # The report of a run has its status. Without reports, the run itself counts.
        def save_status(certname, catalog)
          Termini.report("save the status of '#{certname}'", certname) do |_estate, store|
            store.call(Estate::RunWrite::Status.new(certname, { 'environment' => catalog.environment.to_s }))
          end
        end

        def reported?
          reports = Puppet::Transaction::Report.indirection
          termini = [reports.terminus_class, reports.cache_class].compact.map(&:to_sym)
          termini.include?(:simpkv) || Puppet[:reports].to_s.split(',').map(&:strip).include?('simpkv')
        end

        # A server answers an agent that asks in the wrong environment with an empty catalog, and compiles none.
        def complete?(catalog)
          !catalog.resources.empty?
        end

        # Returns true if the catalog is for a run of the node: a server has compiled it for an agent, or this machine
        # has compiled its own. The run mode does not tell: `puppet catalog compile` has that of a server.
        def run?(request)
          request.remote? || defined?(Puppet::Server) || request.key == Puppet[:node_name_value]
        end

        def save_catalog(request, origin)
          certname = request.key
          Termini.report("save the catalog of '#{certname}'", certname) do |estate, store|
            next unless stored?(estate, origin)

            data = data(request.instance).merge(exported_edges(request.instance), Termini.produced, run(request))
            resources = data['resources'].group_by { |resource| resource['type'] }
            encodable(resources) { store.call(Estate::RunWrite::Catalog.new(certname, data)) }
          end
        end

        # @return [Hash{String => Array<Hash>}] the edges to resources that are only exported; empty for none
        def exported_edges(catalog)
          edges = catalog.edges.select do |edge|
            virtual = [edge.source, edge.target].select(&:virtual?)
            virtual.any? && virtual.all?(&:exported)
          end
          edges.empty? ? {} : { Estate::Catalogs::EXPORTED_EDGES => edges.map(&:to_data_hash) }
        end

        # @return [Hash{String => String}] the members that tell the run
        def run(request)
          request.options.slice(:transaction_uuid, :job_id).compact.to_h { |name, id| [name.to_s, id.to_s] }
        end

        def stored?(estate, origin)
          origin == :simpkv || estate.options['catalogs']
        end

        def data(catalog)
          Puppet.override({ rich_data: true }, 'catalogs of simpkv') do
            catalog.filter(&:virtual?).to_data_hash
          end
        end

        def restored(certname, data)
          check(data)
          Puppet.override({ rich_data: true }, 'catalogs of simpkv') { Puppet::Resource::Catalog.from_data_hash(data) }
        rescue StandardError
          raise Puppet::Error, "simpkv estate: could not read the catalog of '#{certname}': it has values of types " \
                               'that simpkv does not restore, or it is no catalog', cause: nil
        end

        # Other data could make Puppet run code.
        def check(data)
          RichValues.check(data)
          ends = (data['edges'] || []).flat_map { |edge| edge.values_at('source', 'target') }
          RichValues.check_names(data['resources'].map { |resource| resource['type'] })
          RichValues.check_names(ends.map { |reference| reference[/\A[^\[]+/] })
          data['resources'].each { |resource| RichValues.check_relationships(resource['parameters'] || {}) }
        end
      end
    end
  end
end
