# frozen_string_literal: true

require 'simpkv/config/sections'

module Simpkv
  module Config
    module Sections
      # Options of `server` in the file of the command: the service `simpkv serve`. They are in this gem, because
      # compilers check them, and may lack the gem of the service.
      module Server
        extend Definitions

        # What the section is about, in words.
        ABOUT = 'the service'

        OPTIONS = [
          option('bind', :names, %w[unix:///run/simpkv/simpkv.sock],
                 'listens on: `unix:///PATH`, `tcp://127.0.0.1:PORT`, `tcp://[::1]:PORT`, `ssl://HOST:PORT`'),
          option('index', :path, nil,
                 'the folder of the query index (docs/query.md), a cache that needs about 30 KB of disk for each node',
                 absent: '`/var/cache/simpkv/index`, or for an encrypted store `/run/simpkv/index`'),
          option('rights', :list, [], 'who may do what (docs/service.md): a list of hashes', absent: 'nobody but root'),
          option('sign_in', :hash, nil,
                 'lets people sign in over `ssl://` with a user name and a password of a directory ' \
                 '([service.md](service.md#signing-in)): see the next table',
                 absent: 'people need a client certificate'),
          option('tokens', :string, nil,
                 'the name of the backend in which the tokens of programs lie, which `simpkv token` makes. With it, ' \
                 'the service takes tokens over `ssl://` and on Unix sockets',
                 absent: 'the service takes no tokens'),
          option('local_report_details', :boolean, false,
                 'true: every local process may read logs of reports and values of events over a loopback port, as ' \
                 'Puppetboard does over the port 8080 of PuppetDB'),
          option('threads', 1..256, 16, 'the number of requests that the service answers at the same time'),
          option('max_connections', 16..100_000, 256,
                 'the maximum number of open connections. At the limit, a new connection replaces an old one: of the ' \
                 'client with the most connections, the one that has sent no request for the longest time'),
          option('command_bytes', 1_048_576..1_073_741_824, 33_554_432,
                 "the maximum size of a command of PuppetDB's API, uncompressed, in bytes. Other bodies may have 1 " \
                 'MiB'),
          option('compare_replicas_seconds', :seconds, 21_600,
                 'the time between two comparisons of the servers of a directory, for metrics; 0 for none'),
          option('tls_cert', :path, nil, 'the certificate of the service, PEM', absent: 'required for `ssl://`'),
          option('tls_key', :path, nil, 'its private key, PEM', absent: 'required for `ssl://`'),
          option('tls_ca', :path, nil, 'the CAs of client certificates, PEM', absent: 'required for `ssl://`'),
          option('tls_crl', :path, nil, 'the revocation lists of these CAs, PEM',
                 absent: 'revocation is not checked', protects: true),
          option('query_workers', 0..64, 2,
                 'the number of processes that answer queries, filter nodes and apply inspection rules; 0: one of ' \
                 'them, and the service keeps no index and answers no queries'),
          option('query_seconds', :duration, 20,
                 'the time limit of a query, filter or inspection; and how long it may wait for a free process'),
          option('query_rows', 1..100_000_000, 1_000_000, 'the maximum number of rows of an answer'),
          option('query_age', :duration, 60,
                 'queries fail if the service has not compared the index with the store for this time')
        ].freeze

        # Options of `sign_in` of the service.
        SIGN_IN = [
          option('backend', :string, nil,
                 'the name of the backend, of `type: ldap`, whose servers have the accounts. Its bind DN searches ' \
                 'them; it needs `ldaps://`, `enable_tls` or `ldapi://`',
                 absent: 'the default backend'),
          option('users_dn', :string, nil, 'the DN of the entry at or below which the accounts are',
                 absent: 'required'),
          option('filter', :string, '(uid={user})',
                 'the filter that finds an account. It has `(ATTRIBUTE={user})` once: the only value of that ' \
                 'attribute is the `account` of `rights`. Further conditions leave out accounts, such as disabled ' \
                 'ones'),
          option('groups', :string, nil,
                 'the DN of the entry directly below which the groups are. Their members are in `member`, ' \
                 '`uniqueMember` or `memberUid`; the only `cn` of a group is the `group` of `rights`',
                 absent: 'nobody has rights by a group')
        ].freeze
        # The name of the attribute that a filter compares with the name of a user.
        USER = /\(([A-Za-z][\w;.-]*)=\{user\}\)/.freeze

        # @return [Hash{String => Object}] all of {OPTIONS}; without value, nil. `sign_in`, if there is one, has all of
        #   {SIGN_IN}
        def self.convert(options)
          server = Config.table(OPTIONS, options, "'server'")
          server['sign_in'] ? server.merge('sign_in' => sign_in(server['sign_in'])) : server
        end

        def self.sign_in(options)
          found = Config.table(SIGN_IN, options, "'sign_in' of 'server'")
          unless found['users_dn']
            raise ConfigError, "'users_dn' of 'sign_in' of 'server' is missing: set it to the DN of an entry"
          end
          return found if found['filter'].scan('{user}').one? && found['filter'].match?(USER)

          raise ConfigError, "'filter' of 'sign_in' of 'server' must have (ATTRIBUTE={user}) once, such as (uid={user})"
        end
        private_class_method :sign_in
      end
    end
  end
end
