# Two nodes of bin/demo estate. web1 exports its address and a check of its web server. monitor collects the addresses
# and the checks of all nodes.
#
# The fact estate_demo is the folder in which monitor writes.

node 'web1' {
  @@estate_demo::host { 'web1':
    address => '192.0.2.11',
  }
  @@estate_demo::check { 'web1_http':
    host    => 'web1',
    command => 'check_http',
    tag     => 'monitoring',
  }
}

node 'monitor' {
  # The folders are purged: an entry goes with the node that exported it.
  file { ["${facts['estate_demo']}/hosts.d", "${facts['estate_demo']}/nagios.d"]:
    ensure  => directory,
    recurse => true,
    purge   => true,
  }

  Estate_demo::Host <<| |>>
  Estate_demo::Check <<| tag == 'monitoring' |>>
}
