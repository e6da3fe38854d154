# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

Puppet::Type.newtype(:simpkv_folder) do
  @doc = <<~DOC
    @summary Manages a folder in a simpkv store, and removes the keys that the catalog does not manage

    With `purge`, the folder generates an absent `simpkv_key` for each of its keys that no `simpkv_key` of the catalog
    manages, and that `purge_unless` does not name. Folders are not purged. A purge happens together with the folder: it
    has the folder's `noop`, `schedule`, `tag` and `loglevel`, and it notifies what the folder notifies. An entry is
    removed only if the same document is stored as when the folder was listed. In a store of files, a purge follows no
    link, and fails for a folder that is a link or is reached through one.

    The title of such a key is `<title of the folder>/<key below it>`. An entry without a usable name (its name cannot be
    a key, or its document cannot be read) has the title `<folder>:unnamed-<N>`: N counts such entries of that folder
    from 1, in the order of the bytes of their paths.

    **Autorequires:** the resources `simpkv_folder` around the folder that do not purge, the package `simpkv`, and the
    files with the options and the root folder of the store.

    @example A folder that has the managed keys only, and those below `manual/`
      simpkv_folder { 'app1':
        ensure       => present,
        purge        => true,
        recurse      => true,
        purge_unless => ['manual/**/*'],
      }
  DOC

  include PuppetX::Simpkv.part(__FILE__, 'resource_type')

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc <<~TEXT
      Whether the folder exists. `absent` removes an empty folder; with `recurse`, also everything below it. Without
      this parameter, a missing folder is not made, and an existing one not removed.
    TEXT

    newvalue(:present, event: :simpkv_folder_created) { provider.create }
    newvalue(:absent, event: :simpkv_folder_removed) { provider.destroy }

    def retrieve
      provider.exists? ? :present : :absent
    end

    def change_to_s(current, wanted)
      "#{super}#{provider.removed_with if wanted == :absent}"
    end

    # With noop, Puppet 7 logs this text only.
    def is_to_s(value) # rubocop:disable Naming/PredicatePrefix -- Puppet's name
      "#{super}#{provider.removed_with if should == :absent}"
    end
  end

  newparam(:name, namevar: true) do
    desc 'The folder, unless `folder` is given.'
  end

  newparam(:folder) do
    desc 'The folder; `/` for all keys of the environment. The default is the title.'

    validate do |value|
      raise ArgumentError, 'the folder must be a String that is not empty' unless value.is_a?(String) && !value.empty?
    end
  end

  newparam(:purge) do
    desc 'True: remove the keys of this folder that the catalog does not manage. The default is false.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
    defaultto :false # rubocop:disable Lint/BooleanSymbol
  end

  newparam(:recurse) do
    desc 'True: `purge` and `ensure => absent` concern the folders below this one as well. The default is false.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
    defaultto :false # rubocop:disable Lint/BooleanSymbol
  end

  newparam(:purge_unless) do
    desc <<~TEXT
      The keys that `purge` leaves: globs or regular expressions (a Regexp, or a String that begins and ends with a
      slash). A key is left if one of them matches its path below this folder, or its whole path. In a glob, `*`
      and `?` match no slash, `[ab]` one of these characters, `{a,b}` one of these texts, and `**/` any number of
      folders. A glob that ends with a slash or with `/**` matches all keys below that folder.
    TEXT

    validate do |value|
      next if [value].flatten.all? { |pattern| pattern.is_a?(Regexp) || (pattern.is_a?(String) && !pattern.empty?) }

      raise ArgumentError, 'each pattern must be a Regexp, or a String that is not empty'
    end
    munge { |value| [value].flatten }
  end

  newparam(:purge_limit) do
    desc <<~TEXT
      The maximum number of keys that one run removes from this folder, by `purge`, or by `ensure => absent` with
      `recurse`. If there are more, the folder fails, and none is removed. The default is 1000.
    TEXT

    validate do |value|
      next if value.to_s.match?(/\A\d+\z/)

      raise ArgumentError, 'the limit must be a number, 0 or greater'
    end
    munge { |value| Integer(value.to_s, 10) }
    defaultto 1000
  end

  newparam(:backend) do
    desc <<~TEXT
      The name of a backend in the site's options, or a Hash with the options of a backend, `type` and `id` among
      them. The default is the one that functions use.
    TEXT

    validate { |value| resource.class.check_backend(value) }
  end

  newparam(:global) do
    desc 'True: the folder belongs to all environments. The default is the option `global` of the site, else false.'

    newvalues(:true, :false) # rubocop:disable Lint/BooleanSymbol
  end

  autorequire(:simpkv_folder) { resources_before }
  autobefore(:simpkv_folder) { resources_after }

  validate do
    next unless [self[:folder], self[:name]].compact.first.match?(%r{\A/*\z}) && should(:ensure) == :absent

    raise Puppet::Error, "the folder '/' has all keys of an environment: it cannot be absent"
  end

  # @return [String] the folder
  def place
    self[:folder] || self[:name]
  end

  # Puppet calls this before it evaluates the folder, even if it then skips the folder.
  #
  # @return [Array<Puppet::Type>] an absent simpkv_key for each key to remove
  def eval_generate
    return [] unless self[:purge] == :true && should(:ensure) != :absent # rubocop:disable Lint/BooleanSymbol
    return [] unless gem? && scheduled?

    provider.removals.map { |title, options, key| removal(title, options, key) }
  end

  private

  def check_others
    super
    check_around(:present) if should(:ensure) == :present
  end

  # The removed keys have the same schedule, but each counts its own runs.
  def scheduled?
    schedule = catalog.resource(:schedule, self[:schedule]) if self[:schedule] && !Puppet[:ignoreschedules]
    schedule.nil? || schedule.match?(Puppet::Util::Storage.cache(self)[:checked].to_i)
  end

  # Inherits how the folder is applied. Puppet adds the tags.
  def removal(title, options, key)
    inherited = original_parameters.slice(:backend, :global, :noop, :schedule, :loglevel)
    given = { name: title, ensure: :absent, catalog: catalog }
    resource = Puppet::Type.type(:simpkv_key).new(inherited.merge(given, options))
    resource.provider.key = key
    simpkv.add(key, resource)
    resource
  end
end
