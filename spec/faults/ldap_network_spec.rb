# frozen_string_literal: true

require_relative '../support/deeds'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/tally'

[Slapd, Ds389].each do |server|
  RSpec.describe "A network that fails in the midst of a call, before #{server}" do
    include_context 'with a directory', server, tls: true
    include_context 'with proxies'

    # How many places in what each side says are broken so, in each call: those that cost no waiting are many.
    places = { reset: 10, cut: 10, delay: 2, stall: 1, truncate: 1 }
    deadline = 3

    # An answer in which bytes are missing can be taken for any other, such as a refusal.
    errors = Hash.new(Deeds::ERRORS).merge(truncate: [Simpkv::Error])

    # @return [Array<Array(Symbol, Integer)>] where to break what the block does, by chance: directions, and after how
    #   many bytes
    def sample(proxy, count, random, &block)
      proxy.traffic(&block).flat_map do |direction, length|
        (0...length).to_a.sample(count, random: random).map { |byte| [direction, byte] }
      end
    end

    # @return [Random] the same for the same seed, whichever thread asks first
    def random_for(deed, fault)
      Random.new(RSpec.configuration.seed + "#{deed.name} #{fault}".sum)
    end

    # Breaks something while the block does a deed, looks what came of it, and puts in order again what is stored.
    #
    # @yieldreturn [Array(Deeds::Outcome, Simpkv::Store)] and where the next call goes
    def break_one(tally, fault, where, proxy, direct)
      proxy.arm(fault, *where)
      outcome, store = yield
      came = proxy.heal
      outcome.odd << 'the next call fails' unless Deeds.served?(store)
      found = Deeds.contents(direct)
      Deeds.restore(direct, found)
      tally.add_outcome(outcome.judge(found), "#{fault} at #{where.join(' ')}", faults: came ? 1 : 0)
    end

    places.each do |fault, count|
      it "loses and tears nothing, holds nobody up, and lets the next call work: #{fault}" do
        tally = Tally.new("network before #{server}, in a call: #{fault}")
        Deeds.at_once do |deed|
          random = random_for(deed, fault)
          here = { 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline }
          direct = open_store(here)
          far = open_behind(proxy = new_proxy, here)
          Deeds.restore(far)
          broken = sample(proxy, count, random) { deed.call.call(far) }
          Deeds.restore(direct)
          broken.each do |where|
            break_one(tally, fault, where, proxy, direct) { [Deeds.run(deed, far, deadline, errors[fault]), far] }
          end
        end
        expect(tally.anomalies).to eq([])
      end
    end

    # Connecting, handshakes, the bind, what the server can do.
    { 'ldap' => {}, 'StartTLS' => { 'enable_tls' => true }, 'ldaps' => {} }.each do |transport, options|
      it "does no more harm to the first call of a connection, over #{transport}" do
        tally = Tally.new("network before #{server}, first call over #{transport}")
        tls = transport == 'ldap' ? {} : { 'tls_cacert' => directory.certificates.cacert }
        Deeds.at_once(Deeds::ALL.values_at(0, 4).product(places.to_a)) do |deed, (fault, count)|
          here = { 'id' => "f#{LdapIds.next}", 'operation_timeout_seconds' => deadline, **options, **tls }
          direct = open_store('id' => here['id'])
          Deeds.restore(direct)
          proxy = new_proxy(transport == 'ldaps' ? directory.tls_uri : directory.tcp_uri)
          random = random_for(deed, fault)
          broken = sample(proxy, count, random) { open_behind(proxy, here).get("#{Deeds::PLACE}/a") }
          broken.each do |where|
            break_one(tally, fault, where, proxy, direct) do
              far = open_behind(proxy, here)
              [Deeds.run(deed, far, deadline, errors[fault]), far]
            end
          end
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
