# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../../../../spec/support/ldap_store'
require_relative '../support/estate_load'
require_relative '../../../../spec/support/puppet_server'
require_relative '../../../../spec/support/tally'

# In windows of a quarter of LOAD_SECONDS, 2 unless told, and of two runs of each node at least. The server interprets
# its code and keeps no metrics, so that neither compiled code nor metrics of the resources grow.
RSpec.describe 'Eight nodes at a time of a puppetserver with an estate in slapd', :long, :once do
  include_context 'with slapd', tls: true, limits: true

  attr_reader :server

  duration = Float(ENV.fetch('LOAD_SECONDS', '2'))

  # The server has the code of this checkout: the specs of puppetserver install the gem.
  before(:context) do
    library = Dir[File.expand_path('../../../../{lib,gems/*/lib}', __dir__)]
    @server = PuppetServer.new(max_active_instances: 2, compile_mode: 'off', profiler: { enabled: false },
                               ruby_load_path: ['/usr/lib/puppetserver/ruby/vendor_ruby', *library])
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
    usages, exceeded = use_until_flat(load, duration / 4)
    tally = Tally.new(['load on an estate', *usages].join("\n  "))
    tally.add(operations: load.runs, anomalies: load.anomalies)
    expect(tally.anomalies).to eq([])
    expect(exceeded).to eq({}), -> { "no two windows are flat; the last ones: #{exceeded}" }
  end

  # A leak grows in every window of the load. Caches, buffers and code grow in some windows, most of them in the first
  # 100 runs. So the load goes on until two windows in a row are flat. The first usage is left out: after it, the server
  # still drops what its start has left, which would hide a leak.
  #
  # @param load [EstateLoad]
  # @param seconds [Numeric] of a window
  # @param most [Integer] the largest number of windows
  # @return [Array(Array<EstateUsage>, Hash)] the usage after each window, and what the last two have exceeded
  def use_until_flat(load, seconds, most: 20)
    load.run(seconds, 2)
    usages = []
    until usages.length == most
      load.run(seconds, 2)
      usages << load.usage
      exceeded = usages.length < 4 ? nil : excess(*usages.values_at(-3, -1))
      break if exceeded == {}
    end
    [usages, exceeded]
  end

  # Two windows have 32 runs at least. If each run keeps the document of its facts, the data grow by 4.5 KB a run, which
  # is 145 KB in them. Java's own compiler takes native memory too, some MB while the server warms up: ffi_memory_spec
  # and ldap_tls_spec count the library's exactly, without it.
  #
  # @return [Hash{Symbol => Object}] the growth between two moments that exceeds its limit, and what has grown most
  def excess(before, after)
    growth = after.since(before)
    limits = { data: 60_000 + (300 * growth[:runs]), native: (16 << 20) + (1000 * growth[:runs]), heap: 64 << 20,
               resident: 256 << 20, files: 16, threads: 16 }
    exceeded = growth.select { |name, grown| limits.key?(name) && grown >= limits[name] }
    exceeded.empty? ? {} : exceeded.merge(runs: growth[:runs], most: after.grown_most(before))
  end
end
