# Stores one value of each kind, reads all of them back, lists them and deletes some:
#
#   bin/demo
#
# It uses the default backend of Hiera, which bin/demo and bin/demo ldap print. hieradata/common.yaml is another example
# of backends.

$values = {
  'string'  => 'plain text, with "quotes" and a \ backslash',
  'integer' => -9007199254740993,
  'float'   => 9.898,
  'boolean' => false,
  'array'   => ['one', 2, 3.5, true, ['nested']],
  'hash'    => { 'host' => 'db1', 'ports' => [5432, 5433], 'options' => { 'tls' => true, 'comment' => undef } },
  'binary'  => binary_file("${module_directory('simpkv')}/examples/files/pixel.png"),
  'greek'   => 'Καλημέρα κόσμε',
  'emoji'   => "Caf\u{e9} \u{1F600}", # lint:ignore:double_quoted_strings
}
$metadata = { 'made_by' => 'examples/demo.pp', 'revision' => 1 }

# Stores the values. Only the hash has metadata.
$values.each |$name, $value| {
  simpkv::put("demo/${name}", $value, $name ? { 'hash' => $metadata, default => {} })
}

# Reads the values back and compares them. (`==` ignores the case of strings; `unique` does not.)
$values.each |$name, $value| {
  $entry = simpkv::get("demo/${name}")
  $found = $value ? { Binary => Binary.new($entry['value'], '%r'), default => $entry['value'] }
  unless [$found, $value].unique.length == 1 {
    fail("demo/${name} came back as another value")
  }
  if $name == 'hash' and [$entry['metadata'], $metadata].unique.length > 1 {
    fail("the metadata of demo/${name} came back as another value")
  }
  $size = $value ? { Binary => " of ${value.convert_to(Array).length} bytes", default => '' }
  $where = sprintf('environments/%s/demo/%-8s', $environment, $name)
  notice("${where} holds the ${type($value, 'generalized')}${size}, unchanged")
}

# Stores a value for all environments.
simpkv::put('simpkv_demo/shared', 'for every environment', {}, { 'global' => true })
unless simpkv::get('simpkv_demo/shared', { 'global' => true })['value'] == 'for every environment' {
  fail('the global key simpkv_demo/shared came back as another value')
}
notice('globals/simpkv_demo/shared exists for every environment')

# Lists a folder.
simpkv::put('demo/tree/branch/leaf', 1)
$list = simpkv::list('demo')
unless $list['keys'].keys == $values.keys.sort and $list['folders'] == ['tree'] {
  fail("demo lists other names: ${list['keys'].keys}, ${list['folders']}")
}
notice("demo/ has ${list['keys'].keys.join(', ')} and tree/")

# Deletes a key, and a folder with all its keys and folders.
simpkv::put('demo/passing', 'soon gone')
simpkv::delete('demo/passing')
simpkv::deletetree('demo/tree')
if simpkv::exists('demo/passing') or simpkv::exists('demo/tree') {
  fail('demo/passing and demo/tree should be missing')
}
notice('demo/passing and demo/tree/ are deleted')
