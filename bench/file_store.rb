# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require 'json'
require 'simpkv'
require 'tmpdir'
require_relative 'support/report'
require_relative 'support/versions'

# The file store beside what a script would do by hand: no lock, no check of the path, no fsync.
report = Report.new('File store')
Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  document = Simpkv::Codec.encode({ 'password' => 'Xu8#kq!0' }, 'owner' => 'ops')
  store.put('environments/production/app1/key', document)
  file = File.join(folder, 'environments/production/app1/key')

  rows = report.add(SideBySide.run(
                      'get, decoded',
                      { 'File.read + JSON.parse' => -> { JSON.parse(File.read(file)) },
                        'simpkv' => -> { Simpkv::Codec.decode(store.get('environments/production/app1/key')) } },
                      equal: ->(answer) { answer[:value] || answer['value'] }
                    ))
  report.at_least('file get / File.read + JSON.parse', 0.7, Report.ratio(rows, 'simpkv', 'File.read + JSON.parse'))
  report.add(SideBySide.run('exists', { 'File.exist?' => -> { File.exist?(file) },
                                        'simpkv' => -> { store.exist?('environments/production/app1/key') } }))
  report.add(SideBySide.run('put unchanged',
                            { 'File.read and compare' => -> { File.read(file) == document },
                              'simpkv' => -> { !store.put('environments/production/app1/key', document) } }))
end
report.print('file_store', Versions.own)
