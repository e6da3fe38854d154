# frozen_string_literal: true

require 'puppet/indirector/code'
require 'puppet/node'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/node_terminus'

# Finds the declared records of nodes, as an external node classifier does.
class Puppet::Node::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  desc 'Finds declared nodes in the store of simpkv.'

  # @return [Puppet::Node, nil] nil only as the cache of another terminus
  def find(request)
    return cached(request) unless main?

    facts = request.options[:facts]
    # The compiler says which facts an agent has sent, even if it has sent none.
    facts = nil unless facts.is_a?(Puppet::Node::Facts)
    ::Simpkv::Termini::NodeTerminus.find(request.key, request.environment, facts,
                                         compiles: request.options.key?(:facts))
  end

  # Declares the node, or keeps the answer of the main terminus.
  #
  # @return [void]
  def save(request)
    if main?
      ::Simpkv::Termini::NodeTerminus.declare(request.key, request.instance)
    else
      ::Simpkv::Termini::NodeTerminus.cache(request.key, request.instance)
    end
  end

  # @return [Array<Puppet::Node>] all declared nodes, without facts; Puppet's own termini do not filter, either
  def search(_request)
    main? ? ::Simpkv::Termini::NodeTerminus.all : []
  end

  # @return [Boolean] whether there was one
  def destroy(request)
    ::Simpkv::Termini::NodeTerminus.delete(request.key, declared: main?)
  end

  private

  def main?
    ::Simpkv::Termini.main(self) == :simpkv
  end

  # Puppet has asked the main terminus anyway, unless it asks the cache alone.
  def cached(request)
    ::Simpkv::Termini::NodeTerminus.cached(request.key) if request.ignore_terminus?
  end
end
