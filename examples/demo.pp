# Stores one value of each kind, reads all of them back, lists them and deletes some:
#
#   bin/demo
#
# It stores in the default backend of Hiera, which bin/demo and bin/demo ldap print; hieradata/common.yaml, beside this
# file, is another example.

$values = {
  'string'  => 'plain text, with "quotes" and a \ backslash',
  'integer' => -9007199254740993,
  'float'   => 9.898,
  'boolean' => false,
  'array'   => ['one', 2, 3.5, true, ['nested']],
  'hash'    => { 'host' => 'db1', 'ports' => [5432, 5433], 'options' => { 'tls' => true, 'comment' => undef } },
  'binary'  => binary_file("${module_directory('simpkv')}/examples/files/pixel.png"),
  'greek'   => 'Καλημέρα κόσμε',
  'emoji'   => "Caf\u{e9} \u{1F600}",
}
$metadata = { 'made_by' => 'examples/demo.pp', 'revision' => 1 }

# Store. Only the hash has metadata.
$values.each |$name, $value| {
  simpkv::put("demo/${name}", $value, $name ? { 'hash' => $metadata, default => {} })
}

# Read back and compare. (`==` ignores the case of strings; `unique` does not.)
$values.each |$name, $value| {
  $entry = simpkv::get("demo/${name}")
  $found = $value ? { Binary => Binary.new($entry['value'], '%r'), default => $entry['value'] }
  unless [$found, $value].unique.length == 1 {
    fail("demo/${name} came back as something else")
  }
  if $name == 'hash' and [$entry['metadata'], $metadata].unique.length > 1 {
    fail("the metadata of demo/${name} came back as something else")
  }
  $size = $value ? { Binary => " of ${value.convert_to(Array).length} bytes", default => '' }
  $where = sprintf('environments/%s/demo/%-8s', $environment, $name)
  notice("${where} holds the ${type($value, 'generalized')}${size}, which came back as it was stored")
}

# A value for all environments, instead of this one only.
simpkv::put('simpkv_demo/shared', 'for every environment', {}, { 'global' => true })
unless simpkv::get('simpkv_demo/shared', { 'global' => true })['value'] == 'for every environment' {
  fail('the global key simpkv_demo/shared came back as something else')
}
notice('globals/simpkv_demo/shared is there for every environment')

# List a folder.
simpkv::put('demo/tree/branch/leaf', 1)
$list = simpkv::list('demo')
unless $list['keys'].keys == $values.keys.sort and $list['folders'] == ['tree'] {
  fail("demo lists something else: ${list['keys'].keys}, ${list['folders']}")
}
notice("demo/ has the keys ${list['keys'].keys.join(', ')} and the folder tree/")

# Delete a key, and a folder with all that is in it.
simpkv::put('demo/passing', 'soon gone')
simpkv::delete('demo/passing')
simpkv::deletetree('demo/tree')
if simpkv::exists('demo/passing') or simpkv::exists('demo/tree') {
  fail('demo/passing and demo/tree should be gone')
}
notice('demo/passing and demo/tree/ are gone again')
