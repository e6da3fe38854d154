# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../support/console_estate'
require_relative '../support/console_pages'

RSpec.describe 'The pages about resources' do
  include ConsoleEstate
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', indexed: true

  # A type with a namespace and titles that are no segments of a path.
  let(:titles) { ['/etc/hosts', '.', "two\nlines", 'a b&c', '<b>'] }

  context 'with three nodes' do
    before do
      save('web1', { 'kernel' => 'Linux' },
           'host' => [resource('db', { 'ip' => '192.0.2.1', 'comment' => 'pl4in', 'secret_password' => 'pl4nted' },
                               'tags' => %w[hosts], 'file' => '/etc/site.pp', 'line' => 7)],
           'nginx::vhost' => titles.map { |title| resource(title, { 'port' => [80, 443] }) })
      save('web2', { 'kernel' => 'Linux' }, 'host' => [resource('db', { 'ip' => '192.0.2.2' })])
      save('web3', { 'kernel' => 'Linux' }, 'host' => [resource('other', { 'ip' => '192.0.2.3' })])
      catalog = { 'name' => 'web3', 'version' => 1, 'environment' => 'production', 'edges' => [], 'classes' => [],
                  'resources' => [resource('db', { 'ip' => '192.0.2.4' }, 'type' => 'Host', 'exported' => false)] }
      estate.catalogs.put('web3', catalog)
    end

    # Without it, the store keeps no catalogs.
    let(:options) { super().merge('estate' => { 'catalogs' => true }) }

    it 'list the types with the numbers of resources, as a filter says' do
      expect(cells(page('/resources'))).to eq([%w[Type Resources], %w[Host 4], ['Nginx::Vhost', titles.length.to_s]])
      expect(cells(page('/resources?filter=VHO')).drop(1)).to eq([['Nginx::Vhost', titles.length.to_s]])
      expect(text(page('/resources?filter=.*'))).to include('No type has this text.')
      expect(cells(page('/resources?limit=1&offset=1')).drop(1).length).to eq(1)
    end

    it 'list the titles of a type with the numbers of nodes, exported or not' do
      expect(cells(page('/resources/Host')))
        .to eq([%w[Title Exported Nodes], %w[db no 1], %w[db yes 2], %w[other yes 1]])
      expect(cells(page('/resources/Host?exported=no')).drop(1)).to eq([%w[db no 1]])
      expect(cells(page('/resources/Host?exported=yes&filter=OTH')).drop(1)).to eq([%w[other yes 1]])
      expect(text(page('/resources/Nosuch'))).to include('No resource of this type, of an active node,')
    end

    it 'show the nodes of a resource, with parameters, tags and place' do
      rows = cells(page('/resources/Host/db')).drop(1)
      expect(rows.map(&:first)).to eq(%w[web1 web2 web3])
      expect(rows.first).to match(['web1', 'production', 'yes', 'comment pl4in ip 192.0.2.1', 'hosts',
                                   '/etc/site.pp line 7'])
      expect(rows.last.values_at(2, 5)).to eq(%w[no unknown])
      expect(links(page('/resources/Host/db'))).to include('/nodes/web1')
      expect(page('/resources/Host/db').body).not_to include('password')
      expect(text(page('/resources/Host/nosuch'))).to include('No active node has this resource.')
    end

    # The pages were there for any name.
    it 'are not there for a type or a resource that no node has' do
      { '/resources/Nope' => 404, '/resources/Nope?filter=x' => 404, '/resources/Nope/x' => 404,
        '/resources/Host?title=nope' => 404, '/resources/Host?filter=nope' => 200 }.each do |path, status|
        expect([path, page(path).status]).to eq([path, status])
      end
    end

    it 'lead to every title' do
      addresses = links(page('/resources/Nginx::Vhost')).grep(/title=/)
      expect(addresses.length).to eq(titles.length)
      expect(addresses.map { |address| cells(page(address)).length }.uniq).to eq([2])
    end
  end

  context 'when all nodes have expired' do
    let(:options) { super().merge('estate' => { 'node_ttl' => '1s' }) }

    # The page said that nothing is stored.
    it 'say that active nodes have none' do
      save('old1', { 'kernel' => 'Linux' }, 'host' => [resource('db', { 'ip' => '192.0.2.1' })])
      eventually(within: 60, errors: RuntimeError) { text(page('/nodes?state=inactive')).include?('old1') }
      expect(text(page('/resources')))
        .to include('No resources of active nodes are stored. Nodes that have expired do not count.')
    end
  end

  it 'say what would fill them' do
    estate
    expect(text(page('/resources'))).to include('No resources of active nodes are stored.', 'puppet agent --test',
                                                'catalogs')
  end

  it 'show titles, parameters and tags with markup as texts' do
    markup = ConsoleEstate::MARKUP.last
    parameters = { markup => markup, 'list' => [markup] }
    save('web1', {}, 'host' => [resource(markup, parameters, 'tags' => [markup], 'file' => markup)])
    query = URI.encode_www_form('title' => markup, 'filter' => markup, 'exported' => markup)
    pages = ['/resources', "/resources?#{query}", '/resources/Host', "/resources/Host?#{query}",
             "/resources/#{URI.encode_www_form_component(markup).gsub('+', '%20')}"].map { |path| page(path) }
    expect(pages).to all(harmless)
    expect(pages.map(&:status)).to eq([*[200] * 4, 404])
    expect(text(page("/resources/Host?#{query}")).scan(markup).length).to be >= 5
  end

  it 'stay small, whatever is stored' do
    parameters = (0..100).to_h { |number| ["parameter#{number}", '<' * 1000] }
    30.times { |number| save("web#{number}", {}, 'host' => [resource('x', parameters, 'tags' => ['"' * 10_000])]) }
    response = page('/resources/Host/x')
    expect(response.body.bytesize).to be < 100_000
    expect(text(response)).to include('1 to 20 of 30', 'Long values are cut')
  end
end
