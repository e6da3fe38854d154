# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

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

    An expired key (`expires_after`) counts as absent, so `ensure => present` stores its value again.

    **Autorequires:** the resources `simpkv_folder` around the key that do not purge, the package `simpkv`, and the
    files with the options and the root folder of the store.

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

    @example A key that is missing for all readers if no run has renewed it for 30 days, and keeps its last three values
      simpkv_key { 'app1/leader':
        value         => $facts['networking']['fqdn'],
        expires_after => '30d',
        history       => 3,
      }
  DOC

  include PuppetX::Simpkv.part(__FILE__, 'resource_type')

  stored = PuppetX::Simpkv.part(__FILE__, 'stored_property')

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc 'Whether the key exists. The default is `present` if a value or metadata are given.'

    newvalue(:present, event: :simpkv_key_created) { provider.create }
    newvalue(:absent, event: :simpkv_key_removed) { provider.destroy }

    def retrieve
      provider.exists? ? :present : :absent
    end

    # Another client may have changed a listed entry. Such an entry stays, and must not be reported as a change. Only an
    # attempt to remove the entry shows this without another request. It happens here, because Puppet reports each call
    # of a setter as a change.
    def insync?(current)
      super || (should == :absent && !noop && provider.left?)
    end

    def change_to_s(current, wanted)
      provider.outcome || super
    end

    # With noop, only this text of Puppet 7 can name the entry for which a title such as `app1:unnamed-1` stands.
    def is_to_s(value) # rubocop:disable Naming/PredicatePrefix -- Puppet's name
      path = provider.unnamed_path
      path ? "#{super} at '#{path}'" : super
    end
  end

  newparam(:name, namevar: true) do
    desc <<~TEXT
      The key, unless `key` is given. A title such as `app1:unnamed-1` stands for an entry of the folder `app1` that
      has no usable name, or a document that cannot be read: the first of them, in the byte order of their
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

    validate { |value| resource.class.check_backend(value) }
  end

  newparam(:global) do
    desc 'True: the key belongs to all environments. The default is the option `global` of the site, else false.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
  end

  newproperty(:value) do
    desc <<~TEXT
      The value: any data. A key that exists keeps its value if none is given. `puppet resource` shows no values.
    TEXT

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

  newproperty(:expires_after) do
    desc <<~TEXT
      such as `90d`. The time begins when the value is stored. If less than half of it is left, or more than all of it,
      a run renews it and reports a change. Without this parameter, a value that the resource stores does not expire.
      expire.
    TEXT

    validate do |value|
      next if value.to_s.match?(/\A(?=\d{1,9}[smhdy]?\z)0*[1-9]/)

      raise ArgumentError, 'the time must be a number of seconds, more than 0, or a number with s, m, h, d or y, ' \
                           'such as 90d'
    end
    munge(&:to_s)

    # `puppet resource` shows no `expires_after`: the time for which a value was stored is unknown.
    def retrieve
      (provider.expires if should) || :absent
    end

    def insync?(_current)
      provider.fresh?
    end

    def set(_value)
      provider.write
    end

    def change_to_s(current, wanted)
      current == :absent ? "now expires after #{wanted}" : "renewed for #{wanted}: it would have expired at #{current}"
    end
  end

  newparam(:history) do
    desc <<~TEXT
      The number of earlier values that the key keeps, 0 to 100. The default is the option `history` of the backend, or
      none.
    TEXT

    validate do |value|
      next if value.to_s.match?(/\A(100|\d\d?)\z/)

      raise ArgumentError, 'the number must be from 0 to 100'
    end
    munge { |value| Integer(value.to_s, 10) }
  end

  # A default (`defaultto`) would have no effect in a resource that audits `ensure`.
  def initialize(resource)
    super
    self[:ensure] = :present if should(:ensure).nil? && !original_parameters.slice(:value, :metadata).empty?
    return if place || should(:ensure) != :present

    raise Puppet::Error, "'#{self[:name]}' stands for an entry without a usable name, which can only be absent: give " \
                         "'key' for a key of that name"
  end

  autorequire(:simpkv_folder) { resources_before }
  autobefore(:simpkv_folder) { resources_after }

  # @return [String, nil] the key; nil if the title stands for an entry without a usable name
  def place
    self[:key] || (self[:name] unless self[:name].match?(/:unnamed-[1-9]\d*\z/))
  end

  # The type `resources` compares titles: it would remove a key that has another title in the catalog.
  def purging
    raise Puppet::Error, "the type 'resources' cannot purge keys: use simpkv_folder with 'purge'"
  end

  private

  # Without `ensure`, the resource protects its key.
  def check_others
    super
    check_around(should(:ensure) || :protected)
  end
end
