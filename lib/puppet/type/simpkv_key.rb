# frozen_string_literal: true

Puppet::Type.newtype(:simpkv_key) do
  @doc = <<~DOC
    @summary Manages a key in a simpkv store

    The key is in the environment of the catalog, unless `global` is true. The store is that of the site's options,
    which are in the file that the environment variable SIMPKV_CONFIG names, in `/etc/simpkv/simpkv.yaml`, or in
    `simpkv.yaml` in Puppet's confdir; without such a file, it is the default store of the functions. On an agent, this
    type uses the store of the agent's own machine, or a directory.

    The value and the metadata are compared as the store compares them, so a run without changes writes nothing. A
    Sensitive stays Sensitive in the store, and appears in no message, report or file of Puppet. `audit` therefore does
    not notice that it has changed.

    **Autorequires:** the resources `simpkv_folder` around the key, the package `simpkv`, and the files with the
    options and the root folder of the store.

    @example A key with metadata
      simpkv_key { 'app1/url':
        ensure   => present,
        value    => 'https://app1.example.com',
        metadata => { 'owner' => 'web' },
      }

    @example A secret, in another backend
      simpkv_key { 'app1/password':
        value   => Sensitive($password),
        backend => 'secrets',
      }
  DOC

  folder = File.expand_path('../../puppet_x/simpkv', File.dirname(__FILE__))
  common, stored = %w[resource_type stored_property].map do |name|
    file = File.join(folder, "#{name}.rb")
    TOPLEVEL_BINDING.eval(File.read(file), file)
  end
  include common

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc 'Whether the key exists. The default is `present` if a value or metadata are given.'

    newvalue(:present, event: :simpkv_key_created) { provider.create }
    newvalue(:absent, event: :simpkv_key_removed) { provider.destroy }

    def retrieve
      provider.exists? ? :present : :absent
    end

    # Another client may have changed the entry of a listing, which then stays, and is no change. Only the removal can
    # tell without another request, so it happens here: Puppet counts each attempt to change something as a change.
    def insync?(current)
      super || (should == :absent && !noop && provider.left?)
    end

    def change_to_s(current, wanted)
      provider.outcome || super
    end

    # With noop, Puppet 7 says nothing else that names the entry for which a title such as `app1:unnamed-1` stands.
    def is_to_s(value) # rubocop:disable Naming/PredicatePrefix -- Puppet's name
      path = provider.unnamed_path
      path ? "#{super} at '#{path}'" : super
    end
  end

  newparam(:name, namevar: true) do
    desc <<~TEXT
      The key, unless `key` is given. A title such as `app1:unnamed-1` stands for an entry of the folder `app1` that
      has no usable name, or a document that cannot be read: the first of them, in the order of the bytes of their
      paths. Such a resource can only be absent.
    TEXT
  end

  newparam(:key) do
    desc 'The key. The default is the title.'

    validate do |value|
      raise ArgumentError, 'the key must be a String that is not empty' unless value.is_a?(String) && !value.empty?
    end
  end

  newparam(:backend) do
    desc <<~TEXT
      The name of a backend in the site's options, or a Hash with the options of a backend, `type` and `id` among
      them. The default is the one that functions use.
    TEXT

    validate do |value|
      next if (value.is_a?(String) && !value.empty?) || value.is_a?(Hash)

      raise ArgumentError, 'the backend must be a name, or a Hash with the options of a backend'
    end
  end

  newparam(:global) do
    desc 'True: the key belongs to all environments. The default is the option `global` of the site, else false.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
  end

  newproperty(:value) do
    desc 'The value: any data. A key that exists keeps its value if none is given.'

    include stored
  end

  newproperty(:metadata) do
    desc <<~TEXT
      The metadata, a Hash. A key that exists keeps its metadata if none are given. If they are Sensitive as a whole,
      each member is stored as Sensitive.
    TEXT

    include stored

    def validate(value)
      value = value.unwrap if value.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
      raise Puppet::Error, 'metadata must be a Hash' unless value.is_a?(Hash)
    end
  end

  # A default of Puppet would not count for a resource that audits `ensure`.
  def initialize(resource)
    super
    self[:ensure] = :present if should(:ensure).nil? && !original_parameters.slice(:value, :metadata).empty?
  end

  validate do
    next if place || (original_parameters.slice(:value, :metadata).empty? && should(:ensure) != :present)

    raise Puppet::Error, "'#{self[:name]}' stands for an entry without a usable name, which can only be absent: give " \
                         "'key' for a key of that name"
  end

  autorequire(:simpkv_folder) { simpkv.before(self, gem?) }
  autobefore(:simpkv_folder) { simpkv.after(self, gem?) }

  # @return [String, nil] the key; nil if the title stands for an entry without a usable name
  def place
    self[:key] || (self[:name] unless self[:name].match?(/:unnamed-[1-9]\d*\z/))
  end

  # The type `resources` compares titles. A key that another title manages would be removed.
  def purging
    raise Puppet::Error, "the type 'resources' cannot purge keys: use simpkv_folder with 'purge'"
  end

  private

  def check_others
    super
    folder = simpkv.removed_around(self) if should(:ensure) == :present
    return unless folder

    raise Puppet::Error, "#{ref} is present, but #{folder.ref} removes it with all that is in its folder: " \
                         'correct one of them'
  end
end
