# frozen_string_literal: true

module Simpkv
  module Config
    # Options of a level of hiera.yaml that has `lookup_key: simpkv::lookup_key`.
    LEVEL = [
      option('backend', :string, nil, 'the name of the backend to use', absent: '`default`'),
      option('backends', :hash, nil, 'the options of each backend, by its name, as in `simpkv::options`',
             absent: 'one of type `file` with the id `auto_default`'),
      option('folder', :folder, 'hiera',
             'the folder of the keys. A level with `uris` in place of this option reads each of these folders',
             errors: ["'folder' and 'uri' in hiera.yaml exclude each other", "'path' in hiera.yaml is for files"]),
      option('global', :boolean, false, 'true: the folder belongs to all environments',
             errors: ["'global' and 'environment' in hiera.yaml exclude each other"]),
      option('environment', :environment, nil, 'the environment of the folder',
             absent: "the compiler's; required in Bolt, unless `global`",
             errors: ["environment '...' is made up by Bolt: set 'environment' or 'global' in hiera.yaml"]),
      option('dots', %w[keep folders], 'keep',
             "how to find the key `'app.db'` of Hiera: `keep` looks for a key of this name, `folders` for the key " \
             '`db` in the folder `app`'),
      option('confine_to_keys', :patterns, nil, 'simpkv looks up only keys that match one of them',
             absent: 'all keys', protects: true),
      option('sensitive', :boolean, false, 'true: values are Sensitive, and the members of a Hash or Array',
             protects: true),
      option('formats', :hash, nil,
             'endings of keys, and the format of each: with `{ hash: yescrypt }`, `app1::db_hash` is the secret ' \
             '`app1::db` in the format yescrypt, if there is no key `app1::db_hash` ([secrets.md](secrets.md))',
             absent: 'no forms of secrets'),
      option('softfail', :boolean, false,
             'true: if the backend fails, the level finds nothing, with a warning; otherwise the lookup fails')
    ].freeze
  end
end
