# frozen_string_literal: true

require 'time'
require 'simpkv/termini'
require 'simpkv/termini/plain_data'

module Simpkv
  module Termini
    # Facts of nodes, as Puppet's objects.
    module FactsTerminus
      # A condition of a search: `facts.os.name.eq`.
      CONDITION = /\A(?<type>\w+)\.(?<name>.+?)(?:\.(?<operator>eq|ne|lt|gt|le|ge))?\z/m.freeze
      private_constant :CONDITION

      class << self
        # @param certname [String]
        # @param facts [Puppet::Node::Facts]
        # @param environment [Puppet::Node::Environment] of the node, or the root environment
        # @return [void]
        # @raise [Puppet::Error]
        def save(certname, facts, environment)
          # Only the server knows the trusted facts: an agent can send a fact of this name.
          values = PlainData.of(facts.values).reject { |name, _| name == 'trusted' }
          data = { 'values' => values, 'trusted' => trusted(certname), 'produced' => Termini.produced,
                   'environment' => (environment.to_s unless environment == Puppet.lookup(:root_environment) { nil }) }
          Termini.report("save the facts of '#{certname}'", certname) do |_estate, store|
            store.call(Estate::RunWrite::Facts.new(certname, data))
          end
        end

        # @param certname [String]
        # @return [Puppet::Node::Facts, nil] with the trusted facts as the fact `trusted`: Puppet::Node#sanitize takes
        #   them from there if nothing better is known
        # @raise [Puppet::Error]
        def find(certname)
          step = "read the facts of '#{certname}'"
          record = Termini.perform(step, node: certname) { |estate| estate.facts.find(certname) }
          record && facts(certname, record)
        end

        # @yieldparam facts [Puppet::Node::Facts] of each node that has not expired
        # @yieldreturn [Boolean]
        # @return [Array<String>] the names of the nodes for which the block returns true, sorted
        # @raise [Puppet::Error]
        def search
          Termini.perform('search the facts', otherwise: []) do |estate|
            malformed = Termini.method(:malformed)
            estate.facts.select(malformed, strict: true) { |name, record| yield facts(name, record) }.sort
          end
        end

        # @param certname [String]
        # @return [Boolean] whether there were any
        # @raise [Puppet::Error]
        def delete(certname)
          Termini.perform("delete the facts of '#{certname}'", node: certname, soft: false) do |estate|
            estate.facts.delete(certname)
          end
        end

        # @param text [String] the name of an option of a search
        # @return [Array(String, String, String)] type, name and operator; the operator is `eq` unless given
        def condition(text)
          type, name, operator = CONDITION.match(text)&.captures
          [type || text, name, operator || 'eq']
        end

        # @param certname [String]
        # @return [Hash{String => Object}, nil] the stored facts as plain data, with the trusted facts; nil if there are
        #   none
        # @raise [Error]
        def inventory(certname)
          Termini.estate.facts.with_trusted(certname)
        end

        # @param certname [String]
        # @return [Hash{String => Object}, nil] the trusted facts of the request that Puppet serves, if it is the node's
        #   own
        def trusted(certname)
          information = Puppet.lookup(:trusted_information) { nil }
          PlainData.of(information.to_h) if information && information.certname == certname
        end

        private

        def facts(certname, record)
          facts = Puppet::Node::Facts.new(certname, record['values'])
          facts.values['trusted'] = record['trusted'] if record['trusted']
          facts.timestamp = Time.parse(record['timestamp'])
          facts
        end
      end
    end
  end
end
