# frozen_string_literal: true

require 'puppet/indirector/code'
# Chooses this version of the gems, beside which an older one may be installed.
require 'simpkv/gems/estate'
require 'simpkv/termini/collection'

# Finds the resources that nodes have exported. With `storeconfigs_backend = simpkv`, collectors use it.
class Puppet::Resource::Simpkv < Puppet::Indirector::Code # rubocop:disable Style/ClassAndModuleChildren
  desc 'Finds exported resources in the store of simpkv.'

  # @return [Puppet::Resource, nil] the first one by the name of the node that exports it
  def find(request)
    type, title = request.key.split('/', 2)
    exported(type).find { |resource| resource.title == title }
  end

  # Finds resources for a collector, with its scope, or for other callers. The options `host`, a node whose resources
  # are left out, and `filter`, a condition, count for both.
  #
  # @return [Array<Puppet::Resource>]
  def search(request)
    host, filter, scope = request.options.values_at(:host, :filter, :scope)
    type = request.key.to_s
    return ::Simpkv::Termini::Collection.of(scope.compiler).search(type, host, filter, scope) if scope

    filter = ::Simpkv::Termini::Filter.new(filter)
    exported(type, host) { |data| filter.match?(data) }
  end

  # @raise [Puppet::Error] always
  def save(_request)
    raise Puppet::Error, 'simpkv estate: an exported resource cannot be saved by itself. It is saved with the ' \
                         'catalog of the node that exports it'
  end

  # @raise [Puppet::Error] always
  def destroy(_request)
    raise Puppet::Error, 'simpkv estate: an exported resource cannot be deleted by itself. It goes when its node ' \
                         'stops exporting it, or with `puppet node deactivate`'
  end

  def allow_remote_requests?
    false
  end

  private

  def exported(type, host = nil)
    collection = ::Simpkv::Termini::Collection
    resources = collection.read(type, host).reject { |certname, _| certname == host }
    resources.flat_map do |certname, list|
      list.map do |data|
        collection.readable(type, certname, data) do
          ::Simpkv::Termini::Resources.plain(type, data) if !block_given? || yield(data)
        end
      end
    end.compact
  end
end
