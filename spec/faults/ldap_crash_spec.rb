# frozen_string_literal: true

require_relative '../support/deeds'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/tally'

[Slapd, Ds389].each do |server|
  RSpec.describe "kill -9 of #{server}" do
    include_context 'with a directory', server

    # 389-DS takes two seconds to start.
    deeds = server == Slapd ? Deeds::ALL : Deeds::ALL.select { |deed| deed.name.match?(/new folders|expect|tree/) }
    soon = 10.5

    before(:context) { @proxy = FaultyProxy.new(Integer(directory.tcp_uri[/\d+\z/])) }
    after(:context) { @proxy&.stop }

    let(:far) { open_store('ldap_uri' => "ldap://127.0.0.1:#{@proxy.port}", 'operation_timeout_seconds' => 10) }

    # Kills the server while the network keeps back what the one side says.
    def kill_during(deed, direction, soon)
      @proxy.arm(:stall, direction, 0)
      call = Thread.new { Deeds.run(deed, far, soon) }
      sleep(0.001) while @proxy.armed?
      directory.kill
      @proxy.heal
      directory.launch
      call.value
    end

    {
      'before the call' => lambda do |deed|
        directory.kill
        Deeds.run(deed, far, soon).tap { directory.launch }
      end,
      'after the call has begun, before anything has come to it' => ->(deed) { kill_during(deed, :up, soon) },
      'before its answer has come' => ->(deed) { kill_during(deed, :down, soon) },
      'after the call' => lambda do |deed|
        acknowledged = Deeds.run(deed, far, soon)
        directory.kill
        directory.launch
        acknowledged
      end
    }.each do |moment, kill_and_run|
      it "#{moment}: nothing acknowledged is lost, nothing is torn, and it is over when the server is back" do
        tally = Tally.new("kill -9 of #{server} #{moment}")
        deeds.each do |deed|
          Deeds.restore(far)
          acknowledged, odd = instance_exec(deed, &kill_and_run)
          found = Deeds.contents(far)
          odd += Deeds.odd_contents(deed, found, acknowledged)
          tally.add(faults: 1, operations: 2, anomalies: odd.map { |each| "#{deed.name}: #{each}" })
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
