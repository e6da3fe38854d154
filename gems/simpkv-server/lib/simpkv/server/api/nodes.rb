# frozen_string_literal: true

require 'simpkv/server/application'
require 'simpkv/server/api/node_view'

module Simpkv
  module Server
    module Api
      # Nodes and what they have left: /v1/nodes.
      class Nodes < Application
        route do |r|
          refuse_conditions
          r.is(['', true]) do
            at('/v1/nodes')
            r.get { json(list) }
          end
          r.on(String) do |certname|
            @node = NodeView.new(estate, certname)
            r.is(['', true]) do
              at('/v1/nodes/{certname}')
              requests(r, certname)
            end
            r.is(%w[facts reports exports record inspection]) do |subject|
              at("/v1/nodes/{certname}/#{subject}")
              r.get { json(subject == 'reports' ? with_errors(:reports) : plain { @node.public_send(subject) }) }
              record_requests(r, certname) if subject == 'record'
              r.post { json(inspection(certname)) } if subject == 'inspection'
            end
          end
        end

        private

        def list
          given = query('filter', 'sort', 'reverse', 'never_run', 'errors')
          stored = Estate::NodeList.new(estate)
          nodes = stored.nodes(order: column(given['sort']), reverse: flag('reverse'), never_run: flag('never_run'))
          nodes = opts.fetch(:work).matching(estate, given.fetch('filter', '').split(','), nodes)
          errors = errors_of(stored.errors)
          { 'nodes' => nodes, **errors }
        end

        # @param errors [Hash{String => String}] why a document cannot be read, by its path
        # @return [Hash] the member `errors` of the answer, if the request asks for it
        # @raise [MalformedError] a document cannot be read, and the request does not ask
        def errors_of(errors)
          return { 'errors' => errors.sort.to_h } if errors_returned?

          key, why = errors.min_by(&:first)
          raise MalformedError.unreadable(key, why) if key

          {}
        end

        # @param part [Symbol] of {NodeView}
        # @return [Hash] it, with the member `errors` if the request asks for it
        def with_errors(part)
          query('errors')
          return @node.public_send(part) unless errors_returned?

          errors = {}
          @node.public_send(part, errors).merge('errors' => errors)
        end

        def column(name)
          columns = Estate::NodeList::COLUMNS
          return name || columns.first if name.nil? || columns.include?(name)

          raise Problem.new(400, "the parameter 'sort' must be one of #{columns.join(', ')}")
        end

        def requests(request, certname)
          request.get { json(with_errors(:summary)) }
          request.delete do
            query('purge')
            removed = flag('purge') ? estate.remove(certname) : estate.deactivate(certname)
            removed.empty? ? @node.missing('documents') : json('removed' => removed)
          end
        end

        def record_requests(request, certname)
          request.put do
            query
            created = estate.nodes.get(certname).nil?
            estate.nodes.declare(certname, body(Hash))
            response.status = created ? 201 : 204
            ''
          end
          request.delete { plain { estate.nodes.delete(certname) } ? no_content : @node.missing('declared record') }
        end

        # Inspects a node with the facts of the body, or with the stored ones, which have secrets that no client sees.
        def inspection(certname)
          query('dry_run', 'stored')
          facts = flag('stored') ? estate.facts.with_trusted(certname) || @node.missing('facts') : body(Hash)
          inspector = Inspection::Inspector.new(estate, rules.engine, explain: true)
          @node.outcome(inspector.perform(certname, facts, save: !flag('dry_run')))
        end
      end
    end
  end
end
