# frozen_string_literal: true

require 'set'
require 'simpkv/estate/puppetdb_data'
require 'simpkv/server/commands/catalog_times'

module Simpkv
  module Server
    module Commands
      # The command `replace catalog`: what a node exports, and with the option `catalogs` its whole catalog.
      class ReplaceCatalog
        VERSION = 9
        # The name of a type, such as Nginx::Vhost.
        TYPE = /\A[A-Z][a-zA-Z0-9_]*(?:::[A-Z][a-zA-Z0-9_]*)*\z/.freeze
        # The name of a class, as a title.
        CLASS = /\A[A-Za-z]\w*(?:::[A-Za-z]\w*)*\z/.freeze
        # The relationships that Puppet's catalogs have as edges. They have others as parameters.
        EDGES = %w[contains].freeze
        # The members that tell the code and the run, which may be null.
        IDS = %w[code_id catalog_uuid transaction_uuid job_id].freeze
        # Puppet's version of the form in which the catalog is stored.
        FORMAT = 2
        private_constant :TYPE, :CLASS, :EDGES, :IDS, :FORMAT

        # @return [String]
        attr_reader :certname

        # @param payload [Payload]
        # @raise [Problem]
        def initialize(payload)
          @certname = payload.text('certname')
          @environment = payload.text('environment')
          @time = payload.time('producer_timestamp')
          @members = { 'version' => payload.text('version'), **payload.produced }
          @members.merge!(IDS.to_h { |name| [name, payload.text(name, null: true)] })
          resources = payload.each('resources') { |each| resource(each) }
          exported, @resources = resources.partition { |each| each['exported'] }
          @edges = among(payload.each('edges') { |each| edge(each) }.compact, resources)
          @exports = Estate::PuppetDBData.exports(exported)
        end

        # Does nothing if a newer catalog is stored, or is being stored: two compilers may have compiled for one node.
        #
        # @param estate [Estate]
        # @return [Boolean] whether it did something
        # @raise [Error, ConfigError]
        def save(estate)
          estate.exports.check(@certname, @exports)
          times = CatalogTimes.new(estate, @certname)
          time = @members[Estate::Produced::TIME]
          return false if times.newer?(@time)

          # Before a change of the status or the inventory: it tells the index of queries that the catalog is there.
          save_catalog(estate.catalogs) if estate.options['catalogs']
          return false unless times.enter(@time, time, @environment)

          estate.exports.save_in_order(@certname, @exports, @environment, time: time) { times.newer?(@time) }
          true
        end

        private

        def save_catalog(catalogs)
          catalogs.update(@certname) do |stored|
            catalog unless stored.is_a?(Hash) && CatalogTimes.later?(stored[Estate::Produced::TIME], @time)
          end
        end

        def resource(payload)
          reference(payload)
          payload.flag('exported')
          parameters = payload.object('parameters')
          secret = payload.texts('sensitive_parameters')
          payload.texts('tags')
          payload.text('file', null: true)
          payload.integer('line', null: true)
          # PuppetDB's terminus sends no Sensitive. Others may send it in plain text, as Puppet's catalogs have it.
          payload.data.merge('parameters' => parameters.reject { |name, _| secret.include?(name) })
        end

        # @return [Hash, nil] nil for an edge that Puppet's catalogs do not have
        def edge(payload)
          ends = %w[source target].to_h { |name| [name, reference(payload.below(name))] }
          ends if EDGES.include?(payload.text('relationship'))
        end

        # @return [String] such as File[/etc/motd]
        def reference(payload)
          type, title = %w[type title].map { |name| payload.text(name) }
          payload.refuse('type', 'the name of a type such as Nginx::Vhost') unless type.match?(TYPE)
          payload.refuse('title', "the title of a resource of the type '#{type}', and not empty") if title.empty?
          payload.refuse('title', 'the name of a class') if type == 'Class' && !title.match?(CLASS)
          "#{type}[#{title}]"
        end

        # @return [Array<Hash>] the edges between these resources
        def among(edges, resources)
          known = Set.new(resources.map { |each| "#{each['type']}[#{each['title']}]" })
          edges.select { |edge| edge.values.all? { |reference| known.include?(reference) } }
        end

        # @return [Hash{String => Object}] in the form of Puppet's data, without what is only exported
        def catalog
          edges = among(@edges, @resources)
          exported = @edges - edges
          { 'tags' => [], 'name' => @certname, **@members, 'catalog_format' => FORMAT, 'environment' => @environment,
            'resources' => @resources.map { |each| stored(each) }, 'edges' => edges, 'classes' => classes,
            **(exported.empty? ? {} : { Estate::Catalogs::EXPORTED_EDGES => exported }) }
        end

        def stored(resource)
          { 'type' => resource['type'], 'exported' => false, **Estate::PuppetDBData.resource(resource) }
        end

        def classes
          @resources.select { |each| each['type'] == 'Class' }.map { |each| each['title'].downcase } - %w[main]
        end
      end
    end
  end
end
