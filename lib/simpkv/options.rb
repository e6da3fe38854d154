# frozen_string_literal: true

module Simpkv
  # The definitions of the options. Validation, conversion, docs/configuration.md and the suggestion for a misspelling
  # all come from here.
  module Config
    # name:: as it is written in Hiera
    # type:: one of the names in {Coercion}
    # default:: what an absent option counts as; nil where that depends or there is nothing
    # text:: one line for people
    # absent:: in words, what an absent option without default comes to
    # errors:: what the messages say that it can cause, beside that its value is of the wrong type; `...` is any text
    Option = Struct.new(:name, :type, :default, :text, :absent, :errors)

    def self.option(name, type, default, text, absent: nil, errors: [])
      Option.new(name, type, default, text, absent, errors.freeze).freeze
    end
    private_class_method :option

    # Options of a call, beside `backends`.
    CALL = [
      option('backend', :string, nil,
             'the name of the backend to use; wins over `app_id`, wherever it comes from, with a warning where ' \
             '`app_id` chooses another one',
             absent: 'by `app_id`',
             errors: ["No simpkv backend '...' with 'id' and 'type' attributes has been configured",
                      "'backend' not specified in simpkv configuration"]),
      option('backends', :hash, nil, 'the options of each backend, by its name',
             absent: 'one of type `file` with the id `auto_default`; required for Deferred on an agent',
             errors: ["'backends' in simpkv configuration is not a Hash",
                      "'backends' must be in the options of a Deferred call on an agent",
                      "'backends' not specified in simpkv configuration", "simpkv backend '...' is not a Hash",
                      'contains different backend configs for type=... id=...']),
      option('app_id', :string, 'default',
             'chooses the backend of that name, else the one with the longest name that it begins with, else ' \
             '`default`; counts in the options of a call only'),
      option('environment', :string, nil, 'the environment that the keys belong to; whatever is given is replaced',
             absent: "the compiler's",
             errors: ["environment '...' has capital letters, which do not count in a directory"]),
      option('bolt_environment', :environment, nil,
             'the environment that keys belong to when Bolt compiles, whose own environments are made up',
             absent: 'required there, but for global keys',
             errors: ["environment '...' is made up by Bolt: set 'bolt_environment'"]),
      option('global', :boolean, false, 'whether the key belongs to all environments'),
      option('softfail', :boolean, false,
             'whether a failing backend is a warning, and the answer `undef` or `false`, instead of an error'),
      option('default', :any, nil,
             'for `get`: the value that it returns when there is no such key, `undef` included; a failing backend is ' \
             'an error all the same. Counts in the options of a call only',
             absent: 'a missing key is an error'),
      option('missing', :missing, 'fail',
             'for `list` and `tree`: `fail` makes a folder that is not there an error, `empty` an empty folder'),
      option('errors', :errors, 'fail',
             'for `get_many` and `put_many`: `fail` makes the error of any key an error of the call, `return` ' \
             'returns the errors by key'),
      option('skip_undecodable', :boolean, false,
             'whether a list leaves out, with a warning, what cannot be read, instead of failing'),
      option('sensitive', :boolean, false,
             'whether what is read comes as Sensitive: the values, not the metadata'),
      option('values', :boolean, true, 'for `tree`: whether values and metadata are wanted, or names only'),
      option('noop_writes', :noop_writes, 'write',
             'what writes come to in the catalog of a node that runs in noop (the fact `clientnoop`): `write`, or ' \
             '`skip`, a notice and no write'),
      option('rich_data', :boolean, false,
             'whether a Timestamp, Regexp, SemVer and the like come back as they were, not as strings')
    ].freeze

    # Options of a level of hiera.yaml that has `lookup_key: simpkv::lookup_key`.
    LEVEL = [
      option('backend', :string, nil, 'the name of the backend to use', absent: '`default`'),
      option('backends', :hash, nil, 'the options of each backend, by its name, as in `simpkv::options`',
             absent: 'one of type `file` with the id `auto_default`'),
      option('folder', :folder, 'hiera', 'the folder that the keys are in; with `uris`, each of them is one',
             errors: ["'folder' and 'uri' in hiera.yaml say the same", "'path' in hiera.yaml is for files"]),
      option('global', :boolean, false, 'whether the folder belongs to all environments',
             errors: ["'global' and 'environment' in hiera.yaml exclude each other"]),
      option('environment', :environment, nil, 'the environment that the folder belongs to',
             absent: "the compiler's; required in Bolt, unless `global`",
             errors: ["environment '...' is made up by Bolt: set 'environment' or 'global' in hiera.yaml"]),
      option('dots', :dots, 'keep',
             "whether the key `'app.db'` is stored as that, or, with `folders`, as the key `db` of the folder `app`"),
      option('confine_to_keys', :patterns, nil, 'only keys that match one of them are looked up', absent: 'all keys'),
      option('sensitive', :boolean, false, 'whether values come as Sensitive'),
      option('softfail', :boolean, false,
             'whether a failing backend is a warning, and nothing found, instead of an error')
    ].freeze

    # Options of every backend.
    BACKEND = [
      option('type', :string, nil, 'the type of the backend: the name of its plugin',
             absent: 'required',
             errors: ["simpkv backend plugin '...' not available"]),
      option('id', :id, nil, 'tells backends of one type apart, and where they keep their keys',
             absent: 'required',
             errors: ["'id' of simpkv backend '...' '...' has capital letters, which do not count in a directory"]),
      option('case_sensitive', :boolean, false, 'whether keys may hold capital letters; over LDAP with `layout: hex`',
             errors: ["'case_sensitive' of simpkv backend '...' needs 'layout' hex"])
    ].freeze

    FILE = [
      option('root_path', :path, nil, 'the folder that holds the keys; may be a symbolic link',
             absent: '`/var/simp/simpkv/file/<id>` if it exists, else `<vardir>/simp/simpkv/file/<id>` if it ' \
                     "exists, with puppetserver's vardir; else the first that can be made",
             errors: ['Unable to create configured root path', 'Unable to create default root path',
                      "the root folder '...' is inside that of another store", 'Cannot access root path',
                      "several folders could hold the keys of the file backend '...', which has no 'root_path'"]),
      option('lock_timeout_seconds', :seconds, 5, 'how long to wait for a key that another program has locked',
             errors: ['Timed out waiting for lock of key file'])
    ].freeze

    LDAP = [
      option('ldap_uri', :uris, nil,
             'the servers, tried in order: `ldap://`, `ldaps://`, or `ldapi://` with `%2F` for each `/` of the ' \
             "socket's path",
             absent: 'required',
             errors: ["Plugin missing 'ldap_uri' configuration", "Invalid 'ldap_uri' configuration",
                      'Plugin could not access ...']),
      option('write_uri', :uris, nil,
             "the servers for writes, and for a catalog's reads after its first write; `compare_and_put` reads " \
             'there, and `get_or_create` what `ldap_uri` does not have',
             absent: 'as `ldap_uri`', errors: ["Invalid 'write_uri' configuration"]),
      option('base_dn', :string, 'ou=simpkv,o=puppet,dc=simp', 'the entry that holds all keys; it must exist',
             errors: ['Plugin could not access ...: there is no such entry at ...',
                      "the base DN '...' is inside the tree of another store"]),
      option('admin_dn', :string, 'cn=Directory_Manager', 'as whom to bind', errors: ['Plugin could not access ...']),
      option('admin_pw_file', :path, nil,
             'the file with the password, of which one newline at its end is no part; without it, `ldapi://` binds ' \
             'as the local user. After a refused bind the next one waits for 10 s, doubling to 60 s, lest the ' \
             'account be locked; a changed file ends that, and so does `simpkv ping`, run by the owner of the file, ' \
             'when the server accepts the password',
             absent: 'required, but for `ldapi://`',
             errors: ["Plugin missing 'admin_pw_file' configuration",
                      "Configured 'admin_pw_file' ... does not exist"]),
      option('enable_tls', :boolean, nil,
             'whether `ldap://` must begin with StartTLS; does not count for `ldaps://` and `ldapi://`',
             absent: 'true for `ldaps://`, else false',
             errors: ["TLS configuration incomplete: 'tls_cacert' is missing"]),
      option('tls_cacert', :path, nil, "the file with the authorities; the server's certificate must come from one",
             absent: 'required with TLS',
             errors: ["TLS configuration incomplete: 'tls_cacert' is missing",
                      "Configured 'tls_cacert' ... does not exist"]),
      option('tls_cert', :path, nil, "the client's certificate, where the server asks for one",
             errors: ["TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
                      "Configured 'tls_cert' ... does not exist"]),
      option('tls_key', :path, nil, 'the key of `tls_cert`',
             errors: ["TLS configuration incomplete: 'tls_cert' and 'tls_key' come as a pair",
                      "Configured 'tls_key' ... does not exist"]),
      option('layout', :layout, 'plain', 'how names are written: `plain`, or `hex`, which keeps their case'),
      option('fold_case', :boolean, false,
             'whether an environment or id may have capital letters, though they do not count'),
      option('strict_paths', :boolean, false, 'whether a key and a folder may not share a name',
             errors: ["'strict_paths' is set"]),
      option('retries', :retries, 1,
             'how often to try again when a server is busy, unavailable or lost; a list that has begun is not'),
      option('connect_timeout_seconds', :duration, 5, 'how long to wait for a connection to one server',
             errors: ['timed out while ...']),
      option('operation_timeout_seconds', :duration, 30,
             'how long `get`, `put`, `exists` and `delete` may take, with the look at the base entry in the first ' \
             'call of a catalog; for `get_or_create`, each of its two steps; for `list`, `tree`, `deletetree`, ' \
             '`get_many` and `put_many`, each round trip',
             errors: ["no answer in time ('operation_timeout_seconds')",
                      "no time is left of 'operation_timeout_seconds'"]),
      option('pool_size', :pool_size, 8, 'how many connections a process has to one place at once'),
      option('pool_timeout_seconds', :seconds, 5, 'how long to wait for one of them',
             errors: ["connections were in use for the whole time of waiting: raise 'pool_size' or " \
                      "'pool_timeout_seconds'"]),
      option('idle_timeout_seconds', :seconds, 60, 'how long a connection is kept unused'),
      option('page_size', :page_size, 500,
             'how many entries a list asks for at a time: a larger folder takes several requests')
    ].freeze
    private_constant :FILE, :LDAP

    # Further options, by type. Third-party types are not here: nothing is known of their options. A backend may hold
    # options of another type of ours: Hiera says ldap, a call overrides the type.
    TYPES = { 'file' => FILE, 'ldap' => LDAP }.freeze

    # What says where a backend keeps its keys, and as whom: it may not change within a catalog.
    LOCATION_NAMES = %w[root_path ldap_uri base_dn admin_dn layout].freeze
  end
end
