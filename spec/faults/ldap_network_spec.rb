# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/store_operations'
require_relative '../support/tally'

Directories.each_server do |server, tags|
  RSpec.describe "A network that fails during a call to #{server}", **tags do
    include Eventually

    include_context 'with a directory', server, tls: true
    include_context 'with proxies'

    # The number of bytes, in each direction of each call, at which a fault is injected. A stall costs a deadline.
    places = { reset: 10, cut: 10, delay: 2, stall: 1, truncate: 1 }
    deadline = 1.5

    # An answer without some of its bytes may be any other answer, such as a refusal.
    errors = Hash.new(StoreOperations::ERRORS).merge(truncate: [Simpkv::Error])

    # @return [Array<Array(Symbol, Integer)>] random places in the traffic of the block: directions and numbers of bytes
    def sample(proxy, count, random, &block)
      proxy.traffic(&block).flat_map do |direction, length|
        (0...length).to_a.sample(count, random: random).map { |byte| [direction, byte] }
      end
    end

    # @return [Simpkv::Store] a store behind the proxy with a connection
    def connected_behind(proxy, options)
      open_behind(proxy, options).tap { |store| eventually { store.exist?(StoreOperations::PLACE) } }
    end

    # @return [Random] the same for each run with the same seed, in any order of threads
    def random_for(operation, fault)
      Random.new(RSpec.configuration.seed + "#{operation.name} #{fault}".sum)
    end

    # Injects a fault while the block runs an operation, checks the outcome, and restores the keys.
    #
    # @param direct [Simpkv::Store] a store without the proxy
    # @yieldreturn [Array(StoreOperations::Outcome, Simpkv::Store)] the outcome, and the store for the next call
    def break_one(tally, fault, place, proxy, direct)
      proxy.arm(fault, *place)
      outcome, store = yield
      injected = proxy.heal
      outcome.check_next_call(store)
      found = StoreOperations.contents(direct)
      StoreOperations.restore(direct, found)
      tally.add_outcome(outcome.check(found), "#{fault} at #{place.join(' ')}", faults: injected ? 1 : 0)
    end

    places.each do |fault, count|
      it "loses and tears no document, delays no call past its deadline, and serves the next call: #{fault}" do
        tally = Tally.new("network of #{server}, during a call: #{fault}")
        StoreOperations.in_parallel do |operation|
          here = { 'id' => "f#{LdapIds.next}" }
          direct = open_store(here)
          StoreOperations.restore(direct)
          proxy = new_proxy
          far, sampled = [deadline, 30].map do |seconds|
            connected_behind(proxy, here.merge('operation_timeout_seconds' => seconds))
          end
          broken = sample(proxy, count, random_for(operation, fault)) { operation.call.call(sampled) }
          StoreOperations.restore(direct)
          broken.each do |place|
            break_one(tally, fault, place, proxy, direct) do
              [StoreOperations.run(operation, far, deadline, errors[fault]) { proxy.injected_at }, far]
            end
          end
        end
        expect(tally.anomalies).to eq([])
      end
    end

    # The connect, the handshake, the bind, and the read of the root DSE.
    { 'ldap' => {}, 'StartTLS' => { 'enable_tls' => true }, 'ldaps' => {} }.each do |transport, options|
      it "does no more harm to the first call of a connection, over #{transport}" do
        tally = Tally.new("network of #{server}, first call over #{transport}")
        tls = transport == 'ldap' ? {} : { 'tls_cacert' => directory.certificates.cacert }
        calls = StoreOperations::ALL.values_at(0, 4).product(places.to_a)
        StoreOperations.in_parallel(calls) do |operation, (fault, count)|
          here = { 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline, **options, **tls }
          direct = open_store('id' => here['id'])
          StoreOperations.restore(direct)
          proxy = new_proxy(transport == 'ldaps' ? directory.tls_uri : directory.tcp_uri)
          broken = sample(proxy, count, random_for(operation, fault)) do
            open_behind(proxy, here.merge('operation_timeout_seconds' => 30)).get("#{StoreOperations::PLACE}/a")
          end
          broken.each do |place|
            break_one(tally, fault, place, proxy, direct) do
              far = open_behind(proxy, here)
              [StoreOperations.run(operation, far, deadline, errors[fault]) { proxy.injected_at }, far]
            end
          end
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
