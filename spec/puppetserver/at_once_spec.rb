# frozen_string_literal: true

require_relative 'puppetserver_helper'

modes = { 'one JRuby for many threads' => { multithreaded: true, max_active_instances: 8 },
          'four JRubies of one thread each' => { multithreaded: false, max_active_instances: 4 } }
modes.each do |mode, settings|
  RSpec.describe "Catalogs compiled at once by a puppetserver with #{mode}" do
    include_context 'with puppetserver', **settings
    include_context 'with slapd', tls: true

    let(:nodes) { Array.new(8) { |n| "crowd#{n}" } }
    let(:options) do
      { 'backends' => { 'default' => slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slapd.tls_uri,
                                                   'tls_cacert' => slapd.certificates.cacert) } }
    end

    # Each node writes keys of its own, and others that all of them write.
    before { environment('crowd', <<~MANIFEST, options: options) }
      $node = $trusted['certname']
      Integer[1, 20].each |$n| {
        simpkv::put("nodes/${node}/${n}", { 'node' => $node, 'n' => $n, 'float' => 9.898 })
        simpkv::put("shared/${n}", $n)
      }
      $mine = simpkv::list("nodes/${node}")['keys'].map |$n, $entry| { $entry['value'] }
      $shared = simpkv::list('shared')['keys'].map |$n, $entry| { $entry['value'] == Integer($n) }
      notify { "mine ${mine.unique.size} ${mine.map |$m| { $m['node'] }.unique}, shared ${shared.unique}": }
    MANIFEST

    def in_threads(items, &block)
      items.map { |item| Thread.new(item, &block).tap { |thread| thread.report_on_exception = false } }.map(&:value)
    end

    def pools
      environment('watch', "notify { inline_template('<%= JSON.generate(Simpkv.stats) %>'): }")
      JSON.parse(puppetserver.compile('watch').first)['pools'].select { |pool| pool.to_s.include?(slapd.tls_uri) }
    end

    it 'are those of agents one by one, over one pool for all' do
      outputs = in_threads(nodes) { |node| puppetserver.agent(node, environment: 'crowd') }
      expect(outputs).to match(nodes.map { |node| include("Notice: mine 20 [#{node}], shared [true]\n") })
      expect(in_threads([*0..7]) { Array.new(4) { puppetserver.compile('crowd') } }.flatten.uniq)
        .to eq(['mine 20 [localhost], shared [true]'])
      expect(Array.new(8) { pools.size }.uniq).to eq([1])
      expect(pools.first['servers'].first['open']).to be_between(1, 8).and eq(slapd.connections)
    end
  end
end
