# frozen_string_literal: true

require_relative 'puppetserver_helper'

{ 'one JRuby for many threads' => { multithreaded: true },
  'one JRuby for many threads, which compiles Ruby to bytecode' => { multithreaded: true, long: true },
  'two JRubies of one thread each' => { multithreaded: false } }.each do |mode, tags|
  RSpec.describe "Catalogs compiled at once by a puppetserver with #{mode}", **tags do
    include_context 'with puppetserver'
    include_context 'with slapd', tls: true

    let(:nodes) { Array.new(8) { |n| "node#{n}" } }
    let(:options) do
      { 'backends' => { 'default' => slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slapd.tls_uri,
                                                   'tls_cacert' => slapd.certificates.cacert) } }
    end

    # Puppet does not load its own classes thread-safely: the first catalog loads them.
    before do
      environment('first', 'notify { "loaded": }')
      puppetserver.compile('first')
    end

    # Each node writes keys of its own, and keys that all nodes write.
    before { environment('many', <<~MANIFEST, options: options) }
      $node = inline_template('<%= scope.compiler.node.name %>')
      Integer[1, 10].each |$n| {
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

    it 'store the same keys as when they are compiled one by one, over one pool' do
      titles = in_threads(nodes) { |node| Array.new(2) { puppetserver.compile('many', node: node) } }
      expect(titles).to eq(nodes.map { |node| [["mine 10 [#{node}], shared [true]"]] * 2 })
      expect(Array.new(4) { pools.size }.uniq).to eq([1])
      expect(pools.first['servers'].first['open']).to be_between(1, 8).and eq(slapd.connections)
    end
  end
end
