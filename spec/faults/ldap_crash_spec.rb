# frozen_string_literal: true

require_relative '../support/deeds'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/tally'

[Slapd, Ds389].each do |server|
  RSpec.describe "kill -9 of #{server}" do
    include_context 'with a directory', server
    include_context 'with proxies'

    deadline = 10

    # A deed, done to a folder of its own, over a connection of its own.
    place = Struct.new(:deed, :proxy, :store) do
      def run(deadline)
        Deeds.run(deed, store, deadline)
      end
    end

    define_method(:places) do
      Deeds::ALL.map do |deed|
        proxy = new_proxy
        options = { 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline }
        place.new(deed, proxy, open_behind(proxy, options).tap { |store| Deeds.restore(store) })
      end
    end

    # Kills the server while the network keeps back what the one side says of all calls.
    def kill_during(places, direction, deadline)
      calls = places.map do |place|
        place.proxy.arm(:stall, direction, 0)
        Thread.new { place.run(deadline) }
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
        Deeds.at_once(places) { |place| place.run(deadline) }.tap { directory.launch }
      end,
      'after the call has begun, before anything has come to it' => ->(places) { kill_during(places, :up, deadline) },
      'before its answer has come' => ->(places) { kill_during(places, :down, deadline) },
      'after the call' => lambda do |places|
        Deeds.at_once(places) { |place| place.run(deadline) }.tap do
          directory.kill
          directory.launch
        end
      end
    }.each do |moment, kill_and_run|
      it "#{moment}: nothing acknowledged is lost, nothing is torn, and it is over when the server is back" do
        tally = Tally.new("kill -9 of #{server} #{moment}")
        all = places
        outcomes = instance_exec(all, &kill_and_run)
        tally.add(faults: 1)
        outcomes.zip(all).each do |outcome, place|
          outcome.odd << 'the next call fails' unless Deeds.served?(place.store)
          tally.add_outcome(outcome.judge(Deeds.contents(place.store)))
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
