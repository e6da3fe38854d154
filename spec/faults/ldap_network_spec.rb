# frozen_string_literal: true

require_relative '../support/deeds'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'
require_relative '../support/tally'

[Slapd, Ds389].each do |server|
  RSpec.describe "A network that fails in the midst of a call, before #{server}" do
    include_context 'with a directory', server, tls: true

    # How many places in what each side says are broken so, in each call: those that cost no waiting are many.
    places = { reset: 10, cut: 10, delay: 1, stall: 1, truncate: 1 }
    places.transform_values! { |count| (count / 4.0).ceil } if server == Ds389

    before(:context) do
      @proxies = %i[tcp_uri tls_uri].to_h { |uri| [uri, FaultyProxy.new(Integer(directory.public_send(uri)[/\d+\z/]))] }
      @random = Random.new(RSpec.configuration.seed)
    end

    after(:context) { @proxies&.each_value(&:stop) }

    # Past the proxies.
    let(:direct) { open_store }

    # Behind one, in a pool of its own, so that it has no connection yet.
    def open_far(proxy, options = {})
      uri = "#{proxy == @proxies[:tls_uri] ? 'ldaps' : 'ldap'}://127.0.0.1:#{proxy.port}"
      open_store({ 'ldap_uri' => uri, 'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}"),
                   'operation_timeout_seconds' => 1 }.merge(options))
    end

    # @return [Array<Array(Symbol, Integer)>] where to break what the block does, by chance: directions, and after how
    #   many bytes
    def sample(proxy, count, &block)
      proxy.traffic(&block).flat_map do |direction, length|
        (0...length).to_a.sample(count, random: @random).map { |byte| [direction, byte] }
      end
    end

    # Does a deed with a fault in it, and looks what came of it.
    #
    # @param where [Array(Symbol, Integer)] direction and byte
    def break_one(tally, deed, store, proxy, fault, where)
      proxy.arm(fault, *where)
      acknowledged, odd = Deeds.run(deed, store, 1.5)
      came = proxy.heal
      odd << 'the next call answers something else' unless store.exist?(Deeds::PLACE)
      found = Deeds.contents(direct)
      odd.concat(Deeds.odd_contents(deed, found, acknowledged))
      Deeds.restore(direct, found)
      tally.add(faults: came ? 1 : 0, operations: 2,
                anomalies: odd.map { |each| "#{deed.name}, #{fault} at #{where.join(' ')}: #{each}" })
    end

    places.each do |fault, count|
      it "loses and tears nothing, holds nobody up, and lets the next call work: #{fault}" do
        tally = Tally.new("network before #{server}, in a call: #{fault}")
        proxy = @proxies[:tcp_uri]
        far = open_far(proxy)
        Deeds::ALL.each do |deed|
          [far, direct].each { |store| Deeds.restore(store) }
          broken = sample(proxy, count) { deed.call.call(far) }
          Deeds.restore(direct)
          broken.each { |where| break_one(tally, deed, far, proxy, fault, where) }
        end
        expect(tally.anomalies).to eq([])
      end
    end

    # Connecting, handshakes, the bind, what the server can do.
    { 'ldap' => [:tcp_uri, {}], 'StartTLS' => [:tcp_uri, { 'enable_tls' => true }], 'ldaps' => [:tls_uri, {}] }
      .each do |transport, (uri, options)|
      it "does no more harm to the first call of a connection, over #{transport}" do
        tally = Tally.new("network before #{server}, first call over #{transport}")
        proxy = @proxies[uri]
        more = transport == 'ldap' ? options : options.merge('tls_cacert' => directory.certificates.cacert)
        Deeds.restore(direct)
        Deeds::ALL.values_at(0, 4).product(places.to_a).each do |deed, (fault, count)|
          sample(proxy, count) { open_far(proxy, more).get("#{Deeds::PLACE}/a") }.each do |where|
            break_one(tally, deed, open_far(proxy, more), proxy, fault, where)
          end
        end
        expect(tally.anomalies).to eq([])
      end
    end
  end
end
