# frozen_string_literal: true

require_relative '../support/eventually'
require_relative 'types_helper'

RSpec.describe 'A server that goes away' do
  include_context 'with keys in a directory', Slapd, layout: 'plain'
  include Eventually

  let(:backend) { directory.options('type' => 'ldap', 'id' => id, 'retries' => 0, 'connect_timeout_seconds' => 2) }
  let(:manifest) { <<~PUPPET }
    simpkv_folder { 'app1': purge => true }
    simpkv_key { 'app1/managed': value => 'new' }
    simpkv_key { 'app1/absent': ensure => absent }
    simpkv_key { 'app2/other': value => 'new' }
    notify { 'the rest': }
  PUPPET
  let(:before) { documents }

  before do
    fill('app1/managed' => { value: 'old' }, 'app1/absent' => { value: 'old' }, 'app1/old1' => { value: 'old' },
         'app1/old2' => { value: 'old' })
    before
  end

  def stop_once
    directory.stop_serving unless @stopped
    @stopped = true
  end

  # A process does not connect to a server that has refused it, for some time.
  def expect_recovery
    directory.launch
    expect(eventually { documents }).to eq(before)
    apply!(manifest)
    expect(documents).to eq(%w[app1/managed app2/other].to_h { |key| [key, '{"value":"new","metadata":{}}'] })
  end

  it 'before the run: all of them fail, none counts as absent, and the rest of the catalog is applied' do
    directory.stop_serving
    apply(manifest)
    expect(failed).to eq(['Simpkv_folder[app1]', *key_resources('app1/absent', 'app1/managed', 'app2/other')])
    expect(changed).to eq(['Notify[the rest]'])
    expect_recovery
  end

  it 'before the listing: the folder fails, and nothing is purged' do
    before_listing { stop_once }
    apply(manifest)
    expect(failed).to include('Simpkv_folder[app1]')
    expect(removed).to eq([])
    expect_recovery
  end

  it 'and hangs: only the first removals wait for it (each waited until its deadline)' do
    write_options('default' => backend.merge('operation_timeout_seconds' => 0.5, 'connect_timeout_seconds' => 0.5))
    fill((1..40).to_h { |n| ["app1/more#{n}", { value: n }] })
    run_ended = Queue.new
    after_listing { hang_until(run_ended) }
    expect(seconds { apply("simpkv_folder { 'app1': purge => true }") }).to be < 10
    expect(failed.length).to eq(44)
    expect(log.grep(/did not answer earlier in this run/)).not_to be_empty
  ensure
    run_ended << true
  end

  def hang_until(queue)
    hanging = Queue.new
    Thread.new do
      directory.freeze_process do
        hanging << true
        queue.pop
      end
    end
    hanging.pop
  end

  it 'after the listing: the removals fail, and the next run makes up for them' do
    after_listing { stop_once }
    apply(manifest)
    expect(failed).to include(*key_resources('app1/old1', 'app1/old2'))
    expect(removed).to eq([])
    expect_recovery
  end
end

RSpec.describe 'A store in files that cannot be used' do
  include_context 'with keys as resources'

  let(:manifest) { "simpkv_folder { 'app1': purge => true } simpkv_key { 'app1/managed': value => 'new' }" }

  def expect_failures
    apply(manifest)
    expect(failed).to include('Simpkv_key[app1/managed]')
    expect(removed).to eq([])
  end

  it 'fails its resources if a file stands in its place' do
    File.write(root, 'pl4nted-file')
    expect_failures
    expect(File.read(root)).to eq('pl4nted-file')
    expect(log.join).not_to include('pl4nted-')
  end

  # Another program holds the lock of the key.
  it 'fails a key that stays locked, and applies the others' do
    backend['lock_timeout_seconds'] = 0.2
    File.write(ENV.fetch('SIMPKV_CONFIG'), { 'backends' => backends }.to_yaml)
    fill('app1/managed' => { value: 'old' }, 'app2/other' => { value: 'old' })
    File.open(File.join(root, KeysAsResources::PRODUCTION, 'app1/managed'), 'r+') do |file|
      file.flock(File::LOCK_EX)
      apply("simpkv_key { ['app1/managed', 'app2/other']: value => 'new' }")
    end
    expect([failed, changed]).to eq([key_resources('app1/managed'), key_resources('app2/other')])
  end

  # A purge must not take an entry that it cannot read for one without a name, unless it can be read by nobody.
  it 'does not purge a key that another program has locked' do
    backend['lock_timeout_seconds'] = 0.2
    File.write(ENV.fetch('SIMPKV_CONFIG'), { 'backends' => backends }.to_yaml)
    fill('app1/locked' => { value: 'old' })
    File.open(File.join(root, KeysAsResources::PRODUCTION, 'app1/locked'), 'r+') do |file|
      file.flock(File::LOCK_EX)
      apply("simpkv_folder { 'app1': purge => true }")
    end
    expect(keys).to eq(%w[app1/locked])
  end
end

RSpec.describe 'A configuration that is wrong' do
  include_context 'with keys as resources'

  # @return [String] the errors of the run, in which nothing was written
  def refused(manifest)
    before = Dir.exist?(root) ? keys : []
    begin
      apply(manifest)
      expect(failed).not_to be_empty
    rescue Puppet::Error => e
      said = e.message
    end
    expect(Dir.exist?(root) ? keys : []).to eq(before)
    [said, *log.grep(/^err/)].join("\n")
  end

  { "backend => 'othr'" => /othr/, 'backend => {}' => /type/, "backend => { 'type' => 'file' }" => /id/,
    "backend => { 'type' => 'consul', 'id' => 'x' }" => /consul/, 'backend => 5' => /backend/,
    "backend => { 'type' => 'file', 'id' => 'x', 'root_path' => 'relative' }" => /root_path/,
    "backend => { 'type' => 'ldap', 'id' => 'x', 'admin_pw_file' => '/none', 'ldap_uri' => 'http://x' }" => /ldap_uri/,
    "global => 'perhaps'" => /global/, "metadata => 'text'" => /metadata/ }.each do |parameter, why|
    it "is refused with a reason: #{parameter}" do
      expect(refused("simpkv_key { 'a': value => 'pl4nted-value', #{parameter} }")).to match(why)
      expect(log.join).not_to include('pl4nted-')
      next if parameter.start_with?('metadata')

      expect(refused("simpkv_folder { 'a': ensure => present, purge => true, #{parameter} }")).to match(why)
    end
  end

  it 'is refused without the options of a Hash in the message' do
    backend = "{ 'type' => 'file', 'id' => 'x', 'root_path' => 'pl4nted-root', 'admin_pw' => 'pl4nted-password' }"
    refused("simpkv_key { 'a': value => 1, backend => #{backend} }")
    expect(log.join.scan('pl4nted-password')).to eq([])
  end

  ['', '../a', 'a/./b', 'a b', 'Capital', "a\nb", 'ä', 'a/../../testing/b', '/', 'x' * 5000].each do |key|
    it "is refused for the key #{key[0, 20].inspect}" do
      expect(refused("simpkv_key { 'title': key => #{key.dump}, value => 1 }")).not_to be_empty
    end
  end

  it 'is refused for two resources of one place, which are named, before anything is written' do
    [["'one': key => 'app1/x'", "'two': key => 'app1//x'"], ["'app1/x': ", "'app1/x/': "],
     ["'one': key => 'app1/x'", "'two': key => 'app1/x', backend => 'default'"],
     ["'one': key => 'app1/x'", "'two': key => 'app1/x', backend => #{as_puppet(backend)}"]].each do |one, two|
      message = refused("simpkv_key { 'other': value => 1 } simpkv_key { #{one}, value => 1; #{two}, value => 2 }")
      expect(message).to include(one[%r{\w[\w/]*}]).and include(two[/'([^']*)'/, 1])
    end
  end

  it 'is refused for a key in a folder that is removed with its keys (an operator lost the key)' do
    fill('app1/sub/x' => { value: 1 })
    folder = "simpkv_folder { 'the folder': folder => 'app1/', ensure => absent, recurse => true }"
    ["'app1/sub/x': ensure => present", "'app1/sub/x': value => 2"].each do |key|
      expect(refused("#{folder} simpkv_key { #{key} }"))
        .to include('Simpkv_key[app1/sub/x] is present, but Simpkv_folder[the folder] around it is absent')
    end
    expect(keys).to eq(%w[app1/sub/x])
    apply!("#{folder} simpkv_key { 'app1/sub/x': ensure => absent }")
  end

  it 'is refused for a protected key in a folder that is removed with its keys (the key was removed, and not named)' do
    fill('app1/keep' => { value: 1 })
    folder = "simpkv_folder { 'app1': ensure => absent, recurse => true }"
    ["'app1/keep': ", "'app1/keep': audit => all"].each do |key|
      expect(refused("#{folder} simpkv_key { #{key} }"))
        .to include('Simpkv_key[app1/keep] is protected, but Simpkv_folder[app1] around it is absent')
    end
    expect(keys).to eq(%w[app1/keep])
  end

  # The file with the options can be part of the catalog: the check before the run cannot read it.
  it 'fails the removal of a folder with a protected key, if the places of keys become known in the run' do
    fill('app1/keep' => { value: 1 })
    file = ENV.fetch('SIMPKV_CONFIG')
    options = File.read(file)
    File.write(file, 'broken: [')
    apply(<<~PUPPET)
      file { '#{file}': content => #{options.dump.gsub('$', '\\$')} }
      simpkv_folder { 'app1': ensure => absent, recurse => true }
      simpkv_key { 'app1/keep': }
    PUPPET
    expect([failed, keys]).to eq([['Simpkv_folder[app1]'], %w[app1/keep]])
    expect(log.grep(/^err/).join).to include('Simpkv_key[app1/keep] is in it, and is not absent')
  end

  it 'is refused for what is present in an absent folder (each run failed, or undid what the other one did)' do
    ["simpkv_folder { 'app1/sub': ensure => present }", "simpkv_key { 'app1/sub/x': value => 1 }"].each do |inner|
      expect(refused("simpkv_folder { 'app1': ensure => absent } #{inner}"))
        .to match(/Simpkv_\w+\[app1.sub.*\] is present, but Simpkv_folder\[app1\] around it is absent/)
    end
    apply!("simpkv_folder { 'app1': ensure => absent } simpkv_folder { 'app1/sub': } simpkv_key { 'app1/x': }")
  end

  it 'is refused for a folder that is a key, and a key below a key' do
    fill('app1/x' => { value: 1 })
    expect(refused("simpkv_folder { 'app1/x': ensure => present, purge => true }")).to match(%r{app1/x})
    expect(refused("simpkv_key { 'app1/x/y': value => 1 }")).to match(%r{app1/x})
  end
end
