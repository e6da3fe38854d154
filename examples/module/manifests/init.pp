# @summary A web application with a generated password, which tells its nodes of one another
#
# @param address
#   The address of this node.
# @param greeting
#   The greeting of the application. Operators store it with `simpkv put hiera/webapp::greeting`.
class webapp (
  String[1] $address  = $facts['networking']['ip'],
  String[1] $greeting = 'Welcome',
) {
  $password = simpkv::get_or_create('webapp/db_password', { 'owner' => 'webapp' }, { 'global' => true }) |$key| {
    Sensitive(generate('/usr/bin/openssl', 'rand', '-hex', '24').strip)
  }['value']

  simpkv::put("webapp/nodes/${trusted['certname']}", $address)
  $nodes = simpkv::list('webapp/nodes')['keys'].map |$name, $entry| { "${entry['value']} ${name}\n" }

  file {
    default:
      ensure => file,
      mode   => '0640',
      ;
    '/etc/webapp/password':
      content => $password,
      ;
    '/etc/webapp/nodes':
      content => $nodes.join,
      ;
    '/etc/webapp/greeting':
      content => $greeting,
      ;
  }
}
