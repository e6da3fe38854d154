# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative '../spec_helper'
require_relative '../../rakelib/planted'

RSpec.describe 'bin/test changed', :once, needs: :gems do
  root = File.expand_path('../..', __dir__)
  around { |example| Dir.chdir(root) { example.run } }

  # Read once. Needs MRI.
  graphs = nil
  changed = lambda do |*files|
    ruby, core = graphs ||= [ChangedRuby.new, ChangedCore.new]
    Changed.new(files, ruby: ruby, core: core)
  end

  it 'runs the specs that are named after a file first, then those that use it, then those of its users' do
    specs = changed['gems/simpkv-operations/lib/simpkv/ssh/public_key.rb'].specs
    expect(specs.first).to eq('gems/simpkv-operations/spec/unit/ssh_public_key_spec.rb')
    expect(specs).to include('gems/simpkv-operations/spec/command/ssh_spec.rb', 'spec/types/authorized_keys_spec.rb')
    expect(changed['gems/simpkv-estate/lib/simpkv/termini/estate_query.rb'].specs)
      .to include('gems/simpkv-server/spec/query/function_spec.rb')
  end

  it 'runs a spec that has changed, and those that use a helper that has changed (it ran none of these)' do
    expect(changed['spec/unit/dn_spec.rb'].specs).to eq(%w[spec/unit/dn_spec.rb])
    expect(changed['spec/support/foreign_ldif.rb'].specs)
      .to include('gems/simpkv-access/spec/integration/foreign_entries_spec.rb')
  end

  it 'runs the C tests that include the header of a source, and the specs of the binding that calls it' do
    expect(changed['ext/core/src/name/dn.c'].c_tests.first).to eq('test_dn')
    keyring = changed['ext/core/src/crypt/keyring.c']
    expect(keyring.c_tests).to include('test_keyring', 'test_crypt')
    expect(keyring.specs).to include('spec/unit/native_keyring_spec.rb')
  end

  # It printed ok, and ran nothing.
  it 'runs C tests for the public calls, the public headers, C tests and their helpers' do
    %w[src/api.c include/simpkv.h test/check.c test/ldap/test_ldap.c test/check.h].each do |file|
      expect(changed["ext/core/#{file}"].c_tests).not_to be_empty
    end
    expect(changed['ext/core/fuzz/fuzz_dn.c'].fuzzers).to eq(%w[fuzz_dn])
  end

  # The stage `planted` shows that each test fails.
  it 'runs the test of nine of ten planted defects at least, and of all without `changed: false`' do
    plants = Planted.all
    missed = plants.reject do |plant|
      selected = changed[plant.file]
      (selected.specs + selected.c_tests).include?(plant.test)
    end
    expect(missed.map(&:to_s)).to eq(plants.reject(&:selected?).map(&:to_s))
    expect(missed.length).to be <= plants.length / 10
  end

  it 'runs the specs of the FFI binding with FFI' do
    expect(changed['lib/simpkv/native/ffi.rb', 'lib/simpkv/store.rb'].rubies).to eq(%i[ffi cext])
  end

  it 'finds tests for files of code in each folder, and names files for which it finds none' do
    tracked = Open3.capture2('git', 'ls-files', '--cached', '--others', '--exclude-standard').first.lines(chomp: true)
    # One of each folder: all take half a minute.
    found = tracked.grep(/\.(?:rb|c|h|rake|pp|sh)\z/).group_by { |file| File.dirname(file) }.values.map(&:first)
    expect(found.length).to be > 100
    expect(changed[*found].untested).to eq([])
    expect(changed['LICENSE', 'README.md', 'lib/simpkv/gone.rb'].untested).to eq([])
  end

  it 'ends with an error that names a file of code without a test' do
    empty = Class.new { define_method(:distances) { |*| {} }.then { define_method(:bound) { |_| [] } } }.new
    expect(Changed.new(%w[Rakefile LICENSE], ruby: empty, core: empty).untested).to eq(%w[Rakefile])
  end

  it 'takes up to 5 minutes by its estimate, and says so, and what it leaves out' do
    plan = changed['lib/simpkv/errors.rb'].plan
    expect(plan).to match(/\A1 files differ from main: \d+ files of specs, 0 C tests, about [56] minutes\. /)
    expect(plan).to match(/ \d+ more tests of users would take about \d+ minutes: /)
  end

  # One changed line brought PuppetDB, PostgreSQL and Chromium.
  it 'installs what the selected specs need, and no more' do
    expect(changed['gems/simpkv-operations/lib/simpkv/ssh/public_key.rb'].needs).to eq(%w[test sshd])
    expect(changed['gems/simpkv-server/lib/simpkv/query/tasks.rb'].needs).to eq(%w[test service])
    expect(changed['gems/simpkv-server/lib/simpkv/server/console/nodes/node_table.rb'].needs).to include('browser')
    expect(changed['gems/simpkv-access/lib/simpkv/access/ldap_rules/aci.rb'].options).not_to include('~ds389')
    expect(changed['gems/simpkv-operations/lib/simpkv/ssh/public_key.rb'].options).to eq(%w[--tag ~ds389 --tag ~tools])
    parts = File.read('bin/setup')[/^for scope; do\n.*?^done\n/m].scan(/^    ([\w |-]+)\)/).flatten
    parts = parts.flat_map { |line| line.split(' | ') }
    ruby, = graphs
    expect(Dir['{,gems/*/}spec/*/*_spec.rb'].map { |spec| ruby.needs([spec]) }.flatten.uniq - parts).to eq([])
  end
end
