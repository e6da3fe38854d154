# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require 'simpkv/termini'
require_relative '../../../simpkv-estate/spec/support/estate_files'
require_relative '../../../simpkv-estate/spec/support/spooled_writes'
require_relative '../support/service'

RSpec.describe 'simpkv::query' do
  include_context 'with an estate in files'

  let!(:world) { PuppetWorld.new }
  let(:index) { "#{root}.index" }

  before do
    configure
    estate.facts.save('web1', { 'os' => { 'family' => 'Debian' }, 'cores' => 8, 'load' => 0.5, 'virtual' => true })
    estate.facts.save('web2', { 'os' => { 'family' => 'RedHat' }, 'cores' => 16 })
  end

  after do
    ENV.delete('SIMPKV_CONFIG')
    Simpkv::Termini.instance_variable_set(:@estate, nil)
    world.close
    FileUtils.rm_rf(index)
  end

  # Makes the termini read the configuration again.
  def configure(options = {})
    file = File.join(root, 'simpkv.yaml')
    File.write(file, site.merge('estate' => options, 'server' => { 'index' => index }).to_yaml)
    ENV['SIMPKV_CONFIG'] = file
    Simpkv::Termini.instance_variable_set(:@estate, nil)
  end

  def query(*arguments)
    world.fresh_catalog.call('simpkv::query', *arguments)
  end

  it 'returns the rows that PQL selects, as data of Puppet' do
    expect(query('inventory[certname] { facts.os.family = "Debian" }')).to eq([{ 'certname' => 'web1' }])
    facts = query('inventory[facts] { certname = "web1" }').first['facts']
    expect(facts).to include('cores' => 8, 'load' => 0.5, 'virtual' => true, 'os' => { 'family' => 'Debian' })
    expect(query('nodes { certname = "web9" }')).to eq([])
  end

  it 'takes an AST' do
    expect(query(['from', 'nodes', ['extract', [%w[function count]]]])).to eq([{ 'count' => 2 }])
  end

  it 'refreshes the index once a catalog' do
    catalog = world.fresh_catalog
    count = -> { catalog.call('simpkv::query', 'nodes[count()] { }') }
    expect(count.call).to eq([{ 'count' => 2 }])
    estate.facts.save('web3', { 'cores' => 1 })
    expect([count.call, query('nodes[count()] { }')]).to eq([[{ 'count' => 2 }], [{ 'count' => 3 }]])
  end

  it 'does not answer from an index that was deleted meanwhile' do
    catalog = world.fresh_catalog
    count = -> { catalog.call('simpkv::query', 'nodes[count()] { }') }
    expect(count.call).to eq([{ 'count' => 2 }])
    FileUtils.rm(Dir["#{index}/*.db*"])
    expect { count.call }.to raise_error(/the index of queries is being built/)
    expect(query('nodes[count()] { }')).to eq([{ 'count' => 2 }])
  end

  it 'says what is wrong with a query' do
    expect do
      query('nodes[certname] { certname = ')
    end.to raise_error(ArgumentError, /simpkv::query: .*line 1, column 30/)
    expect { query(%w[= certname web1]) }.to raise_error(ArgumentError, /simpkv::query: .*from/)
    expect { query(1) }.to raise_error(ArgumentError, /expects/)
  end

  context 'while something that the run has reported waits in the spool' do
    include SpooledWrites

    let(:spool) { { 'spool' => "#{index}.spool" } }

    before { SpooledWrites.compiler(root, spool).spool.save(facts('world.example.com')) }
    after { FileUtils.rm_rf(spool['spool']) }

    # @return [String] the body of the request that a query sends
    def request
      server = TCPServer.new('127.0.0.1', 0)
      configure(spool.merge('query_uri' => "tcp://127.0.0.1:#{server.addr[1]}"))
      asking = Thread.new { query('nodes { }') }
      socket = server.accept
      head = socket.gets("\r\n\r\n")
      socket.read(Integer(head[/^content-length: (\d+)/i, 1])).tap do
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]")
        asking.value
      end
    ensure
      [socket, server].compact.each(&:close)
    end

    # The service answered 503 then.
    it 'does not have the service wait for it' do
      expect(request).to eq('{"query":"nodes { }"}')
      FileUtils.rm_rf(spool['spool'])
      expect(request).to eq('{"query":"nodes { }","wait_for_node":"world.example.com"}')
    end

    it 'warns once a catalog that answers do not have it' do
      configure(spool)
      catalog = world.fresh_catalog
      2.times { expect(catalog.call('simpkv::query', 'nodes[count()] { }')).to eq([{ 'count' => 2 }]) }
      expect(world.warnings).to match([/what 'world.example.com' has reported waits in the spool .* do not have/])
    end
  end

  # As on JRuby.
  context 'with the option query_uri' do
    around do |example|
      example.run
    ensure
      @service&.stop
    end

    def serve
      @service = Service.new(site.merge('server' => { 'index' => index })).tap(&:start)
      configure('query_uri' => "unix://#{@service.socket}")
    end

    it 'asks the service' do
      serve
      expect(query('inventory[certname] { facts.os.family = "Debian" }')).to eq([{ 'certname' => 'web1' }])
      expect(query(['from', 'nodes', ['extract', [%w[function count]]]])).to eq([{ 'count' => 2 }])
      expect { query('nodes[certname] { certname = ') }.to raise_error(ArgumentError, /line 1, column 30/)
    end

    # It saw them about a second later.
    it 'sees what the run of its node has saved' do
      serve
      seen = Array.new(3) do |number|
        estate.facts.save('world.example.com', { 'number' => number })
        query('facts[value] { name = "number" }')
      end
      expect(seen).to eq(Array.new(3) { |number| [{ 'value' => number }] })
    end

    it 'says that the service is not there, also with the option soft' do
      configure('query_uri' => "unix://#{root}/nosuch", 'soft' => true)
      expect { query('nodes { }') }.to raise_error(Puppet::Error, /does not answer at unix:.*simpkv serve/)
    end

    it 'refuses what is no address' do
      configure('query_uri' => 'http://127.0.0.1:8080')
      expect { query('nodes { }') }.to raise_error(Puppet::Error, /'query_uri' of 'estate' must be unix:/)
    end
  end
end
