# A password that nobody types: made once, the same on every node, in the form that each program wants.
$password = simpkv::secret('app1/db')
$shadow = simpkv::secret('app1/db', { 'format' => 'yescrypt' })
$scram = simpkv::secret('app1/db', { 'format' => 'scram-sha-256' })

# The demo shows them. A manifest gives them to resources, as in
#   user { 'app1': password => $shadow }
['password', 'shadow', 'scram'].zip([$password, $shadow, $scram]).each |$pair| {
  notice("${pair[0]}: ${pair[1].unwrap}")
}
