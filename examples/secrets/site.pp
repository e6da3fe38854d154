# A password that nobody types: made once, the same on every node, in the form that each program wants.
$password = simpkv::secret('app1/db')
$shadow = simpkv::secret('app1/db', { 'format' => 'yescrypt' })

# The demo shows them. A manifest gives them to resources, as in
#   user { 'app1': password => $shadow }
notice("password: ${$password.unwrap}")
notice("shadow: ${$shadow.unwrap}")
