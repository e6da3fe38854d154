# frozen_string_literal: true

Puppet::Type.type(:simpkv_key).provide(:simpkv) do
  desc 'Keeps keys with the gem simpkv, in files or in a directory.'

  confine feature: :simpkv

  # Reads the keys of the catalog with one batch for each store. It leaves out the keys that a folder has listed to
  # purge them: such a key is removed only if it is stored as it was listed.
  def self.prefetch(resources)
    resource_type.check_gem
    all = resources.values.select { |resource| resource.place && !resource.provider.pinned? }
    return if all.empty?

    all.first.simpkv.refresh.read(all) { |resource, document| resource.provider.key.found(document) }
  end

  # @return [Array<Puppet::Provider>] the keys of the environment, in the default backend
  def self.instances
    simpkv = resource_type.simpkv(nil)
    simpkv.instances.map { |entry, key| new(name: entry.title).tap { |provider| provider.key = key } }
  end

  # @param value [Simpkv::Resources::Key]
  attr_writer :key

  # @return [Simpkv::Resources::Key] the key
  def key
    @key ||= resource.simpkv.key
  end

  # @return [Boolean] whether the resource stands for an entry of a listing
  def pinned?
    key.pinned?
  end

  def exists?
    key.exists?(resource)
  end

  # @return [Hash, nil] see Simpkv::Resources::Key
  def stored
    key.stored(resource)
  end

  # @return [Boolean] whether the stored value or metadata are these
  def holds?(name, desired)
    key.holds?(resource, name, desired)
  end

  # @return [String, nil] the time at which the key expires, if it does
  def expires
    key.expires(resource)
  end

  # @return [Boolean] see Simpkv::Resources::Key
  def fresh?
    key.fresh?(resource)
  end

  def create
    resource.fail("give 'value': there is no such key, and a new one needs a value") unless desired.key?(:value)
    write
  end

  def write
    key.write(resource, desired)
  end

  # @return [Boolean] see Simpkv::Resources::Key
  def left?
    key.left?(resource)
  end

  def destroy
    key.remove(resource)
  end

  # Puppet calls this after a change.
  def flush
    key.forget
  end

  # @return [String, nil] the path of the entry, for a title that does not name it
  def unnamed_path
    key.unnamed_path
  end

  # @return [String, nil] a sentence about the removal
  def outcome
    key.outcome if resource.should(:ensure) == :absent
  end

  private

  # @return [Hash{Symbol => Object}] the value and the metadata that the manifest gives
  def desired
    given = %i[value metadata].select { |name| resource.original_parameters.key?(name) }
    given.to_h { |name| [name, resource.parameter(name).desired] }
  end
end
