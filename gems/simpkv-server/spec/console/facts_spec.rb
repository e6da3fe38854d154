# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../support/console_estate'
require_relative '../support/console_pages'

RSpec.describe 'The pages about facts' do
  include ConsoleEstate
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', indexed: true

  # @return [String] the address of a page of a fact whose path is a parameter
  def fact_at(*keys)
    "/facts?#{URI.encode_www_form('path' => JSON.generate(keys))}"
  end

  context 'with three nodes' do
    before do
      save('web1', 'kernel' => 'Linux', 'os' => { 'family' => 'Debian', 'release' => { 'major' => '12' } },
                   'processors' => { 'models' => %w[Xeon Atom] }, 'cores' => 4, 'db_password' => 'pl4nted')
      save('web2', 'kernel' => 'Linux', 'os' => { 'family' => 'Debian', 'release' => { 'major' => 12 } },
                   'mountpoints' => { '/boot' => { 'size' => 1 } },
                   'vlans' => { 'eth0.1' => [{ 'ip' => '192.0.2.1' }], '7' => 'seven' }, 'cores' => '4')
      save('db1', 'kernel' => 'windows', 'os' => { 'family' => 'windows' }, 'disks' => [1, 2])
    end

    it 'list the names with the numbers of nodes, as a filter says' do
      expect(cells(page('/facts'))).to include(%w[kernel 3], %w[cores 2], %w[disks 1])
      expect(cells(page('/facts?filter=KERN'))).to eq([%w[Fact Nodes], %w[kernel 3]])
      expect(text(page('/facts?filter=.*'))).to include('No name of a fact has this text.')
      expect(page('/facts').body).not_to include('password')
    end

    it 'show the values of a fact, the most frequent first, in a chart and a table' do
      response = page('/facts/kernel')
      expect(cells(response)).to eq([%w[Value Nodes], %w[Linux 2], %w[windows 1]])
      expect(response.body).to include('<svg class="chart" role="group"', '<title>Nodes by the value of kernel</title>')
      expect(cells(page('/facts/cores'))).to eq([%w[Value Nodes], ['"4"', '1'], %w[4 1]])
      expect(cells(page('/facts/disks'))).to include(['[1,2]', '1'])
      expect(text(page('/facts/nosuch'))).to include('No active node has this fact.')
    end

    it 'show the values at a path, and the paths below it' do
      dotted = page('/facts/os.release.major')
      expect([dotted.status, cells(dotted)]).to eq([200, cells(page('/facts/os/release/major'))])
      expect(page('/facts/os.nosuch').status).to eq(404)
      # A bar leads to the nodes.
      family = page('/facts/os/family')
      bar = family.body[/<a href="([^"]*)" aria-label="Debian: 2">/, 1]
      expect(cells(page(CGI.unescapeHTML(bar))).length).to eq(3)
      expect(cells(page('/facts/os/family'))).to eq([%w[Value Nodes], %w[Debian 2], %w[windows 1]])
      expect(cells(page('/facts/os/release/major'))).to contain_exactly(
        %w[Value Nodes], ['"12"', '1'], %w[12 1], ['no value', '1']
      )
      expect(links(page('/facts/os'))).to include('/facts/os/family', '/facts/os/release/major')
      expect(cells(page('/facts/os/release'))).to include(['os.release.major'])
    end

    it 'have links to every path, also to one that is no path of a page' do
      expect(links(page('/facts/processors'))).to include('/facts/processors/models/1')
      expect(cells(page('/facts/processors/models/1'))).to include(%w[Atom 1], ['no value', '2'])
      expect(links(page('/facts/mountpoints'))).to include(fact_at('mountpoints', '/boot', 'size'))
      expect(cells(page(fact_at('mountpoints', '/boot', 'size')))).to include(%w[1 1], ['no value', '2'])
      # A query of the inventory cannot name the first of these.
      expect(links(page('/facts/vlans'))).to include('/facts/vlans/eth0.1/0/ip', fact_at('vlans', '7'))
      expect(cells(page('/facts/vlans/eth0.1/0/ip'))).to eq([%w[Value Nodes], ['"192.0.2.1"', '1']])
      expect(cells(page(fact_at('vlans', '7')))).to include(%w[seven 1])
    end

    it 'lead from a value to its nodes' do
      ['/facts/kernel', '/facts/os/family', '/facts/cores', '/facts/os/release/major', '/facts/os', '/facts/disks',
       fact_at('mountpoints', '/boot', 'size'), '/facts/vlans/eth0.1/0/ip'].each do |path|
        counts = cells(page(path)).to_h { |value, count| [value, count] }
        links(page(path)).grep(/[?&]value=/).each do |address|
          nodes = cells(page(address)).drop(1)
          value = text(page(address))[/have the value (.*) \. Nodes/, 1]
          expect([address, nodes.length.to_s]).to eq([address, counts.fetch(value)])
        end
      end
      expect(links(page('/facts/kernel?value=%22windows%22'))).to include('/nodes/db1')
      expect(text(page('/facts/kernel?value=%22Plan9%22'))).to include('No active node has this value now.')
    end

    it 'lead to the nodes without a value' do
      { '/facts/cores' => %w[db1], '/facts/os/release/major' => %w[db1], '/facts/kernel' => [],
        '/facts/vlans/eth0.1/0/ip' => %w[db1 web1], fact_at('vlans', '7') => %w[db1 web1] }.each do |path, names|
        address = links(page(path)).grep(%r{\A/query\?}).first
        expect([path, cells(page(address)).drop(1).flatten]).to eq([path, names])
      end
    end

    # The pages were there for any name.
    it 'are not there for a fact that no node has' do
      { '/facts/nope' => 404, '/facts/os/nope' => 404, '/facts/os' => 200,
        '/facts/kernel?value=%22Plan9%22' => 200 }.each do |path, status|
        expect([path, page(path).status]).to eq([path, status])
      end
    end

    it 'refuse parameters that are wrong' do
      ['/facts?path=x', '/facts?path=%7B%7D', '/facts?path=%5B1%5D', '/facts/kernel?value=Linux', '/facts?filter[]=a',
       '/facts?filter=%ff', '/facts?filter=%zz'].each do |path|
        expect([path, page(path).status]).to eq([path, 400])
      end
    end
  end

  context 'when all nodes have expired' do
    let(:options) { super().merge('estate' => { 'node_ttl' => '1s' }) }

    it 'say that active nodes have none' do
      save('old1', { 'kernel' => 'Linux' }, 'host' => [resource('db', { 'ip' => '192.0.2.1' })])
      eventually(within: 60, errors: RuntimeError) { text(page('/nodes?state=inactive')).include?('old1') }
      expect(text(page('/facts'))).to match(/the numbers of active nodes that have them .* kernel 0/)
      expect(text(page('/facts/nosuch'))).to include('No active node has this fact.')
    end
  end

  it 'say what would fill them' do
    estate
    expect(text(page('/facts'))).to include('No facts are stored.', 'puppet agent --test')
  end

  it 'show names and values with markup as texts' do
    ConsoleEstate::MARKUP.each_with_index do |markup, index|
      save("web#{index}", "fact#{markup}" => markup, 'kernel' => markup, 'os' => { markup => markup })
    end
    ConsoleEstate::MARKUP.each do |markup|
      query = URI.encode_www_form('value' => JSON.generate(markup), 'filter' => markup)
      pages = ['/facts', "/facts?#{query}", '/facts/kernel', "/facts/kernel?#{query}", '/facts/os',
               fact_at('os', markup), fact_at("fact#{markup}"), fact_at(markup)].map { |path| page(path) }
      expect(pages).to all(harmless)
      expect(pages.map(&:status)).to eq([*[200] * 7, 404])
      expect(links(page("/facts?#{query}"))).to include(fact_at("fact#{markup}")).or include(start_with('/facts/fact'))
    end
  end

  it 'stay small, whatever is stored' do
    many = (0..500).to_h { |number| ["key#{number}", '<' * 100] }
    60.times { |number| save("web#{number}", 'long' => "#{'"' * 10_000}#{number}", 'many' => many) }
    response = page('/facts/long')
    expect(response.body.bytesize).to be < 100_000
    expect(text(response)).to include('There are 10 others.', 'Long values are cut')
    expect(page('/facts/many').body.bytesize).to be < 100_000
    expect(text(page('/facts/many'))).to include('1 to 50 of 501')
  end

  # The answer named the document, and not what to do.
  it 'name a document that no node can have, which keeps the index from answering, and what to do about it' do
    save('web1', 'kernel' => 'Linux')
    store.put('globals/estate/status/x"<img src=x>', store.get('globals/estate/status/web1'))
    why = %r{globals/estate/status': key 'x"<img src=x>' contains .*delete it by hand: the file of this path below}
    response = page('/facts')
    expect([response.status, text(response)]).to match([503, why])
    expect(response).to harmless
    expect(client.get('/readyz').data['index']).to include('ok' => false, 'error' => why)
    eventually(errors: RuntimeError) { service.log.match?(why) }
    store.delete('globals/estate/status/x"<img src=x>')
    eventually { page('/facts').status == 200 }
  end

  context 'without queries' do
    let(:section) { { 'query_workers' => 0 } }

    it 'say so' do
      expect(page('/facts')).to have_attributes(status: 503, body: include('query_workers'))
      expect(page('/resources')).to have_attributes(status: 503, body: include('query_workers'))
    end
  end

  context 'with rights for another part of the API' do
    include_context 'with a service for all examples', '--bind', 'ssl://127.0.0.1:0', indexed: true

    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/v1/nodes/**'] }] }
    end

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    def browser
      cert, key = certificates.issue(subject: 'reader.example.com', names: nil)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    it 'say that the caller may not see them' do
      save('web1', 'kernel' => 'pl4nted')
      %w[/facts /facts/kernel /facts/kernel?value=%22pl4nted%22 /resources /resources/File?title=a
         /query?query=facts%7B%7D /query/csv?query=facts%7B%7D].each do |path|
        response = page(path)
        expect([path, response.status]).to eq([path, 403])
        expect(text(response)).to include("'rights' of 'server' does not allow it")
      end
    end
  end
end
