# The keys of an application, as resources. docs/keys.md explains each parameter, and bin/demo keys applies this file.
#
# The folder app1 holds the keys below, the lock that the application stores itself, and nothing else.
simpkv_folder { 'app1':
  ensure       => present,
  purge        => true,
  purge_unless => '*.lock',
}

simpkv_key { 'app1/url':
  ensure => present,
  value  => 'https://app1.example.org',
}

simpkv_key { 'app1/database':
  ensure   => present,
  value    => { 'host' => 'db1.example.org', 'port' => 5432 },
  metadata => { 'owner' => 'dba' },
}

# Its value is Sensitive: logs and reports say [redacted].
simpkv_key { 'app1/token':
  ensure => present,
  value  => Sensitive('correct horse battery staple'),
}

# Without a value: an operator stores this key, the catalog only wants it to exist.
simpkv_key { 'app1/db_password':
  ensure => present,
}
