# frozen_string_literal: true

require_relative 'inspection_helper'
require_relative '../../../../spec/support/burst_proxy'
require_relative '../../../../spec/support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "Nodes that the terminus simpkv inspects on #{server.name}", **tags do
    include EstateSite
    include EstateTermini
    include InspectedNodes

    include_context 'with a directory', server

    let(:proxy) { BurstProxy.new(directory.tcp_uri) }
    let(:backend) { { 'type' => 'ldap' }.merge(directory.options('ldap_uri' => proxy.uri, 'id' => id)) }

    after { proxy.stop }

    it_behaves_like 'inspected nodes'

    it 'write nothing if nothing has changed since the last inspection' do
      changed = rule('set-attribute', '/parameters/dc', '{inventory.os.name}')
      rule('extend-attribute', '/parameters/tags', 'new')
      parameters = { 'tags' => %w[new], 'dc' => 'Debian' }
      expect(find.parameters).to include(parameters)
      expect(proxy.hold([]) { expect(find.parameters).to include(parameters) }.flatten.uniq).to eq(%i[search])

      rules.update(changed['uuid'], { 'actions' => [{ 'op' => 'set-attribute', 'args' => %w[/parameters/dc fra1] }] })
      parameters['dc'] = 'fra1'
      expect(proxy.hold([]) { expect(find.parameters).to include(parameters) }.flatten - %i[search]).to eq(%i[modify])
      expect(proxy.hold([]) { expect(find.parameters).to include(parameters) }.flatten.uniq).to eq(%i[search])
      expect(estate.inspections.get('web1')['record']['parameters']).to eq(parameters)
    end

    # Each compiler has facts of its own, so that the stored record says which compiler was first.
    it 'get the record of the first of many compilers that discover them at once' do
      rule('extend-attribute', '/parameters/compilers', '{inventory.compiler}')
      opened = Array.new(6) { Simpkv::Estate.new({ 'backends' => { 'default' => backend }, 'estate' => site_options }) }
      %w[web1 web2 web3].each do |name|
        found = opened.each_with_index.map do |compiler, number|
          Thread.new { Simpkv::Inspection::Inspector.of(compiler, []).perform(name, { 'compiler' => number }).record }
        end
        found.each(&:join)
        first, *others = estate.nodes.get(name)['parameters']['compilers']
        expect(others).to eq([])
        expect(found.map { |thread| thread.value['parameters']['compilers'] })
          .to eq(Array.new(6) { |number| [first, number].uniq })
      end
      expect(estate.inspections.names.length).to eq(3)
    end
  end
end
