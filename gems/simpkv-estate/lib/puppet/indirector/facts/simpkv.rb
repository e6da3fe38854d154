# frozen_string_literal: true

require 'puppet/indirector/code'
require 'puppet/indirector/fact_search'
require 'puppet/node/facts'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/facts_terminus'

# Keeps the facts of nodes.
class Puppet::Node::Facts::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  include Puppet::Indirector::FactSearch

  desc 'Keeps the facts of nodes in the store of simpkv.'

  # @return [Puppet::Node::Facts, nil] with the stored trusted facts as the fact `trusted`
  def find(request)
    ::Simpkv::Termini::FactsTerminus.find(request.key) if ::Simpkv::Termini.answers?(self, request)
  end

  # Saves the facts. As the cache of facter, saves those of this machine only: `puppet node find NAME` gets them under
  # any name.
  #
  # @return [void]
  def save(request)
    # Puppet::Indirector::StoreConfigs calls this method to destroy facts.
    return destroy(request) unless request.instance
    return if ::Simpkv::Termini.main(self) == :facter && request.key != Puppet[:node_name_value]

    ::Simpkv::Termini::FactsTerminus.save(request.key, request.instance, request.environment)
  end

  # @return [Array<String>] the names of the nodes whose facts fulfil all conditions of the request's options:
  #   `facts.os.name.eq`, or `meta.timestamp.lt`
  def search(request)
    ::Simpkv::Termini::FactsTerminus.search { |facts| node_matches?(facts, request.options) }
  end

  # @return [Boolean] whether there were any
  def destroy(request)
    ::Simpkv::Termini::FactsTerminus.delete(request.key)
  end

  # Extends Puppet's method by facts inside other facts.
  #
  # @param facts [Puppet::Node::Facts]
  # @param options [Hash]
  # @return [Boolean]
  def node_matches?(facts, options)
    options.all? do |key, value|
      type, name, operator = ::Simpkv::Termini::FactsTerminus.condition(key.to_s)
      next node_matches_option?(type, name, operator, value, facts) unless type == 'facts'

      compare_facts(operator, ::Simpkv::Estate::Facts.dig(facts.values, name), value)
    end
  end
end
