# frozen_string_literal: true

module Simpkv
  module Query
    class Rows
      # The rows of a node's resources: those of its stored catalog, and what it exports. A stored catalog has no
      # resources that are only exported.
      class CatalogRows
        COLUMNS = { 'catalogs' => %w[environment producer_timestamp producer hash dated source version transaction_uuid
                                     catalog_uuid code_id job_id].freeze,
                    'resources' => %w[type title resource exported tags file line parameters].freeze,
                    'edges' => %w[relationship source_type source_title target_type target_title].freeze }.freeze

        # The edges of a resource's parameters: the relationship, and whether it begins at the resource.
        RELATIONSHIPS = { 'before' => ['before', true], 'notify' => ['notifies', true],
                          'require' => ['required-by', false], 'subscribe' => ['subscription-of', false] }.freeze
        # The members of a catalog that tell its run, and its code.
        IDS = %w[transaction_uuid catalog_uuid code_id job_id].freeze
        private_constant :RELATIONSHIPS, :IDS

        # @param name [String] of a type, such as nginx::vhost
        # @return [String] as Puppet writes it: Nginx::Vhost
        def self.type(name)
          name.split('::').map(&:capitalize).join('::')
        end

        # @param documents [Documents]
        # @param run [LastRun]
        # @param values [PublicValues]
        def initialize(documents, run, values)
          @documents = documents
          @run = run
          @values = values
          @what = "the catalog of '#{documents.certname}'"
          @catalog = Form.hash(documents.catalog, @what)
          @types = Hash.new { |types, name| types[name] = self.class.type(name) }
        end

        # @return [Hash{String => Array<Array>}] rows by table
        # @raise [MalformedError]
        def rows
          resources = {}
          edges = []
          enter_catalog(resources, edges) if @documents.catalog
          enter_exports(resources)
          edges.uniq!
          catalogs = @documents.catalog ? [catalog(resources.values, edges)] : []
          { 'catalogs' => catalogs, 'resources' => resources.values, 'edges' => edges }
        end

        private

        def catalog(resources, edges)
          environment = @catalog['environment'] || @run.environment
          version, transaction, uuid, code, job = @catalog.values_at('version', *IDS).map { |value| value&.to_s }
          producer, time = @catalog.values_at(*Estate::Produced::MEMBERS)
          time = Times.text(time)
          content = [@documents.certname, environment, version, uuid, code, resources.map { |row| row[2, 2] }, edges]
          [environment, time || @run.time, producer, Rows.hash_of(content), Form.flag(!time.nil?),
           @documents.source, version, transaction, uuid, code, job]
        end

        def enter_catalog(resources, edges)
          Form.hashes(@catalog['resources'], @what).each do |resource|
            type, title = %w[type title].map { |name| Form.name(resource[name], @what) }
            parameters = parameters(resource, @what)
            row = row(type, title, resource, resource['exported'] == true, parameters, @what)
            resources[[type, title]] = row
            enter_relationships(type, title, parameters, edges)
          end
          containments.each do |edge|
            enter_edge('contains', *%w[source target].map { |name| reference(edge[name]) }, edges)
          end
        end

        # @return [Array<Hash>]
        def containments
          ['edges', Estate::Catalogs::EXPORTED_EDGES].flat_map { |member| Form.hashes(@catalog[member], @what) }
        end

        # A node that collects what it exports has the resource in its catalog.
        def enter_exports(resources)
          what = "the exports of '#{@documents.certname}'"
          Form.hash(@documents.exports, what).each do |name, list|
            type = @types[name]
            Form.hashes(list, what).each do |resource|
              title = Form.name(resource['title'], what)
              next resources[[type, title]][3] = 1 if resources[[type, title]]

              resources[[type, title]] = row(type, title, resource, true, parameters(resource, what), what)
            end
          end
        end

        def parameters(resource, what)
          parameters = Form.hash(resource['parameters'], what)
          sensitive = Form.list(resource['sensitive_parameters'], what)
          parameters = parameters.reject { |name, _| sensitive.include?(name) } if sensitive.any?
          @values.of(parameters)
        end

        def row(type, title, resource, exported, parameters, what)
          tags = Native.generate(Form.list(resource['tags'], what).grep(String).sort.uniq)
          file = Form.text(resource['file'], what)
          line = Form.integer(resource['line'])
          parameters = Native.generate(parameters)
          digest = Rows.hash_of([type, title, exported, tags, file, line, parameters])
          [type, title, digest, Form.flag(exported), tags, file, line, parameters]
        end

        def enter_relationships(type, title, parameters, edges)
          RELATIONSHIPS.each do |name, (relationship, first)|
            next unless parameters.key?(name)

            [parameters[name]].flatten.each do |other|
              ends = [[type, title], reference(other)]
              enter_edge(relationship, *(first ? ends : ends.reverse), edges)
            end
          end
        end

        def enter_edge(relationship, source, target, edges)
          edges << [relationship, *source, *target] if source && target
        end

        # @return [Array(String, String), nil] type and title; nil for another value
        def reference(value)
          type, title = Form.reference(value)
          [@types[type], title] if type
        end
      end
      private_constant :CatalogRows
    end
  end
end
