# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

Puppet::Type.newtype(:simpkv_role_binding) do
  @doc = <<~DOC
    @summary Manages a binding of access control: users and groups that have roles

    Declares what `bindings` in a file of `simpkv access apply` declares, and changes the directory to match. A member
    of a role is removed only if a binding has added it. See `simpkv_user` for the options.

    **Autorequires:** its users and roles that are present, the package `simpkv`, and the file with the options.

    @example A user in two roles
      simpkv_role_binding { 'dev':
        ensure => present,
        users  => ['compiler-dev'],
        roles  => ['dev-writers', 'shared'],
      }
  DOC

  common = PuppetX::Simpkv.part(__FILE__, 'access_type')
  include common

  # @return [String]
  def self.section
    'bindings'
  end

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc 'Whether the binding is declared. The default is `present` if users, groups or roles are given.'

    newvalue(:present, event: :simpkv_role_binding_created) { provider.declare }
    newvalue(:absent, event: :simpkv_role_binding_removed) { provider.destroy }
    include common.ensure_property
  end

  newparam(:name, namevar: true) do
    desc 'The name: up to 64 lower-case letters, digits, `.`, `_` and `-`.'
  end

  newproperty(:users, array_matching: :all) do
    desc 'The names of users. The default is none.'

    include common.declared_property
  end

  newproperty(:groups, array_matching: :all) do
    desc 'The DNs of groups of the directory, of class groupOfNames. The default is none.'

    include common.declared_property
  end

  newproperty(:roles, array_matching: :all) do
    desc 'The names of roles.'

    include common.declared_property
  end

  newproperty(:directory) do
    desc 'The only value is `in_sync`, the default: the roles have the users as members.'

    newvalues(:in_sync)
    defaultto :in_sync
    include common.directory_property
  end

  autorequire(:simpkv_role) { bound(:simpkv_role, :roles) + bound(:simpkv_user, :users) }

  # The lists of a declaration that it lacks are empty.
  def initialize(resource)
    super
    return unless should(:ensure) == :present

    %i[users groups].each { |list| self[list] = [] unless original_parameters.key?(list) }
  end

  # @return [Hash] as in a file of declarations
  def declared
    given = original_parameters.slice(:users, :groups, :roles)
    given.to_h { |list, names| [list.to_s, [names].flatten] }
  end

  private

  # @return [Array<Puppet::Type>] the resources of the catalog that it names, without absent ones
  def bound(type, list)
    names = declared.fetch(list.to_s, [])
    names.map { |name| catalog.resource(type, name) }.compact.reject { |other| other.should(:ensure) == :absent }
  end
end
