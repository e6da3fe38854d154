# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/estate_load'
require_relative '../support/puppet_server'
require_relative '../support/tally'

# For LOAD_SECONDS, 6 unless told, after a warm-up of a quarter of them.
RSpec.describe 'Eight nodes at a time of a puppetserver with an estate in slapd', :once do
  include_context 'with slapd', tls: true, limits: true

  attr_reader :server

  duration = Float(ENV.fetch('LOAD_SECONDS', '6'))

  # The server has the code of this checkout: the specs of puppetserver install the gem.
  before(:context) do
    library = File.expand_path('../../lib', __dir__)
    @server = PuppetServer.new(max_active_instances: 2,
                               ruby_load_path: ['/usr/lib/puppetserver/ruby/vendor_ruby', library])
  end

  after(:context) { server.stop }

  let(:site) do
    backend = slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slapd.tls_uri,
                            'tls_cacert' => slapd.certificates.cacert)
    { 'backends' => { 'default' => backend } }
  end

  it 'collect all that the others export, and nothing twice, while the server needs no more memory' do
    server.estate(site)
    server.start
    load = EstateLoad.new(server, 8)
    load.run(duration / 4, 2)
    before = load.usage
    load.run(duration, 3)
    after = load.usage
    tally = Tally.new("load on an estate: #{before} and #{after} after #{load.runs} runs")
    tally.add(operations: load.runs, anomalies: load.anomalies)
    expect(tally.anomalies).to eq([])
    growth = after.merge(before) { |_, last, first| last - first }
    expect(growth).to match(heap: be < 64, resident: be < 256, files: be < 16, threads: be < 16)
  end
end
