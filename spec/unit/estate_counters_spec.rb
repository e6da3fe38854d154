# frozen_string_literal: true

require 'socket'
require_relative '../spec_helper'
require_relative '../support/key_file'
require_relative '../support/scratch'
require 'simpkv/estate'

RSpec.describe Simpkv::Estate::Counters do
  def estate(options)
    backends = { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } }
    Simpkv::Estate.new({ 'backends' => backends, 'estate' => options })
  end

  around do |example|
    Scratch.make('counters') do |root|
      @root = root
      Simpkv::Store.open('file', 'root_path' => root)
      example.run
    end
  end

  let(:host) { Socket.gethostname.downcase }

  it 'are stored with a report, at most once a minute' do
    counters = estate('compiler_counters' => true).counters
    expect(counters.due.keys).to eq(["globals/estate/counters/#{host}"])
    expect(counters.due).to eq({})
  end

  describe 'of a process with keys' do
    include KeyFile

    def fingerprints(*kids)
      write_keys(*kids)
      backends = { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root },
                   'secret' => { 'type' => 'file', 'id' => 'other', 'root_path' => "#{@root}2",
                                 'encryption_keys' => key_file } }
      site = { 'backends' => backends, 'estate' => { 'compiler_counters' => true } }
      Simpkv::Estate.new(site.merge('backend' => 'default')).counters.due.values.first
    end

    # Compilers could have different files, and nobody knew.
    it 'have a fingerprint of the file of each backend, and no key' do
      first, same, other = [%w[new old], %w[new old], %w[old new]].map { |kids| fingerprints(*kids)['keys'] }
      expect(first).to match('secret' => /\A\h{16}\z/)
      expect([same == first, other == first]).to eq([true, false])
      expect(fingerprints('new').to_s).not_to include(*JSON.parse(File.read(key_file))['keys'].map { |key| key['k'] })
    end

    it 'have none of a file that cannot be read' do
      expect(fingerprints).not_to have_key('keys')
    end
  end

  it 'are not stored without the option' do
    expect(estate({}).counters.due).to eq({})
  end

  it 'do not count any more after an hour, and are an error if they cannot be read' do
    counters = estate({}).tap(&:make).counters
    counters.put('old', 'time' => '2020-01-01T00:00:00Z', 'pools' => [])
    counters.put('new', 'time' => Time.now.utc.iso8601, 'pools' => [])
    expect(counters.recent.keys).to eq(%w[new])
    counters.put('torn', 'time' => 'now')
    expect { counters.recent }.to raise_error(Simpkv::MalformedError, %r{counters/torn})
  end

  it 'are an error if a member of a pool or server has another type' do
    counters = estate({}).tap(&:make).counters
    server = { 'uri' => 'ldap://ldap1', 'connects' => 1, 'retries' => {}, 'operations' => { 'get' => 2 }, 'tls' => nil }
    pool = { 'identity' => 'cn=admin', 'waits' => 0, 'servers' => [server] }
    good = { 'time' => Time.now.utc.iso8601, 'pid' => 1, 'version' => '1.1.0', 'pools' => [pool] }
    counters.put('host', good)
    expect(counters.recent).to eq('host' => good)
    servers = [7, {}, { 'uri' => 7 }, { 'connects' => 'many' }, { 'connects' => -1 }, { 'retries' => [] },
               { 'operations' => { 'get' => nil, 'put' => 'x' } }, { 'tls' => { 'certificate_ends' => 'soon' } }]
    pools = [7, {}, { 'identity' => nil }, { 'waits' => [] }, { 'servers' => {} },
             *servers.map { |each| { 'servers' => [each.is_a?(Hash) && each.any? ? server.merge(each) : each] } }]
    [{ 'version' => 1 }, { 'pid' => 'x' }].each do |each|
      counters.put('host', good.merge(each))
      expect { counters.recent }.to raise_error(Simpkv::MalformedError, %r{counters/host}), each.inspect
    end
    pools.each do |each|
      counters.put('host', good.merge('pools' => [each.is_a?(Hash) && each.any? ? pool.merge(each) : each]))
      expect { counters.recent }.to raise_error(Simpkv::MalformedError, %r{counters/host}), each.inspect
    end
  end
end
