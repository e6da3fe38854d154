# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../support/ldap_store'
require_relative '../support/estate_load'
require_relative '../support/puppet_server'
require_relative '../support/tally'

# For LOAD_SECONDS, 6 unless told, after a warm-up of a quarter of them. The server interprets its code and keeps no
# metrics, so that neither compiled code nor metrics of the resources grow.
RSpec.describe 'Eight nodes at a time of a puppetserver with an estate in slapd', :once do
  include_context 'with slapd', tls: true, limits: true

  attr_reader :server

  duration = Float(ENV.fetch('LOAD_SECONDS', '6'))

  # The server has the code of this checkout: the specs of puppetserver install the gem.
  before(:context) do
    library = File.expand_path('../../lib', __dir__)
    @server = PuppetServer.new(max_active_instances: 2, compile_mode: 'off', profiler: { enabled: false },
                               ruby_load_path: ['/usr/lib/puppetserver/ruby/vendor_ruby', library])
  end

  after(:context) { server.stop }

  let(:site) do
    backend = slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slapd.tls_uri,
                            'tls_cacert' => slapd.certificates.cacert)
    { 'backends' => { 'default' => backend } }
  end

  it 'collect all that the others export, and nothing twice, while the server needs no more memory' do
    Simpkv::Estate.new(site).make
    server.estate(site)
    server.start
    load = EstateLoad.new(server, 8)
    load.run(duration / 4, 2)
    usages = Array.new(4) do
      load.run(duration / 4, 1)
      load.usage
    end
    tally = Tally.new(['load on an estate', *usages].join("\n  "))
    tally.add(operations: load.runs, anomalies: load.anomalies)
    expect(tally.anomalies).to eq([])
    expect_flat(*usages.values_at(1, 3))
  end

  # In the second half of ten minutes, the data shrink by 6 KB. If each run keeps the document of its facts, they grow
  # by 4,830 bytes a run. In a short load, they grow by 280 KB, because few runs have warmed the server up. Java's own
  # compiler takes native memory too, some MB while the server warms up: ffi_memory_spec and ldap_tls_spec count the
  # library's exactly, without it.
  def expect_flat(before, after)
    growth = after.since(before)
    limits = { data: 600_000 + (300 * growth[:runs]), native: (16 << 20) + (1000 * growth[:runs]), heap: 64 << 20,
               resident: 256 << 20, files: 16, threads: 16 }
    exceeded = limits.select { |name, limit| growth[name] >= limit }
    expect(exceeded).to eq({}), -> { "#{growth}; most: #{after.grown_most(before)}" }
  end
end
