# A password that the database replaces every 90 days, while its clients run at other times: bin/demo rotation.
#
# Only the database makes and replaces the password, so that no client has one that the database does not know yet. The
# database also accepts the one before, for clients that have not run since. A client that runs before the database uses
# the password even if it has expired.
#
# The demo prints the passwords. A real one is a Sensitive: see docs/rotation.md.
$key = 'app1/db_password'

node 'db' {
  $password = simpkv::get_or_create($key, {}, { 'expires_after' => '90d' }) |$name| {
    generate('/bin/sh', '-c', "od -An -N6 -tx1 /dev/urandom | tr -d ' \n'")
  }
  $former = simpkv::get($key, { 'version' => -1, 'default' => 'no other' })

  notice("The database accepts ${password['value']} and ${former['value']}")
}

node default {
  $password = simpkv::get($key, { 'expired' => 'return' })

  notice("This client logs in with ${password['value']}")
}
