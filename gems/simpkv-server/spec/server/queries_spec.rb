# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/server/problem'
require 'simpkv/server/queries'
require 'simpkv/server/readiness'
require_relative 'server_helper'
require_relative '../../../../spec/support/cuttable_proxy'
require_relative '../../../../spec/support/replica'
require_relative '../../../simpkv-estate/spec/support/estate_files'

RSpec.describe Simpkv::Server::Queries do
  include_context 'with an estate in files'

  let(:options) { { 'index' => "#{root}.index", 'query_age' => 2, 'query_workers' => 1 } }
  let(:estate) { open_estate }
  let(:queries) do
    section = Simpkv::Config::Sections.convert({ 'server' => options }, 'server')
    described_class.new(section, double(estate: estate), 'owner', ->(_line) {})
  end
  let(:gate) { Queue.new }

  after do
    gate.close
    queries.stop
    FileUtils.rm_rf("#{root}.index")
  end

  # From now on, the store does not answer.
  def freeze_store
    allow(estate.snapshots).to receive(:digests).and_wrap_original do |digests|
      gate.pop
      digests.call
    end
  end

  # @return [Integer] the number of rows
  def ask
    queries.ask('path' => ['nodes']).tap { |answer| answer.file.close }.rows
  end

  def refusal
    ask && nil
  rescue Simpkv::Query::StaleError => e
    e.message
  end

  before { stub_const("#{described_class}::WAIT", 0.2) }

  # It said how old the index is, and not why.
  it 'says how long a refresh has been running if the store hangs' do
    queries.start
    eventually { refusal.nil? }
    freeze_store
    eventually { refusal.to_s.include?('running') }
    expect(refusal).to match(/\Athe index of queries is \d+ s old: a refresh has been running for \d+ s\. The store/)
    expect(queries.report).to match('ok' => false, 'age' => a_kind_of(Float), 'not_told' => nil,
                                    'error' => /\Aa refresh has been running/)
    expect(queries.text).to match(/^simpkv_index_comparing_seconds [\d.]*[1-9]/)
    gate.close
    eventually { refusal.nil? }
    eventually { queries.report['error'].nil? }
  end

  it 'lets a query wait while the only worker answers another one' do
    queries.start
    eventually { refusal.nil? }
    worker = queries.workers.pids.first
    Process.kill(:STOP, worker)
    waiting = Array.new(2) { Thread.new { ask } }
    eventually { waiting.all?(&:stop?) }
    Process.kill(:CONT, worker)
    expect(waiting.map(&:value)).to eq([ask] * 2)
  ensure
    Process.kill(:CONT, worker) if worker
  end

  # A comparison of a late replica does not have it.
  it 'does not answer a query that waits for a command of another service, if the store is read from a replica' do
    allow(estate).to receive(:replica?).and_return(true)
    queries.start
    eventually { refusal.nil? }
    expect { queries.await_command('u1') }.to raise_error(Simpkv::Query::StaleError, /'u1'.*replica.*use wait_for_node/)
    queries.note('u1', 'web1')
    expect { queries.await_command('u1') }.not_to raise_error
  end

  # It may name a server or a file.
  it 'conceals from callers without rights why the store does not tell of changes' do
    allow(estate.store).to receive(:watch).and_raise(Simpkv::UnavailableError, 'ldap9.example.com')
    queries.start
    eventually { queries.report['not_told'] == 'ldap9.example.com' }
    readiness = Simpkv::Server::Readiness.new(double(backend_names: []), 'owner', queries, ->(_line) {})
    reasons = [true, false].map { |details| readiness.check(details: details).last.dig('index', 'not_told') }
    expect(reasons).to eq(['ldap9.example.com', Simpkv::Server::StatusView::UNREAD])
  end

  context 'with a server of writes beside a replica' do
    include_context 'with slapd', more: Replica::SUPPLIER

    let(:network) { CuttableProxy.new(directory.tcp_uri) }
    let(:options) { super().merge('query_seconds' => 0.5) }
    let(:estate) { estate_of(@replica.tcp_uri) }

    around do |example|
      Replica.run(directory, follows: false) do |server|
        @replica = server
        example.run
      end
    end

    after { network.stop }

    def estate_of(server)
      backend = directory.options('type' => 'ldap', 'id' => id, 'ldap_uri' => [server], 'write_uri' => network.uri,
                                  'retries' => 0)
      Simpkv::Estate.new({ 'backends' => { 'default' => backend }, 'estate' => { 'spool' => "#{root}.spool" } })
    end

    # The replica answered in place of the server of writes, and had nothing of it.
    it 'answers who waits for a command when the replica has it, and not while nobody knows what is stored' do
      writer = estate_of(directory.tcp_uri)
      writer.make
      @replica.restart
      queries.start
      eventually { refusal.nil? }
      writer.facts.save('web1', { 'a' => 1 })
      queries.note('u1', 'web1')
      expect { queries.await_command('u1') }.to raise_error(Simpkv::Query::StaleError, /does not have the last changes/)
      network.cut
      expect { queries.await_command('u1') }.to raise_error(Simpkv::TransientError)
      network.heal
      @replica.restart
      eventually { queries.await_command('u1') || true }
      expect(ask).to eq(1)
    end
  end

  context 'while the index is built for the first time' do
    before do
      stub_const("#{described_class}::WAIT", wait)
      freeze_store
    end

    # @return [Float] the seconds that a query took
    def refused(done)
      index = Simpkv::Query::Index.of(estate, options['index'])
      index.update { |writer| writer.note('done' => done, 'total' => 600) }
      queries.start
      began = Simpkv::Clock.now
      expect(refusal).to start_with("the index of queries is being built, #{done} of 600 nodes")
      Simpkv::Clock.now - began
    end

    context 'with much to do' do
      let(:wait) { 60 }

      # Each query held a thread for 5 s.
      it('says at once how far it is') { expect(refused(50)).to be < 30 }
    end

    context 'with little to do' do
      let(:wait) { 1 }

      # A small estate refused the first queries after a start.
      it('waits before it says how far it is') { expect(refused(550)).to be >= 1 }
    end
  end

  it 'says it before the first refresh has ended, too' do
    freeze_store
    queries.start
    eventually { refusal.to_s.include?('running') }
    expect(refusal).to match(/\Athe index of queries is being built: a refresh has been running for \d+ s\. The store/)
  end
end
