# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require 'json'
require 'simpkv'
require_relative 'side_by_side'

# The codec beside the json gem that Ruby bundles.
documents = {
  '40 B' => [{ 'password' => 'Xu8#kq!0' }, {}],
  '1 KB' => [
    { 'hosts' => Array.new(12) { |i| { 'name' => "node#{i}.example.com", 'address' => "10.0.0.#{i}", 'weight' => i } },
      'ratio' => 9.898, 'enabled' => true, 'motto' => 'Καλημέρα κόσμε 😀' },
    { 'owner' => 'ops', 'version' => 3 }
  ]
}

rows = documents.flat_map do |size, (value, metadata)|
  bytes = Simpkv::Codec.encode(value, metadata)
  SideBySide.run("encode #{size}",
                 { 'json' => -> { JSON.generate('value' => value, 'metadata' => metadata) },
                   'simpkv' => -> { Simpkv::Codec.encode(value, metadata) } }) +
    SideBySide.run("decode #{size}",
                   { 'json' => -> { JSON.parse(bytes) }, 'simpkv' => -> { Simpkv::Codec.decode(bytes) } },
                   equal: ->(answer) { answer[:value] || answer['value'] })
end

puts '# Codec', '', SideBySide.table(rows), ''
puts SideBySide.circumstances('bin/bench codec', 'simpkv' => Simpkv::VERSION, 'binding' => Simpkv::Native.binding_name,
                                                 RUBY_ENGINE => RUBY_ENGINE_VERSION, 'json' => JSON::VERSION)
