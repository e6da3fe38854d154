# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/store_operations'
require_relative '../support/tally'

Directories.each_server do |server, tags|
  RSpec.describe "Operations on #{server}", **tags do
    include Eventually

    include_context 'with a directory', server, tls: true, idle: 1
    include_context 'with proxies'

    # Each operation has a folder of its own.
    #
    # @yieldparam options [Hash]
    # @yieldreturn [Simpkv::Store] a store with these options
    # @return [Array<Array(StoreOperations::Operation, Simpkv::Store)>]
    def stores_with(deadline)
      StoreOperations.in_parallel do |operation|
        options = { 'id' => "f#{LdapIds.next}" }
        StoreOperations.restore(open_store(options))
        [operation, yield(options.merge('operation_timeout_seconds' => deadline))]
      end
    end

    # Waits until each store has a connection: on a busy machine that may take longer than the deadline.
    def connect(stores)
      StoreOperations.in_parallel(stores) { |_, store| eventually { store.exist?(StoreOperations::PLACE) } }
    end

    # Runs all operations during a fault, and checks the stored keys after it.
    #
    # @param faults [Integer] how many faults the row of the table counts
    # @yieldparam call [Proc] runs the operations
    # @return [Array<StoreOperations::Outcome>]
    def run(name, stores, deadline, faults: 1)
      outcomes = nil
      yield -> { outcomes = StoreOperations.in_parallel(stores) { |each| StoreOperations.run(*each, deadline) } }
      tally = Tally.new("#{name}, #{directory.class}")
      tally.add(faults: faults)
      outcomes.zip(stores) do |outcome, (_, store)|
        outcome.check_next_call(store)
        tally.add_outcome(outcome.check(StoreOperations.contents(store)))
      end
      expect(tally.anomalies).to eq([])
      outcomes
    end

    it 'succeed after a restart of the server' do
      stores = stores_with(30) { |options| open_apart(options) }
      connect(stores)
      directory.restart
      outcomes = run('restarted', stores, 30, &:call)
      expect(outcomes.map(&:acknowledged)).to all(be(true))
    end

    # The TCP connections that the server has not closed yet; 01 is ESTABLISHED.
    def open_connections
      port = format(':%04X', Integer(directory.tcp_uri[/\d+\z/]))
      File.readlines('/proc/net/tcp').count { |line| line.split[2].end_with?(port) && line.split[3] == '01' }
    end

    it 'succeed after the server closed the idle connection' do
      stores = stores_with(30) { |options| open_apart(options.merge('ldap_uri' => directory.tcp_uri)) }
      # On a slow machine, the server may close the first one before the last one is open.
      eventually { connect(stores) && open_connections >= stores.length }
      eventually { directory.idled && open_connections.zero? }
      outcomes = run('idle connection closed', stores, 30, faults: stores.length, &:call)
      expect(outcomes.map(&:acknowledged)).to all(be(true))
    end

    deadline = 1.5

    it 'end at their deadline on a half-open connection' do
      stores = stores_with(deadline) do |options|
        proxy = new_proxy
        open_behind(proxy, options).tap do |store|
          connect([[nil, store]])
          proxy.arm(:stall, :up, 0)
        end
      end
      outcomes = run('half-open connection', stores, deadline, faults: stores.length, &:call)
      expect(outcomes.map(&:acknowledged)).to all(be(false))
    end

    { 'ldap' => {}, 'StartTLS' => { 'enable_tls' => true }, 'ldaps' => {} }.each do |transport, more|
      it "end at their deadline when the server accepts connections and never responds, over #{transport}" do
        uri = transport == 'ldaps' ? directory.tls_uri : directory.tcp_uri
        tls = { 'ldap_uri' => uri, 'tls_cacert' => directory.certificates.cacert, **more }
        stores = stores_with(deadline) { |options| open_apart(options.merge(tls)) }
        outcomes = run("accepts and never answers, #{transport}", stores, deadline) do |call|
          directory.freeze_process(&call)
        end
        expect(outcomes.map(&:acknowledged)).to all(be(false))
      end
    end

    it 'end at their deadline when the server stops responding' do
      stores = stores_with(deadline) { |options| open_apart(options) }
      connect(stores)
      outcomes = run('stops answering', stores, deadline) { |call| directory.freeze_process(&call) }
      expect(outcomes.map(&:acknowledged)).to all(be(false))
    end
  end
end

RSpec.describe 'Operations on a server whose name has no address' do
  include_context 'with slapd'

  deadline = 1.5

  it 'end at their deadline' do
    tally = Tally.new('name without an address')
    outcomes = StoreOperations.in_parallel do |operation|
      store = open_apart('ldap_uri' => 'ldap://simpkv.invalid', 'operation_timeout_seconds' => deadline)
      StoreOperations.run(operation, store, deadline)
    end
    outcomes.each { |outcome| tally.add_outcome(outcome, faults: 1, operations: 1) }
    expect(tally.anomalies).to eq([])
    expect(outcomes.map(&:acknowledged)).to all(be(false))
  end
end
