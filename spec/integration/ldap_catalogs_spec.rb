# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/eventually'
require_relative '../support/ldap_store'

RSpec.describe 'Catalogs whose keys are in a directory', :once do
  include Eventually

  include_context 'with slapd'

  let(:backend) { slapd.options('type' => 'ldap', 'id' => id) }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }

  after { world.close }

  def in_environment(name)
    other = PuppetWorld.new(environment: name, hiera: { 'backends' => { 'default' => backend } })
    yield other
  ensure
    other.close
  end

  def with(more)
    { 'backends' => { 'default' => more } }
  end

  # Each catalog used to start five processes before its first operation.
  it 'share one connection, and start no process' do
    expect(Process).not_to receive(:spawn)
    before = slapd.log.scan(' ACCEPT ').length
    5.times do |n|
      world.call('simpkv::put', "k#{n}", n)
      world.fresh_catalog
      expect(world.call('simpkv::list', '/')['keys'].length).to eq(n + 1)
    end
    expect(slapd.log.scan(' ACCEPT ').length - before).to be <= 1
  end

  # Each write made a copy of the backend, which had to work out the options of the call again.
  it 'work out the options of equal calls once' do
    expect(Simpkv::Config).to receive(:history).once.and_call_original
    3.times { |n| world.call('simpkv::put', 'k', n) }
    expect(world.call('simpkv::get', 'k')).to eq('value' => 2)
  end

  it 'check for the base entry once, not at each call' do
    checks = -> { slapd.log.scan("SRCH base=\"#{Slapd::BASE_DN}\" scope=0").length }
    before = checks.call
    10.times { |n| world.call('simpkv::exists', "k#{n}") }
    expect(checks.call - before).to eq(1)
  end

  # A key, its absence, and a folder, which only the request for a folder of that name finds.
  it 'read a key in as many requests as a search for its name takes' do
    world.call('simpkv::put', 'f/k', 1)
    requests = lambda do |&call|
      before = slapd.log.length
      call.call
      slapd.log[before..].scan(' SRCH base').length
    end
    names = %w[f/k f/none f]
    stored = Simpkv::Store.open('ldap', slapd.options('id' => id))
    before = names.map { |name| requests.call { stored.kind("environments/production/#{name}") } }
    after = names.map { |name| requests.call { world.call('simpkv::exists', name) } }
    expect(after).to eq(before)
    expect(after.first).to eq(1)
    stored.close
  end

  # dev and Dev used to share their keys.
  it 'are refused for an environment with capitals, except for global keys' do
    in_environment('Dev') do |dev|
      expect { dev.call('simpkv::get', 'k', { 'softfail' => true }) }.to raise_error(
        ArgumentError, /simpkv Configuration Error for simpkv::get with key='k': environment 'Dev' has capital letters/
      )
      expect(dev.call('simpkv::exists', 'k', { 'global' => true })).to be(false)
      dev.fresh_catalog
      expect(dev.call('simpkv::exists', 'k', with('fold_case' => true))).to be(false)
    end
  end

  # '3' used to crash the call; -1 used to cause an endless loop while the server was busy.
  it 'accept retries as a number or as text, and nothing else' do
    expect(world.call('simpkv::exists', 'k', with('retries' => '3'))).to be(false)
    [-1, 'often', 1000].each do |wrong|
      expect { world.call('simpkv::exists', 'k', with('retries' => wrong)) }.to raise_error(
        ArgumentError, /simpkv Configuration Error.*'retries' of simpkv backend 'default' must be a whole number from 0/
      )
    end
  end

  it 'refuse another location for one type and id (the first was used silently), and warn about another timeout' do
    world.call('simpkv::put', 'k', 1)
    [{ 'base_dn' => 'o=puppet,dc=simp' }, { 'ldap_uri' => slapd.tcp_uri }, { 'layout' => 'hex' }].each do |other|
      expect { world.call('simpkv::get', 'k', with(other)) }.to raise_error(
        ArgumentError, /contains different backend configs for type=ldap id=#{id}.*#{other.keys.first}/
      )
    end
    expect(world.call('simpkv::get', 'k', with('retries' => 2))['value']).to eq(1)
    expect(world.warnings).to match([/already with another 'retries'/])
  end

  it 'warn once if several servers could take writes, and not if one is named (two took writes, unnoticed)' do
    several = slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => [slapd.uri, slapd.tcp_uri])
    calls = ->(backend) { 2.times { |n| world.call('simpkv::put', "k#{n}", n, {}, with(backend)) } }
    calls.call(several)
    expect(world.warnings).to match([/'ldap_uri' names several servers, and no 'write_uri'.*high-availability/])
    world.fresh_catalog
    calls.call(several.merge('write_uri' => slapd.uri))
    expect(world.warnings.length).to eq(1)
  end

  it 'name the reason while the server is down (it was a TypeError), and work when it is back' do
    slapd.stop_serving
    2.times do
      expect { world.call('simpkv::exists', 'k') }.to raise_error(RuntimeError, /Plugin could not access.*ldapsearch/)
    end
    slapd.launch
    expect(eventually(errors: RuntimeError) { [world.call('simpkv::exists', 'k')] }).to eq([false])
  end

  it 'use files if the options of a call override the type, and ignore the options of ldap' do
    root = File.join(world.dir, 'root')
    world.call('simpkv::put', 'k', 'in a file', {}, with('type' => 'file', 'root_path' => root))
    expect(File.read(File.join(root, 'environments/production/k'))).to include('in a file')
    expect(world.warnings).to eq([])
  end
end
