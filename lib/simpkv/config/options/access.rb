# frozen_string_literal: true

module Simpkv
  # Further options, of the same kind as those of options.rb.
  module Config
    # Options of `access` in the file of the command: the users and roles of a directory that `simpkv access` keeps.
    ACCESS = [
      option('backend', :string, nil,
             'the name of the backend, of `type: ldap`, to whose keys the roles give access. Its bind DN creates ' \
             'users, roles and rules',
             absent: 'that of the estate'),
      option('users_dn', :string, nil, 'the DN below which simpkv creates users; it must exist', absent: 'required'),
      option('roles_dn', :string, nil, 'the DN below which simpkv creates roles; it must exist', absent: 'required'),
      option('undeclared_members', %w[keep remove], 'keep',
             'what `apply` does with members of a role that no binding names, for instance because somebody added ' \
             'them by hand. `status` shows them in any case',
             protects: true),
      option('config_uri', :uris, nil, 'OpenLDAP: the server whose `cn=config` has the rules', absent: '`ldap_uri`'),
      option('config_dn', :string, nil, 'OpenLDAP: a bind DN that may change `cn=config`',
             absent: "the backend's; with `config_uri`, the local user over ldapi"),
      option('config_pw_file', :path, nil, 'OpenLDAP: the file with the password of `config_dn`')
    ].freeze
  end
end
