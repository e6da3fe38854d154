# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

Puppet::Type.newtype(:simpkv_user) do
  @doc = <<~DOC
    @summary Manages a user of access control: an entry of a directory that can bind

    Declares what `users` in a file of `simpkv access apply` declares, and changes the directory to match. It runs where
    the file of the administrator is: the one that SIMPKV_CONFIG names, `/etc/simpkv/simpkv.yaml`, or `simpkv.yaml` in
    Puppet's confdir, with the options `access`.

    **Autorequires:** the file with the password, the `simpkv_key` with the password, the package `simpkv`, and the file
    with the options.

    @example A user whose password is in a file
      simpkv_user { 'compiler-dev':
        ensure   => present,
        password => 'file:/etc/simpkv/compiler-dev.pw',
      }
  DOC

  common = PuppetX::Simpkv.part(__FILE__, 'access_type')
  include common

  # @return [String]
  def self.section
    'users'
  end

  newproperty(:ensure, parent: Puppet::Property::Ensure) do
    desc <<~TEXT
      Whether the user is declared, and has its entry. The default is `present` if a password is given. `absent` deletes
      an entry that simpkv has made, and its memberships.
    TEXT

    newvalue(:present, event: :simpkv_user_created) { provider.declare }
    newvalue(:absent, event: :simpkv_user_removed) { provider.destroy }
    include common.ensure_property
  end

  newparam(:name, namevar: true) do
    desc 'The name: up to 64 lower-case letters, digits, `.`, `_` and `-`.'
  end

  newproperty(:password) do
    desc <<~TEXT
      A reference to the password: `file:/PATH`, or `key:BACKEND/PATH` for a key of a backend. Never a password. The
      file is read on the node that applies the catalog.
    TEXT

    include common.declared_property
  end

  newproperty(:directory) do
    desc <<~TEXT
      The only value is `in_sync`, the default: the server accepts the password. If it refuses it, the password is set.
    TEXT

    newvalues(:in_sync)
    defaultto :in_sync
    include common.directory_property
  end

  autorequire(:simpkv_key) { gem? && self[:password] ? simpkv.referred(self[:password]) : [] }

  # @return [Hash] as in a file of declarations
  def declared
    { 'password' => self[:password] }.compact
  end

  # @return [String, nil] the file with the password
  def password_file
    self[:password].to_s[/\Afile:(.*)/m, 1]
  end
end
