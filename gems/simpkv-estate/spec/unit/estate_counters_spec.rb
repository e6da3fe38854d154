# frozen_string_literal: true

require 'socket'
require_relative '../../../../spec/spec_helper'
require_relative '../../../../spec/support/key_file'
require_relative '../../../../spec/support/scratch'
require 'simpkv/estate'
require 'simpkv/status/compilers'

RSpec.describe Simpkv::Estate::Counters do
  def estate(options)
    backends = { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } }
    Simpkv::Estate.new({ 'backends' => backends, 'estate' => options })
  end

  around do |example|
    Scratch.make('counters') do |root|
      @root = root
      Simpkv::Store.open('file', 'root_path' => root)
      estate({}).make
      example.run
    end
  end

  let(:host) { Socket.gethostname.downcase }

  it 'are stored with a report, at most once a minute' do
    counters = estate('compiler_counters' => true).counters
    counters.save_due
    expect(counters.recent.keys).to eq([host])
    counters.delete(host)
    counters.save_due
    expect(counters.recent).to eq({})
  end

  # The processes of one machine replaced each other's number, and a process without the option stored none.
  it 'have what all processes of the machine have dropped within a day' do
    2.times do |number|
      counters = estate({}).counters
      (number + 1).times { counters.count_drop }
      counters.save_due
      expect(counters).not_to be_dropped
    end
    estate('compiler_counters' => true).counters.save_due
    expect(stored['dropped']).to match('count' => 3, 'time' => be_a(String))
    age(3 * 3600)
    expect(estate({}).counters.recent).to eq({})
    expect(Simpkv::Status::Compilers.dropped(Simpkv::Status::Compilers.of(estate({})))).to match([/\A3 times on /])
    age(25 * 3600)
    expect(estate({}).counters.recent_or_dropped).to eq({})
    estate('compiler_counters' => true).counters.save_due
    expect(stored).not_to have_key('dropped')
  end

  def stored
    estate({}).counters.get(host)
  end

  # Makes the stored counters so old.
  def age(seconds)
    time = (Time.now.utc - seconds).iso8601
    estate({}).counters.put(host, stored.merge('time' => time, 'dropped' => { 'count' => 3, 'time' => time }))
  end

  describe 'of a process with keys' do
    include KeyFile

    def fingerprints(*kids)
      write_keys(*kids)
      backends = { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root },
                   'secret' => { 'type' => 'file', 'id' => 'other', 'root_path' => "#{@root}2",
                                 'encryption_keys' => key_file } }
      site = { 'backends' => backends, 'estate' => { 'compiler_counters' => true } }
      Simpkv::Estate.new(site.merge('backend' => 'default')).counters.tap(&:save_due).get(host)
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
    counters = estate({}).counters
    counters.save_due
    expect(counters.recent).to eq({})
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
