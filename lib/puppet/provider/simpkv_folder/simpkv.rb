# frozen_string_literal: true

Puppet::Type.type(:simpkv_folder).provide(:simpkv) do
  desc 'Keeps folders with the gem simpkv, in files or in a directory.'

  confine feature: :simpkv

  # @return [Array<Puppet::Provider>] the folders of the environment, in the default backend
  def self.instances
    resource_type.simpkv(nil).folders.map { |folder| new(name: folder, ensure: :present) }
  end

  # @return [Simpkv::Resources::Folder]
  def folder
    @folder ||= resource.simpkv.folder(resource)
  end

  def exists?
    return true if @property_hash[:ensure] == :present

    folder.exists?
  end

  def create
    folder.create
  end

  def destroy
    folder.remove
  end

  # @return [String, nil] ` with 3 keys`, if the folder is removed with all that is in it
  def removed_with
    folder.removed_with
  end

  # Finds the keys to remove. If that fails, the folder fails when it is evaluated.
  #
  # @return [Array<Array(String, Hash, Object)>] for each the title, the options of the resource, and the key, see
  #   Simpkv::Resources::Key
  def removals
    folder.removals
  end
end
