# frozen_string_literal: true

require_relative '../support/deeds'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/patience'
require_relative '../support/tally'

[Slapd, Ds389].each do |server|
  RSpec.describe "Calls, before #{server}" do
    include Patience

    include_context 'with a directory', server, tls: true, idle: 1
    include_context 'with proxies'

    deadline = 3

    # Opens a store for each deed, on a folder of its own where all is as it should be before.
    #
    # @yieldparam options [Hash]
    # @yieldreturn [Simpkv::Store] with these
    # @return [Array<Array(Deeds::Deed, Simpkv::Store)>]
    def places(deadline)
      Deeds.at_once do |deed|
        options = { 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline }
        Deeds.restore(open_store(options))
        [deed, yield(options)]
      end
    end

    def connect(places)
      Deeds.at_once(places) { |_, store| store.exist?(Deeds::PLACE) }
    end

    # Does all deeds while the block's state lasts, and looks what came of them when it is over.
    #
    # @param faults [Integer] how many the state is
    # @return [Array<Deeds::Outcome>]
    def run(name, places, deadline, faults: 1)
      outcomes = nil
      yield -> { outcomes = Deeds.at_once(places) { |deed, store| Deeds.run(deed, store, deadline) } }
      tally = Tally.new("#{name}, before #{directory.class}")
      tally.add(faults: faults)
      outcomes.zip(places) do |outcome, (_, store)|
        outcome.odd << 'the next call fails' unless Deeds.served?(store)
        tally.add_outcome(outcome.judge(Deeds.contents(store)))
      end
      expect(tally.anomalies).to eq([])
      outcomes
    end

    it 'do not notice that the server was restarted' do
      all = places(30) { |options| open_apart(options) }
      connect(all)
      directory.restart
      outcomes = run('restarted', all, 30, &:call)
      expect(outcomes.map(&:acknowledged)).to all(be(true))
    end

    # How many connections to it over TCP the server has not closed yet; 01 is ESTABLISHED.
    def left_open
      port = format(':%04X', Integer(directory.tcp_uri[/\d+\z/]))
      File.readlines('/proc/net/tcp').count { |line| line.split[2].end_with?(port) && line.split[3] == '01' }
    end

    it 'do not notice that the server closed the connection for being idle' do
      all = places(30) { |options| open_apart(options.merge('ldap_uri' => directory.tcp_uri)) }
      connect(all)
      expect(left_open).to be >= all.length
      eventually { directory.idled && left_open.zero? }
      outcomes = run('idle connection closed', all, 30, faults: all.length, &:call)
      expect(outcomes.map(&:acknowledged)).to all(be(true))
    end

    it 'end in time on a connection whose other end is gone and has not said so' do
      all = places(deadline) do |options|
        proxy = new_proxy
        open_behind(proxy, options).tap { |store| store.exist?(Deeds::PLACE) && proxy.arm(:stall, :up, 0) }
      end
      expect(run('half-open connection', all, deadline, faults: all.length, &:call).map(&:acknowledged))
        .to all(be(false))
    end

    { 'ldap' => {}, 'StartTLS' => { 'enable_tls' => true }, 'ldaps' => {} }.each do |transport, more|
      it "end in time when the server accepts connections and never answers, over #{transport}" do
        uri = transport == 'ldaps' ? directory.tls_uri : directory.tcp_uri
        tls = { 'ldap_uri' => uri, 'tls_cacert' => directory.certificates.cacert, **more }
        all = places(deadline) { |options| open_apart(options.merge(tls)) }
        outcomes = run("accepts and never answers, over #{transport}", all, deadline) do |call|
          directory.freeze_process(&call)
        end
        expect(outcomes.map(&:acknowledged)).to all(be(false))
      end
    end

    it 'end in time when the server falls silent' do
      all = places(deadline) { |options| open_apart(options) }
      connect(all)
      outcomes = run('falls silent', all, deadline) { |call| directory.freeze_process(&call) }
      expect(outcomes.map(&:acknowledged)).to all(be(false))
    end

    it 'end in time when the name of the server has no address' do
      tally = Tally.new("name without an address, before #{server}")
      outcomes = Deeds.at_once do |deed|
        Deeds.run(deed, open_apart('ldap_uri' => 'ldap://simpkv.invalid', 'operation_timeout_seconds' => deadline),
                  deadline)
      end
      outcomes.each { |outcome| tally.add_outcome(outcome, faults: 1, operations: 1) }
      expect(tally.anomalies).to eq([])
      expect(outcomes.map(&:acknowledged)).to all(be(false))
    end
  end
end
