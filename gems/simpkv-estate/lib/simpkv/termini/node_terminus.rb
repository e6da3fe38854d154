# frozen_string_literal: true

require 'simpkv/termini'
require 'simpkv/termini/node_inspection'
require 'simpkv/termini/plain_data'
require 'simpkv/termini/sensitive_parameters'

module Simpkv
  module Termini
    # Declared nodes, as Puppet's objects.
    module NodeTerminus
      class << self
        # Finds a node, and inspects it if there are rules. The option `soft` has no effect here: without its record, a
        # node would get another catalog, possibly one that removes what its classes manage. Only the outcome of the
        # inspection may wait in the spool, or be dropped: the record of a discovered node must be stored.
        #
        # @param certname [String]
        # @param environment [Puppet::Node::Environment] counts if none is declared
        # @param facts [Puppet::Node::Facts, nil] nil: Puppet finds them
        # @param compiles [Boolean] whether a catalog is compiled from the node: then it must be inspected
        # @return [Puppet::Node] with its facts; without a declared record, a plain node
        # @raise [Puppet::Error] the record cannot be read; the node is not declared, and `unknown_nodes` refuses it; a
        #   rule refuses it; its facts are unknown
        def find(certname, environment, facts, compiles: false)
          record = Termini.perform("find the node '#{certname}'", node: certname, soft: false) do |estate|
            inspected = NodeInspection.record(estate, certname, environment, compiles: compiles) do
              facts ||= found(certname, environment)
            end
            inspected || estate.nodes.get(certname) || unknown(estate, certname)
          end
          node = node(certname, record)
          node.environment = record['environment'] || environment
          node.fact_merge(facts)
          node
        end

        # @return [Array<Puppet::Node>] all declared nodes, by name, without facts
        # @raise [Puppet::Error]
        def all
          records = Termini.perform('search the declared nodes', otherwise: {}) do |estate|
            estate.nodes.all(strict: true) { |key, why| Termini.malformed(key, why) }
          end
          records.sort.map { |certname, record| node(certname, record) }
        end

        # Declares a node with its environment, classes and parameters, less its facts.
        #
        # @param certname [String]
        # @param node [Puppet::Node]
        # @return [void]
        # @raise [Puppet::Error]
        def declare(certname, node)
          Termini.perform("declare the node '#{certname}'", node: certname, soft: false) do |estate|
            estate.nodes.update(certname) do |old|
              (old || {}).merge(record(node)) { |name, before, now| name == 'sensitive' ? (before | now).sort : now }
            end
          end
        end

        # Keeps the answer of another terminus.
        #
        # @param certname [String]
        # @param node [Puppet::Node]
        # @return [void]
        # @raise [Puppet::Error]
        def cache(certname, node)
          Termini.report("save the node '#{certname}'", certname) do |_estate, store|
            store.call(Estate::RunWrite::Node.new(certname, record(node)))
          end
        end

        # @param certname [String]
        # @return [Puppet::Node, nil] the last answer of another terminus, without facts
        # @raise [Puppet::Error]
        def cached(certname)
          record = Termini.perform("read the node '#{certname}'", node: certname) do |estate|
            estate.nodes.cached(certname)
          end
          record && node(certname, record)
        end

        # @param declared [Boolean] whether to delete the declared record; otherwise the answer of another terminus
        # @return [Boolean] whether there was one
        # @raise [Puppet::Error]
        def delete(certname, declared:)
          Termini.perform("delete the node '#{certname}'", node: certname, soft: false) do |estate|
            declared ? estate.nodes.delete(certname) : estate.nodes.delete_cached(certname)
          end
        end

        private

        # Without facts, nobody discovers a node.
        def unknown(estate, certname)
          estate.nodes.blank(certname).reject { |name, _| name == 'auto_discovered' }
        end

        def found(certname, environment)
          Puppet::Node::Facts.indirection.find(certname, environment: environment)
        end

        # The environment may be one that this server does not have.
        def node(certname, record)
          record = SensitiveParameters.wrap(record)
          node = Puppet::Node.new(certname, classes: record['classes'], parameters: record['parameters'])
          node.environment_name = record['environment']&.to_sym
          node
        end

        # Facts are left out of the parameters: they change, and a declared one would win over them.
        def record(node)
          facts = PlainData.of(node.facts ? node.facts.values : {})
          parameters = node.serializable_parameters.reject do |name, value|
            facts.key?(name.to_s) && facts[name.to_s] == PlainData.of(value)
          end
          PlainData.of(SensitiveParameters.unwrap({ 'environment' => node.environment_name, 'classes' => node.classes,
                                                    'parameters' => parameters }.compact))
        end
      end
    end
  end
end
