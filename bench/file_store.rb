# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require 'json'
require 'simpkv'
require 'tmpdir'
require_relative 'side_by_side'

# The file store beside what a script would do by hand: no lock, no check of the path, no fsync.
rows = Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  document = Simpkv::Codec.encode({ 'password' => 'Xu8#kq!0' }, 'owner' => 'ops')
  store.put('environments/production/app1/key', document)
  file = File.join(folder, 'environments/production/app1/key')

  SideBySide.run('get, decoded',
                 { 'File.read + JSON.parse' => -> { JSON.parse(File.read(file)) },
                   'simpkv' => -> { Simpkv::Codec.decode(store.get('environments/production/app1/key')) } },
                 equal: ->(answer) { answer[:value] || answer['value'] }) +
    SideBySide.run('exists',
                   { 'File.exist?' => -> { File.exist?(file) },
                     'simpkv' => -> { store.exist?('environments/production/app1/key') } }) +
    SideBySide.run('put unchanged',
                   { 'File.read and compare' => -> { File.read(file) == document },
                     'simpkv' => -> { !store.put('environments/production/app1/key', document) } })
end

puts '# File store', '', SideBySide.table(rows), ''
puts SideBySide.circumstances('bin/bench file_store', 'simpkv' => Simpkv::VERSION,
                                                      'binding' => Simpkv::Native.binding_name,
                                                      RUBY_ENGINE => RUBY_ENGINE_VERSION, 'json' => JSON::VERSION)
