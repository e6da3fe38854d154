# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/in_flight_proxy'
require_relative '../support/ldap_store'

# 389-DS withholds responses for 100 ms and more when it reads several requests at once: docs/adr/0034.
RSpec.describe 'The number of requests in flight', :heavy do
  include_context 'with proxies'

  let(:documents) { (1..12).to_h { |n| ["globals/f/k#{n}", '1'] } }
  let(:many) { be > documents.length / 2 }

  # @return [InFlightProxy]
  def proxy_before(uri, delay: 0)
    InFlightProxy.new(uri, delay: delay).tap { |proxy| proxies << proxy }
  end

  # @return [Hash{Symbol => Integer}] the most requests at once, by operation
  def at_once(proxy, more = {})
    store = open_behind(proxy, more)
    store.put('globals/first', '1')
    operations = { add: -> { store.put_many(documents) }, get: -> { store.get_many(documents.keys) },
                   replace: -> { store.put_many(documents.transform_values { '2' }) },
                   deletetree: -> { store.deletetree('globals/f') } }
    operations.transform_values { |operation| proxy.most_at_once { operation.call } }
  end

  context 'with 389-DS', :ds389 do
    include_context 'with a directory', Ds389, tls: true

    it 'is one without TLS: the responses to a batch came 100 ms late' do
      expect(at_once(proxy_before(directory.tcp_uri)).values.uniq).to eq([1])
    end

    it 'is that of the batch over TLS' do
      proxy = proxy_before(directory.tls_uri, delay: 0.01)
      expect(at_once(proxy, 'tls_cacert' => directory.certificates.cacert).values).to all(many)
    end

    it 'rises without TLS when the server is far away, and the connection is then closed' do
      proxy = proxy_before(directory.tcp_uri, delay: 0.015)
      before = directory.accepted
      counted = at_once(proxy)
      # The first four go one at a time, and responses may arrive while the others are sent.
      expect(counted.values).to all(be > 2)
      expect(directory.accepted - before).to be >= counted.length
    end
  end

  context 'with slapd' do
    include_context 'with slapd'

    it 'is that of the batch' do
      expect(at_once(proxy_before(slapd.tcp_uri, delay: 0.01)).values).to all(many)
    end
  end
end
