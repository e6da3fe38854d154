# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

Puppet::Type.newtype(:simpkv_role) do
  @doc = <<~DOC
    @summary Manages a role of access control: a group of a directory, with rights below folders of keys

    Declares what `roles` in a file of `simpkv access apply` declares, and changes the directory to match. A role whose
    entry existed before keeps its entry and its rights. See `simpkv_user` for the options.

    **Autorequires:** the package `simpkv`, and the file with the options.

    @example A role with two grants
      simpkv_role { 'dev-writers':
        ensure => present,
        grants => [
          { prefixes => ['environments/dev'], rights => ['read', 'list', 'write'] },
          { prefixes => ['globals/shared'], rights => ['read'] },
        ],
      }
  DOC

  common = PuppetX::Simpkv.part(__FILE__, 'access_type')
  include common

  # @return [String]
  def self.section
    'roles'
  end

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc <<~TEXT
      Whether the role is declared, and has its entry. The default is `present` if grants are given. `absent` deletes an
      entry that simpkv has made, and its rights.
    TEXT

    newvalue(:present, event: :simpkv_role_created) { provider.declare }
    newvalue(:absent, event: :simpkv_role_removed) { provider.destroy }
    include common.ensure_property
  end

  newparam(:name, namevar: true) do
    desc 'The name: up to 64 lower-case letters, digits, `.`, `_` and `-`.'
  end

  newproperty(:grants, array_matching: :all) do
    desc <<~TEXT
      Hashes with `prefixes`, folders of keys such as `environments/dev`, and `rights`, of `read`, `list` and `write`.
    TEXT

    include common.declared_property

    # @return [Array<Hash>, nil] grants with the same rights are joined
    def stored(declaration)
      Simpkv::Access::Declarations.data({}, { 'role' => declaration }, {})['roles']['role'] if declaration
    end
  end

  newproperty(:directory) do
    desc <<~TEXT
      The only value is `in_sync`, the default: the server has the folders and the rules of the role, and no members
      that a former binding has added.
    TEXT

    newvalues(:in_sync)
    defaultto :in_sync
    include common.directory_property
  end

  # @return [Array<Hash>] as in a file of declarations
  def declared
    original_parameters.key?(:grants) ? [self[:grants]].flatten : []
  end
end
