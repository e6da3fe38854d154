# frozen_string_literal: true

require 'simpkv/config/sections'

module Simpkv
  module Config
    module Sections
      # Options of `access` in the file of the command: the users and roles of a directory that `simpkv access` keeps.
      module Access
        extend Definitions

        # What the section is about, in words.
        ABOUT = 'access control'

        OPTIONS = [
          option('backend', :string, nil,
                 'the name of the backend, of `type: ldap`, to whose keys the roles give access. Its bind DN creates ' \
                 'users, roles and rules',
                 absent: 'that of the estate'),
          option('users_dn', :string, nil, 'the DN below which simpkv creates users; it must exist',
                 absent: 'required'),
          option('roles_dn', :string, nil, 'the DN below which simpkv creates roles; it must exist',
                 absent: 'required'),
          option('undeclared_members', %w[keep remove], 'keep',
                 'what `apply` does with members of a role that no binding names, for instance because somebody ' \
                 'added them by hand. `status` shows them in any case',
                 protects: true),
          option('config_uri', :uris, nil, 'OpenLDAP: the server whose `cn=config` has the rules',
                 absent: '`ldap_uri`'),
          option('config_dn', :string, nil, 'OpenLDAP: a bind DN that may change `cn=config`',
                 absent: "the backend's; with `config_uri`, the local user over ldapi"),
          option('config_pw_file', :path, nil, 'OpenLDAP: the file with the password of `config_dn`')
        ].freeze

        # @return [Hash{String => Object}] all of {OPTIONS}; without value, nil
        # @raise [ConfigError] among others, an option is missing
        def self.convert(options)
          raise ConfigError, "there is no 'access': set its options (docs/access.md)" if options.empty?

          access = Config.table(OPTIONS, options, "'access'")
          missing = %w[users_dn roles_dn].find { |name| access[name].nil? }
          raise ConfigError, "'#{missing}' of 'access' is missing: set it to the DN of an entry" if missing
          return access if access['config_dn'].nil? == access['config_pw_file'].nil?

          raise ConfigError, "'config_dn' and 'config_pw_file' of 'access' come as a pair"
        end
      end
    end
  end
end
