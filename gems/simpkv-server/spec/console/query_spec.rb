# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../support/console_estate'
require_relative '../support/console_pages'

RSpec.describe 'The page for queries' do
  include ConsoleEstate
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', indexed: true

  def ask(query, page = '/query', **more)
    page("#{page}?#{URI.encode_www_form(more.merge(query: query))}")
  end

  context 'with nodes' do
    before do
      12.times do |number|
        save(format('web%02d', number), { 'kernel' => 'Linux', 'os' => { 'family' => %w[Debian RedHat][number % 2] } },
             'host' => [resource("host#{number}", { 'ip' => "192.0.2.#{number}" })])
      end
    end

    it 'asks nothing until a person does' do
      expect(text(page('/query'))).to include('Query in PQL', 'query_seconds', 'by default 20 seconds')
      expect(page('/query').body).not_to include('id="answer"')
      expect(page('/query?query=%20').body).not_to include('id="answer"')
    end

    it 'answers rows without members with a table that leads to the nodes' do
      response = ask('inventory[certname, facts.os.family] { facts.os.family = "RedHat" order by certname }')
      expect(response.status).to eq(200)
      expect(cells(response).first(2)).to eq([%w[certname facts.os.family], %w[web01 RedHat]])
      expect(links(response)).to include('/nodes/web01')
      expect(cells(ask('["from", "fact_names"]'))).to eq([%w[value], %w[kernel], %w[os]])
      expect(cells(ask('["from", "nodes", ["extract", [["function", "count"]]]]'))).to eq([%w[count], %w[12]])
      expect(text(ask('nodes { certname = "nosuch" }'))).to include('No row matches the query.')
    end

    it 'answers other rows with trees' do
      response = ask('resources[certname, parameters] { title = "host3" }')
      expect(response.body).to include('<ol class="rows" start="1">')
      expect(text(response)).to include('web03', 'parameters 1 ip 192.0.2.3')
      expect(links(response)).to include('/nodes/web03')
    end

    it 'pages within the limits of the query itself' do
      query = 'nodes[certname] { order by certname limit 5 offset 3 }'
      names = ->(**paging) { cells(ask(query, **paging)).drop(1).flatten }
      expect(names.call).to eq(%w[web03 web04 web05 web06 web07])
      expect(names.call(limit: 2)).to eq(%w[web03 web04])
      expect(text(ask(query, limit: 2))).to include('1 to 2 of 5')
      expect(names.call(limit: 2, offset: 4)).to eq(%w[web07])
      expect(text(ask(query, limit: 2, offset: 9))).not_to include('web')
      expect(text(ask('nodes[certname] { }', limit: 5, offset: 10))).to include('11 to 12 of 12')
    end

    it 'shows what is wrong, and where' do
      response = ask("nodes[certname] {\n  certname is \"a\"\n}")
      expect(response.status).to eq(400)
      expect(text(response)).to include('PQL parse error at line 2, column 12', 'certname is "a"')
      expect(response.body).to include('<mark>i</mark>')
      expect(ask('nodes { ').body).to include('<mark>(the end of the line)</mark>')
      expect(text(ask('nodes[color] { }'))).to include("Can't extract unknown 'nodes' field 'color'")
      expect(ask('nodes[color] { }').body).not_to include('<mark>')
      expect(ask('nodes { ').body).to match(%r{<textarea[^>]*>\s*nodes \{ </textarea>})
      # Puma refuses a longer one.
      most = Integer(page('/query').body[/<textarea[^>]* maxlength="(\d+)"/, 1], 10)
      expect(text(page("/query?query=#{'%25' * most}"))).to include('PQL parse error', "at most #{most} characters")
    end

    it 'answers its examples' do
      examples = links(page('/query')).grep(%r{\A/query\?query=})
      expect(examples.length).to eq(10)
      examples.each { |address| expect([address, page(address).status]).to eq([address, 200]) }
      expect(text(page(examples[3]))).to include('12 Linux')
    end

    it 'leads to the same answer in JSON and CSV' do
      query = 'resources[certname, title, parameters] { title ~ "host1$" }'
      json, csv = links(ask(query)).grep(%r{/v4\?|/csv\?})
      expect(page(json, 'Accept' => '*/*').data.first['parameters']).to eq('ip' => '192.0.2.1')
      response = page(csv)
      expect(response.headers).to include('content-type' => 'text/csv; charset=utf-8',
                                          'content-disposition' => 'attachment; filename="query.csv"')
      expect(response.body).to eq(%(certname,title,parameters\r\nweb01,host1,"{""ip"":""192.0.2.1""}"\r\n))
      expect(cells(ask('nodes { limit 3 }', '/query/csv')).length).to eq(0)
      expect(ask('nodes[certname] { order by certname limit 3 }', '/query/csv').body)
        .to eq("certname\r\nweb00\r\nweb01\r\nweb02\r\n")
      expect(ask('nodes {', '/query/csv').status).to eq(400)
    end
  end

  it 'lets no cell of CSV be a formula' do
    save('web1', 'kernel' => '=cmd()', 'negative' => -7)
    rows = ask('facts[name, value] { order by name }', '/query/csv').body
    expect(rows).to eq("name,value\r\nkernel,'=cmd()\r\nnegative,-7\r\n")
  end

  it 'shows queries, names and values with markup as texts' do
    markup = ConsoleEstate::MARKUP.join
    save('web1', { "name#{markup}" => markup, 'list' => [markup, { markup => markup }] })
    pages = ['facts { }', 'facts[value] { name ~ "^name" }', "#{markup}\n</textarea>#{markup}", "nodes { #{markup}",
             "facts { name = '#{markup}' }"].map { |query| ask(query) }
    expect(pages).to all(harmless)
    expect(text(pages[1])).to include(markup)
    expect(pages.map(&:status)).to eq([200, 200, 400, 400, 200])
  end

  it 'stays small, whatever is stored' do
    many = (0..500).to_h { |number| ["key#{number}", '<' * 1000] }
    60.times { |number| save("web#{number}", 'long' => '"' * 10_000, 'many' => many) }
    ['facts { name = "long" }', 'facts { name = "many" }', 'inventory { }'].each do |query|
      response = ask(query)
      expect(response.body.bytesize).to be < 100_000
      expect(text(response)).to include('Long values are cut')
    end
  end

  # The service reads it into memory.
  it 'refuses an answer that is too large' do
    35.times { |number| save("web#{number}", 'large' => 'x' * (1024 * 1024)) }
    response = ask('facts { }')
    expect(response.status).to eq(413)
    expect(text(response)).to include('the answer has more than 32 MiB', 'facts { }')
    expect(ask('facts { }', '/query/csv').status).to eq(413)
    expect(ask('facts { }', limit: 20).status).to eq(200)
  end

  context 'without queries' do
    let(:section) { { 'query_workers' => 0 } }

    it 'says so, and keeps the query' do
      expect(ask('nodes { }')).to have_attributes(status: 503, body: include('query_workers', 'nodes { }</textarea>'))
    end
  end
end
