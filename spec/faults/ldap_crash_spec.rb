# frozen_string_literal: true

require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/store_operations'
require_relative '../support/tally'

Directories.each_server do |server, tags|
  RSpec.describe "kill -9 of #{server}", **tags do
    include_context 'with a directory', server
    include_context 'with proxies'

    deadline = 10

    # An operation with a folder and a connection of its own.
    place = Struct.new(:operation, :proxy, :store) do
      define_method(:run) { StoreOperations.run(operation, store, deadline) }
    end

    define_method(:places) do
      StoreOperations::ALL.map do |operation|
        proxy = new_proxy
        store = open_behind(proxy, 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline)
        StoreOperations.restore(store)
        place.new(operation, proxy, store)
      end
    end

    # Kills the server while the proxies hold back the bytes of one direction.
    def kill_during(places, direction)
      calls = places.map do |place|
        place.proxy.arm(:stall, direction, 0)
        Thread.new { place.run }
      end
      sleep(0.001) while places.zip(calls).any? { |place, call| place.proxy.armed? && call.alive? }
      directory.kill
      places.each { |place| place.proxy.heal }
      directory.launch
      calls.map(&:value)
    end

    {
      'before the call' => lambda do |places|
        directory.kill
        StoreOperations.in_parallel(places, &:run).tap { directory.launch }
      end,
      'after the call has begun, before a byte of it has arrived' => ->(places) { kill_during(places, :up) },
      'before the answer has arrived' => ->(places) { kill_during(places, :down) },
      'after the call' => lambda do |places|
        StoreOperations.in_parallel(places, &:run).tap do
          directory.kill
          directory.launch
        end
      end
    }.each do |moment, kill_and_run|
      it "#{moment} loses no acknowledged write and tears no document, and the next call works" do
        tally = Tally.new("kill -9 of #{server} #{moment}")
        all = places
        outcomes = instance_exec(all, &kill_and_run)
        tally.add(faults: 1)
        outcomes.zip(all).each do |outcome, place|
          outcome.check_next_call(place.store)
          tally.add_outcome(outcome.check(StoreOperations.contents(place.store)))
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
