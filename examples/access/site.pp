# A compiler for the environment production, a dashboard that only reads, and an application team, as resources.
# docs/access.md explains them. Apply this file where the file of the administrator is.
$passwords = '/etc/simpkv'

simpkv_user {
  default:
    ensure => present;
  'compiler':
    password => "file:${passwords}/compiler.pw";
  'dashboard':
    password => "file:${passwords}/dashboard.pw";
}

simpkv_role { 'production':
  ensure => present,
  grants => [
    { prefixes => ['environments/production'], rights => ['read', 'list', 'write'] },
    { prefixes => ['globals/shared'], rights => ['read', 'list'] },
  ],
}

simpkv_role { 'viewers':
  ensure => present,
  grants => [
    { prefixes => ['globals/estate/inventory', 'globals/estate/status'], rights => ['read', 'list'] },
  ],
}

simpkv_role { 'app1':
  ensure => present,
  grants => [
    { prefixes => ['environments/production/app1'], rights => ['read', 'list', 'write'] },
  ],
}

simpkv_role_binding {
  default:
    ensure => present;
  'compiler':
    users => ['compiler'],
    roles => ['production'];
  'dashboard':
    users => ['dashboard'],
    roles => ['viewers'];
  'app1':
    groups => ['cn=app1,ou=groups,dc=example,dc=com'],
    roles  => ['app1'];
}
