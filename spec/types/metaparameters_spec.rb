# frozen_string_literal: true

require_relative 'types_helper'

RSpec.describe 'Metaparameters of simpkv_folder and simpkv_key' do
  include_context 'with keys as resources'

  before { fill('app1/old' => { value: 'old' }, 'app1/managed' => { value: 'old' }) }

  def manifest(folder: '', key: '')
    <<~PUPPET
      schedule { 'never': period => never }
      simpkv_folder { 'app1': purge => true, #{folder} }
      simpkv_key { 'app1/managed': value => 'new', #{key} }
    PUPPET
  end

  it 'noop of the folder: the purge is only told of' do
    apply!(manifest(folder: 'noop => true'))
    expect(removed('noop')).to eq(key_resources('app1/old'))
    expect(documents['app1/managed']).to include('new')
    expect(keys).to eq(%w[app1/managed app1/old])
  end

  it 'noop => false of the folder holds against the setting' do
    apply!(manifest(folder: 'noop => false'), noop: true)
    expect(removed).to eq(key_resources('app1/old'))
    expect(documents['app1/managed']).to include('old')
  end

  it 'schedule: a folder and a key outside of it are left' do
    apply!(manifest(folder: "schedule => 'never'", key: "schedule => 'never'"))
    expect([changed, keys]).to eq([[], %w[app1/managed app1/old]])
  end

  it 'tags: a run with other tags leaves the folder, one with its tags purges' do
    apply!(manifest(folder: "tag => 'purging'"), tags: 'other')
    expect([changed, keys]).to eq([[], %w[app1/managed app1/old]])
    apply!(manifest(folder: "tag => 'purging'"), tags: 'purging')
    expect([changed, keys]).to eq([key_resources('app1/old'), %w[app1/managed]])
  end

  it 'skip_tags of the folder skips the purge' do
    apply!(manifest(folder: "tag => 'purging'"), skip_tags: 'purging')
    expect([changed, keys]).to eq([key_resources('app1/managed'), %w[app1/managed app1/old]])
  end

  it 'require: a folder that depends on a failed resource purges nothing' do
    apply("#{manifest(folder: "require => Exec['/bin/false']")} exec { '/bin/false': }")
    expect([removed, keys]).to eq([[], %w[app1/managed app1/old]])
  end

  it 'loglevel: the removals have that of the folder' do
    Puppet::Util::Log.level = :debug
    apply!(manifest(folder: 'loglevel => debug'))
    expect(log.grep(%r{Simpkv_key\[app1/old\]/ensure: })).to all(start_with('debug: '))
  end

  it 'audit: a key without ensure and value is watched, and not changed' do
    audited = "simpkv_key { 'app1/managed': audit => [value, metadata] }"
    apply!(audited)
    fill('app1/managed' => { value: 'newer' })
    apply!(audited)
    expect(with_events('audit')).to eq(key_resources('app1/managed'))
    expect(documents['app1/managed']).to include('newer')
  end

  it 'audit of a purging folder watches, and removes as without it' do
    apply!(manifest(folder: 'audit => all'))
    expect(removed).to eq(key_resources('app1/old'))
  end

  it 'before and require: keys come after their folders without them' do
    apply!("simpkv_key { 'new/a/b': value => 1 } simpkv_folder { ['new/a', 'new']: ensure => present }")
    places = %w[Simpkv_folder[new] Simpkv_folder[new/a] Simpkv_key[new/a/b]].map { |ref| order.index(ref) }
    expect(places).to eq(places.sort)
  end

  # @return [Array<String>] the changed resources in the order of the log
  def order
    log.map { |line| line[/Simpkv_\w+\[[^\]]+\]/] }.compact.uniq
  end
end
