# frozen_string_literal: true

require 'puppet/indirector/code'
require 'puppet/node'
require 'simpkv/termini/nodes'

# Finds the declared records of nodes, as an external node classifier does.
class Puppet::Node::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  desc 'Finds declared nodes in the store of simpkv.'

  # @return [Puppet::Node, nil] nil only as the cache of another terminus
  def find(request)
    return cached(request) unless main?

    facts = request.options[:facts]
    # The compiler says which facts an agent has sent, even if it has sent none.
    ::Simpkv::Termini::Nodes.find(request.key, request.environment, facts.is_a?(Puppet::Node::Facts) ? facts : nil,
                                  compiles: request.options.key?(:facts))
  end

  # Declares the node, or keeps the answer of the main terminus.
  #
  # @return [void]
  def save(request)
    if main?
      ::Simpkv::Termini::Nodes.declare(request.key, request.instance)
    else
      ::Simpkv::Termini::Nodes.cache(request.key, request.instance)
    end
  end

  # @return [Array<Puppet::Node>] all declared nodes, without facts; Puppet's own termini do not filter, either
  def search(_request)
    main? ? ::Simpkv::Termini::Nodes.all : []
  end

  # @return [Boolean] whether there was one
  def destroy(request)
    ::Simpkv::Termini::Nodes.delete(request.key, declared: main?)
  end

  private

  def main?
    ::Simpkv::Termini.main(self) == :simpkv
  end

  # Puppet has asked the main terminus anyway, unless it asks the cache alone.
  def cached(request)
    ::Simpkv::Termini::Nodes.cached(request.key) if request.ignore_terminus?
  end
end
