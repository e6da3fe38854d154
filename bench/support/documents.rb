# frozen_string_literal: true

# The values, with their metadata, that documents are made of, by size.
DOCUMENTS = {
  '40 B' => [{ 'password' => 'Xu8#kq!0' }, {}],
  '1 KB' => [
    { 'hosts' => Array.new(12) { |i| { 'name' => "node#{i}.example.com", 'address' => "10.0.0.#{i}", 'weight' => i } },
      'ratio' => 9.898, 'enabled' => true, 'motto' => 'Καλημέρα κόσμε 😀' },
    { 'owner' => 'ops', 'version' => 3 }
  ],
  '100 KB' => [
    Array.new(1600) { |i| { 'name' => "node#{i}.example.com", 'address' => "10.0.1.#{i % 256}", 'weight' => i } },
    { 'owner' => 'ops' }
  ]
}.freeze
