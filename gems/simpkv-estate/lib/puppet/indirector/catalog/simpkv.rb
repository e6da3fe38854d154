# frozen_string_literal: true

require 'puppet/indirector/code'
require 'puppet/resource/catalog'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/catalog_terminus'

# Stores what a node exports when its catalog has been compiled, and its catalog if the option `catalogs` is set.
class Puppet::Resource::Catalog::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  desc 'Keeps exported resources and catalogs in the store of simpkv.'

  # @return [Puppet::Resource::Catalog, nil] the last catalog of the node, without virtual resources
  def find(request)
    return unless ::Simpkv::Termini.answers?(self, request)

    ::Simpkv::Termini::CatalogTerminus.find(request.key, ::Simpkv::Termini.main(self))
  end

  # @return [void]
  def save(request)
    ::Simpkv::Termini::CatalogTerminus.save(request, ::Simpkv::Termini.main(self))
  end

  # @return [Boolean] whether there was one
  def destroy(request)
    ::Simpkv::Termini::CatalogTerminus.delete(request.key)
  end
end
