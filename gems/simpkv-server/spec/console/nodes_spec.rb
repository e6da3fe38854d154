# frozen_string_literal: true

require 'simpkv/server'
require_relative '../server/server_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../support/console_pages'

RSpec.describe 'The pages of nodes' do
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', '--local-write', indexed: true

  let(:markup) { '<script>alert(1)</script>' }
  let(:image) { '"><img src=x onerror=alert(1)>' }
  let(:options) do
    { 'backends' => backends, 'server' => { 'index' => "#{@root}.index" }.merge(section),
      'estate' => { 'catalogs' => true, 'node_ttl' => '30d', 'reports' => 10 } }
  end
  let(:estate) { Simpkv::Estate.new(options) }
  # The time of the reports.
  let(:now) { Time.now.utc - 60 }

  before { estate.make }

  def report(status, more = {})
    { 'time' => now.iso8601, 'status' => status, 'environment' => 'production', 'noop' => false,
      'resources' => { 'changed' => 1, 'failed' => 0 }, 'times' => { 'total' => 2.5 }, 'events' => [] }.merge(more)
  end

  def event(status, resource = 'File[/etc/motd]', more = {})
    { 'resource' => resource, 'property' => 'content', 'status' => status, 'time' => now.iso8601,
      'message' => 'content changed', 'file' => '/site.pp', 'line' => 3 }.merge(more)
  end

  def resource(type, title, parameters = {})
    { 'type' => type, 'title' => title, 'tags' => [type.downcase], 'file' => '/site.pp', 'line' => 1,
      'exported' => false, 'parameters' => parameters }
  end

  # The status comes last: a change of it tells the index that the rest is there.
  def run(certname, reports: [report('changed')], facts: { 'kernel' => 'Linux' }, exports: {}, resources: nil)
    estate.facts.save(certname, facts)
    estate.exports.save(certname, exports, 'production')
    estate.catalogs.put(certname, 'name' => certname, 'version' => '42', 'resources' => resources) if resources
    reports.each { |each| estate.reports.save(certname, each) }
  end

  # @return [Array<String>] the names in the table
  def names(query = {})
    page("/nodes?#{URI.encode_www_form(query)}").body.scan(%r{<th scope="row"><a[^>]*>([^<]*)</a>}).flatten
  end

  def hashes(certname)
    client.get("/v1/nodes/#{certname}/reports").data['reports'].map { |each| each['hash'] }
  end

  describe 'the table' do
    before do
      run('web1', reports: [report('failed')])
      run('web2', reports: [report('unchanged', 'noop' => true, 'noop_pending' => true, 'environment' => 'staging')])
      run('web3', reports: [report('changed', 'corrective_change' => true)])
      run('db1', reports: [])
      run_at('2026-01-01T00:00:00Z', 'old1')
      run_at((now - 86_400).iso8601, 'late1')
      { 'new1' => 'production', 'new2' => 'staging', 'web1' => 'production' }.each do |name, environment|
        estate.nodes.declare(name, 'environment' => environment)
      end
    end

    # A run whose report was lost, after an older one.
    def run_at(time, certname)
      estate.facts.save(certname, { 'kernel' => 'Linux' }, timestamp: time)
      estate.inventory.update(certname) { |record| record.merge('seen' => time) }
      estate.reports.save(certname, report('unchanged', 'time' => '2026-01-01T00:00:00Z'))
      estate.statuses.update(certname) { |status| status.merge('last_seen' => time) }
    end

    shared_examples 'a table' do
      it 'lists nodes with status, environment and time, and filters and sorts them without a script' do
        expect(names).to eq(%w[db1 late1 web1 web2 web3])
        { { 'q' => '^web[12]' } => %w[web1 web2], { 'status' => 'failed' } => %w[web1],
          { 'status' => 'noop' } => %w[web2], { 'status' => 'changed' } => %w[web3],
          { 'status' => 'unseen' } => %w[db1], { 'status' => 'unchanged', 'state' => 'any' } => %w[late1 old1],
          { 'state' => 'inactive' } => %w[old1], { 'state' => 'overdue' } => %w[late1],
          { 'status' => 'never' } => %w[new1 new2], { 'status' => 'never', 'q' => '1$' } => %w[new1],
          { 'status' => 'never', 'environment' => 'staging' } => %w[new2],
          { 'status' => 'never', 'state' => 'overdue' } => [], { 'status' => 'never', 'state' => 'inactive' } => [],
          { 'status' => 'never', 'state' => 'active' } => %w[new1 new2],
          { 'environment' => 'staging' } => %w[web2], { 'q' => 'nosuch' } => [],
          { 'sort' => 'name', 'order' => 'desc' } => %w[web3 web2 web1 late1 db1] }.each do |query, expected|
          expect([query, names(query)]).to eq([query, expected])
        end
        expect(text(page('/nodes'))).to match(/web1 failed production \d+ \w+ ago/)
          .and match(/web2 noop staging/).and match(/db1 unseen production/)
        expect(text(page('/nodes?status=never'))).to match(/new1 never production/)
        expect(names('sort' => 'seen').first).to eq('late1')
        expect(text(page('/nodes?state=inactive'))).to match(/old1 unchanged production (\d+ days ago )+expired/)
      end

      it 'says what is wrong with a filter' do
        expect(page('/nodes?q=(')).to have_attributes(status: 400, body: include('class="problem"', 'value="("'))
        # The text ended with the expression as Ruby writes it.
        expect(text(page('/nodes?q=('))).to match(/regular expression: end pattern with unmatched parenthesis\z/)
        %w[status=red state=red sort=red order=red q[x]=1 q=%FF].each do |query|
          expect(page("/nodes?#{query}")).to have_attributes(status: 400, body: include('role="alert"'))
        end
      end
    end

    it_behaves_like 'a table'

    it 'has the time of the last report beside the one at which the node was seen last' do
      expect(text(page('/nodes'))).to include('Last seen Last report').and match(/late1 .* 1 day ago \d+ days ago/)
      expect(names('sort' => 'report')).to start_with('late1')
    end

    it 'has the rows that it shows as CSV and JSON, with the filter and the order' do
      file = links(page('/nodes?status=failed&sort=seen')).grep(/format=csv/).first
      expect(file).to include('status=failed', 'sort=seen')
      expect(page(file).body).to match(/\Aname,environment,status,.*\r\nweb1,production,failed,,.*\r\n\z/)
      expect(page(file).headers).to include('content-type' => 'text/csv; charset=utf-8',
                                            'content-disposition' => 'attachment; filename="nodes.csv"')
      expect(JSON.parse(page(file.sub('csv', 'json')).body)).to match([include('name' => 'web1', 'status' => 'failed')])
      expect(page('/nodes?format=xml').status).to eq(400)
    end

    # A row is a card on a phone, and each line of it begins with the heading.
    it 'names the column in each cell' do
      row = page('/nodes?q=web1').body[%r{<tr><th.*?</tr>}]
      expect(row.scan(/<td data-l="([^"]*)"/).flatten.join(', '))
        .to eq('Status, Environment, Last seen, Last report, Notes')
    end

    it 'puts noop and corrective changes in words' do
      expect(text(page('/nodes'))).to match(/web2 noop staging .* ago would change something/)
        .and match(/web3 changed production .* ago corrective changes/)
    end

    it 'has pages of nodes' do
      60.times { |number| estate.statuses.put("n#{number}", 'last_seen' => now.iso8601, 'status' => 'changed') }
      eventually(errors: RuntimeError) { text(page('/nodes')).include?('1 to 50 of 65') }
      expect(links(page('/nodes?status=changed'))).to include('/nodes?status=changed&offset=50')
      expect(text(page('/nodes?offset=50'))).to include('51 to 65 of 65')
      # It said `1000 to 65 of 65`.
      beyond = page('/nodes?offset=999')
      expect(text(beyond)).to include('no rows here: there are 65')
      expect(links(beyond)).to include('/nodes?offset=15')
    end

    context 'without the index' do
      let(:section) { { 'query_workers' => 0 } }

      it_behaves_like 'a table'

      # The page was an error.
      it 'names the nodes that it cannot have, because their status cannot be read' do
        store.put('globals/estate/status/web1', '{')
        shown = page('/nodes')
        expect(text(shown)).to include('A node is not in this table if its status',
                                       'web1 : globals/estate/status/web1 :', '1 to 4 of 4')
        expect(links(shown)).to include('/nodes/web1', '/nodes/web2')
      end

      it 'says that it comes from the store' do
        expect(text(page('/nodes'))).to include('This table comes from the store', 'query_workers')
        expect(text(page('/nodes/web1/catalog'))).to include('this service answers no queries')
        expect(page('/nodes/web1/facts').status).to eq(200)
      end

      # simpkv refuses such a name. Another program may have stored it.
      it 'shows markup in the name of a node as text' do
        store.put("globals/estate/status/#{image}", store.get('globals/estate/status/web1'))
        shown = page('/nodes')
        expect([text(shown), shown.body[/<img/]]).to match([include(image), nil])
      end
    end
  end

  it 'say what fills an empty table' do
    expect(text(page('/nodes'))).to include('The store has no nodes yet', 'simpkv nodes')
  end

  describe 'the facts' do
    before do
      run('web1', facts: { 'os' => { 'name' => 'Debian' }, 'db_password' => 'pl4nted', 'long' => 'x' * 20_000,
                           'disks' => (1..3000).to_h { |number| ["sd#{number}", { 'size' => number }] } })
    end

    it 'are a tree below 100 kB, in which long and large parts lead to their own page' do
      tree = page('/nodes/web1/facts')
      expect(tree.body).to include('<details><summary><span class="name">os</span>', '3000 members', '20000 characters')
      expect(tree.body).not_to include('pl4nted')
      links(tree).grep(/path=/).each do |address|
        part = page(address)
        expect([part.status, part.body.bytesize < 100_000]).to eq([200, true])
      end
      expect(text(page('/nodes/web1/facts?path=%2Fos%2Fname'))).to include('Debian')
      expect(page('/nodes/web1/facts?path=%2Fnosuch').status).to eq(404)
    end

    it 'can be searched by name and value without a script' do
      expect(text(page('/nodes/web1/facts?q=debian'))).to match(/os.name Debian 1 to 1 of 1/)
      expect(text(page('/nodes/web1/facts?q=SD2999'))).to match(/disks.sd2999.size 2999 1 to 1 of 1/)
      expect(text(page('/nodes/web1/facts?list=1'))).to include('1 to 50 of 3003')
      expect(text(page('/nodes/web1/facts?q=nosuchfact'))).to include('nothing found')
    end
  end

  describe 'the reports' do
    before do
      run('web1', reports: [
            report('failed', 'events' => [event('failure'), event('success', 'Service[nginx]')],
                             'times' => { 'total' => 10.0, 'file' => 2 }),
            report('changed', 'corrective_change' => true, 'events_left_out' => 7,
                              'times' => { 'total' => 4.0, 'file' => 2 },
                              'events' => [event('success', 'File[/etc/motd]', 'corrective_change' => true),
                                           event('noop', 'User[db]', 'message' => 'm' * 900)])
          ])
    end

    it 'are listed, and each is shown with events and times' do
      last, first = hashes('web1')
      list = page('/nodes/web1/reports')
      rows = ->(shown) { shown.body.scan(%r{<th scope="row"><a href="/nodes/web1/reports/(\h+)"}).flatten }
      # The heading said that the oldest report is the first one.
      expect([rows.call(list), list.body[/aria-sort="(\w+)"><a[^>]*>When/, 1]]).to eq([[last, first], 'descending'])
      expect(rows.call(page('/nodes/web1/reports?sort=when'))).to eq([first, last])
      expect(text(page('/nodes/web1/reports/latest'))).to eq(text(page("/nodes/web1/reports/#{last}")))
      shown = page("/nodes/web1/reports/#{last}")
      expect(text(shown)).to match(%r{File\[/etc/motd\] content changed corrective})
        .and include('Some changes were corrective', '7 more events, which are not stored', 'total 4.0')
      # Long names made the page wider than the window of a phone.
      expect(shown.body.scan('<table>').length).to eq(shown.body.scan(/<div class="scroll"[^>]*>\n<table>/).length)
      expect(text(shown)).to match(/User\[db\] content noop m{150}… Whole event 2/)
      expect(text(page("/nodes/web1/reports/#{last}?event=1"))).to include('m' * 900)
      expect(page("/nodes/web1/reports/#{last}?event=2").status).to eq(404)
      expect(page('/nodes/web1/reports/nosuch')).to have_attributes(status: 404, body: include('only its last reports'))
    end

    it 'have a log, and values of events' do
      event = event('failure', 'File[/a]', 'values' => { 'old' => '0600', 'new' => { 'a' => 1 } },
                                           'containment_path' => ['Stage[main]', 'Nginx'])
      logs = [{ 'level' => 'err', 'message' => 'no such <user>', 'source' => '/Stage[main]' }] * 101
      members = { 'status' => 'failed', 'environment' => 'production', 'time' => '2026-11-24T01:00:00.123456Z' }
      estate.reports.save('web1', Simpkv::Estate::WholeReport.new(members, {}, [event], logs))
      shown = page('/nodes/web1/reports/latest')
      expect(text(shown)).to match(%r{failed no such <user> /Stage\[main\]}).and include('The log has 1 more line')
      expect(shown.body).not_to include('<user>')
      expect(text(page('/nodes/web1/reports/latest?event=0')))
        .to include('Old value 0600', 'New value {"a":1}', 'Contained in Stage[main] / Nginx')
      Dir.glob(File.join(@root, 'globals/estate/reports/web1/details/*')).each { |file| File.delete(file) }
      expect(text(page('/nodes/web1/reports/latest'))).to match(%r{reports/web1/details/\d' is missing|it is missing})
    end

    # All of them were missing.
    it 'are those that can be read, beside one that cannot' do
      _, first = hashes('web1')
      store.put('globals/estate/reports/web1/2', 'pl4nted')
      ['', '/reports', "/reports/#{first}", '/reports/latest', '/compare'].each do |path|
        shown = page("/nodes/web1#{path}")
        expect([path, shown.status, text(shown)]).to match([path, 500, /failed|not two reports of this node/])
        expect(text(shown)).to include('Documents of this node cannot be read: globals/estate/reports/web1/2 :')
      end
      expect(links(page('/nodes/web1/reports'))).to include("/nodes/web1/reports/#{first}")
      expect(page('/nodes/web1/reports/nosuch')).to have_attributes(status: 500, body: include('reports/web1/2'))
    end

    it 'may have values of any type' do
      odd = { 'resource' => 1, 'property' => [2], 'status' => {}, 'time' => 5, 'message' => { 'a' => 1 }, 'file' => 3 }
      run('web2', reports: [report('changed', 'times' => { 'total' => 'x', 'file' => [1] }, 'events' => [odd, 'text'],
                                              'puppet_version' => [8], 'cached_catalog_status' => 7),
                            report('changed', 'times' => [], 'events' => [odd.merge('time' => nil)])])
      last, first = hashes('web2')
      ["reports/#{last}", "reports/#{first}", "reports/#{first}?event=0", "compare?from=#{first}&to=#{last}"]
        .each { |path| expect([path, page("/nodes/web2/#{path}").status]).to eq([path, 200]) }
    end

    it 'can be compared' do
      last, first = hashes('web1')
      compared = page("/nodes/web1/compare?from=#{first}&to=#{last}")
      expect(text(compared)).to match(%r{File\[/etc/motd\] content failed content changed changed corrective})
        .and match(/Service\[nginx\] content changed content changed no event/)
        .and match(/User\[db\] content no event noop/)
        .and match(/Resources with events in the first report only Service\[nginx\]/)
        .and match(/Resources with events in the second report only User\[db\]/)
        .and match(/total 10.0 4.0 -6.0/).and include('7 more events, which are not stored, and not compared')
      expect(text(compared)).not_to match(/file 2 2/)
      expect(text(page("/nodes/web1/compare?from=#{first}&to=#{first}"))).to include('Both reports have the same')
      expect(page("/nodes/web1/compare?from=#{first}").status).to eq(404)
      %w[asc desc].each do |order|
        sorted = page("/nodes/web1/reports?sort=when&order=#{order}").body
        chosen = sorted.scan(/name="(from|to)" value="(\h+)"[^>]* checked/)
        expect([order, chosen.to_h]).to eq([order, { 'from' => first, 'to' => last }])
      end
    end
  end

  describe 'the resources' do
    before do
      host = ->(title) { { 'title' => title, 'parameters' => { 'ip' => '192.0.2.1' }, 'tags' => ['host'] } }
      files = Array.new(2000) { |number| resource('File', "/f/#{number}", 'mode' => '0644') }
      run('web1', exports: { 'host' => [host.call('web1')] },
                  resources: [*files, resource('Host', 'web2'), resource('Class', 'Role::Web'),
                              resource('User', 'db', 'password' => 'pl4nted', 'uid' => 5, 'require' => 'File[/f/1]')])
      run('web2', exports: { 'host' => [host.call('web2')] },
                  resources: [*files.drop(1), resource('File', '/f/0', 'mode' => '0600'), resource('User', 'web')])
      run('web3')
    end

    it 'are those that the node exports, and those that others export' do
      expect(text(page('/nodes/web1/resources'))).to match(/host web1 ip => 192.0.2.1 1 to 1 of 1/)
      expect(text(page('/nodes/web1/resources?type=host&title=web1'))).to match(/Exported host: web1 ip 192.0.2.1/)
      expect(page('/nodes/web1/resources?type=host&title=web2').status).to eq(404)
      expect(text(page('/nodes/web1/resources?show=collected'))).to match(/Host web2 web2 1 to 1 of 1/)
      expect(text(page('/nodes/web2/resources?show=collected'))).to include('No resource in the last catalog')
      expect(text(page('/nodes/web3/resources'))).to include('This node exports no resources')
    end

    it 'of the catalog have pages and a filter, and no secrets' do
      catalog = page('/nodes/web1/catalog')
      expect(text(catalog)).to include('Version 42', '1 to 50 of 2004', 'File (2000)')
      expect(catalog.body.bytesize).to be < 100_000
      expect(text(page('/nodes/web1/catalog?type=File&q=/1999$'))).to match(%r{File /f/1999 mode => 0644 .*1 to 1 of 1})
      expect(page('/nodes/web1/catalog?q=(')).to have_attributes(status: 400, body: include('Title (regular'))
      user = page('/nodes/web1/catalog?type=User&title=db')
      expect(text(user)).to include('uid 5', 'required-by: File[/f/1]')
      expect(user.body).not_to include('pl4nted')
      expect(text(page('/nodes/web1/classes'))).to match(/Classes of the last catalog Role::Web/)
      expect(text(page('/nodes/web3/catalog'))).to include('No catalog of this node is stored', 'catalogs: true')
    end

    it 'of two catalogs can be compared, and the page says that earlier ones are not stored' do
      expect(text(page('/nodes/web1/compare'))).to include('The store keeps the last catalog of a node only')
      compared = page('/nodes/web1/compare?with=web2')
      expect(text(compared)).to match(%r{File\[/f/0\] in both mode : 0644 0600})
        .and match(/User\[db\] only in web1/).and match(/User\[web\] only in web2/).and match(/1 to 6 of 6/)
      expect(page('/nodes/web1/compare?with=web3')).to have_attributes(status: 404, body: include('no catalog of'))
      expect(text(page('/nodes/web1/compare?with=web1'))).to include('Both catalogs have the same resources')
    end
  end

  describe 'the inspection' do
    before do
      run('web1', facts: { 'kernel' => 'Linux' })
      add_rule('web servers', ['{inventory[kernel]}', 'Linux'], ['/parameters/role', 'web'])
      add_rule('databases', ['{inventory[kernel]}', 'AIX'], ['/parameters/role', 'db'])
    end

    def add_rule(description, equal, set)
      client.post('/v1/inspection_rules', 'description' => description,
                                          'conditions' => [{ 'op' => 'eq', 'args' => equal }],
                                          'actions' => [{ 'op' => 'set-attribute', 'args' => set }])
    end

    it 'is done anew as a dry run, with an explanation of each rule' do
      expect(text(page('/nodes/web1/inspection'))).to include('nothing is stored', 'Inspect as a dry run')
      outcome = submit('/nodes/web1/inspection', '/nodes/web1/inspection')
      expect(text(outcome))
        .to match(%r{web servers \(main\): matched actions\[0\] set-attribute /parameters/role: "web"})
        .and match(/databases \(main\): did not match conditions\[0\] eq does not hold/).and match(/role web/)
      expect(client.get('/v1/nodes/web1/inspection').status).to eq(404)
    end

    it 'explains many rules on pages' do
      60.times { |number| add_rule("rule #{number}", %w[a b], ['/parameters/x', number]) }
      first = submit('/nodes/web1/inspection', '/nodes/web1/inspection')
      expect(text(first)).to include('Rules 1 to 50 of 62', 'show the next rules')
      offset = first.body[/name="offset" value="(\d+)"/, 1]
      last = text(submit('/nodes/web1/inspection', '/nodes/web1/inspection', 'offset' => offset))
      # They were taken for 0.
      %w[x -1 1.5 1000000000].each do |wrong|
        refused = submit('/nodes/web1/inspection', '/nodes/web1/inspection', 'offset' => wrong)
        expect([refused.status, text(refused)]).to match([400, /the field 'offset' must be a whole number from 0 to/])
      end
      expect(last).to include('Rules 51 to 62 of 62', 'rule 59').and match(/\A(?!.*next rules)/)
    end

    it 'shows the stored outcome, with the rules that matched and the effective record' do
      client.request('POST', '/v1/nodes/web1/inspection?stored=true')
      stored = text(page('/nodes/web1/inspection'))
      expect(stored).to match(/accepted .* Rules that matched web servers Effective record .*role web/)
      expect(text(page('/nodes/web1/classes'))).to match(/Effective record of the last inspection .*role web/)
      client.post('/v1/inspection_rules', 'description' => 'nobody', 'priority' => 9,
                                          'actions' => [{ 'op' => 'fail', 'args' => ['unknown rack'] }])
      refused = text(submit('/nodes/web1/inspection', '/nodes/web1/inspection'))
      expect(refused).to match(/The node is refused by the rule \S+ 'nobody': unknown rack/)
    end
  end

  describe 'the deactivation' do
    before do
      run('web1', exports: { 'host' => [{ 'title' => 'a' }] })
      estate.nodes.declare('web1', 'classes' => ['ntp'])
    end

    it 'is confirmed on a page that says what goes' do
      expect(links(page('/nodes/web1'))).to include('/nodes/web1/deactivate')
      expect(text(page('/nodes/web1/deactivate')))
        .to include('exported resources of 1 types (host)', 'its facts, its status', 'Its declared record stays')
      answer = submit('/nodes/web1/deactivate', '/nodes/web1/deactivate')
      expect(answer).to have_attributes(status: 303, headers: include('location' => start_with('/nodes?removed=web1&')))
      shown = page(answer.headers['location'])
      expect(text(shown)).to include('What web1 left in the store is removed')
      expect(links(shown).grep(/notice=|removed=/)).to eq([])
      expect(client.get('/v1/nodes/web1').data).to include('status' => nil, 'exports' => [],
                                                           'record' => { 'classes' => ['ntp'] })
    end

    it 'removes documents that cannot be read' do
      %w[inspections inventory].each { |subject| store.put("globals/estate/#{subject}/web1", '{') }
      expect(page('/nodes/web1')).to have_attributes(status: 500, body: include('inspections/web1'))
      expect(text(page('/nodes/web1/inspection'))).to include('cannot be read', 'Inspect as a dry run')
      expect(text(page('/nodes/web1/deactivate')))
        .to include('inspections/web1', 'if there are any', 'Its declared record stays')
      expect(submit('/nodes/web1/deactivate', '/nodes/web1/deactivate').status).to eq(303)
      expect(page('/nodes/web1').status).to eq(200)
    end

    # Each of these was an error without tabs, and without a link to this page.
    it 'is what the pages of a node lead to if a document cannot be read' do
      { 'status/web1' => %w[/], 'nodes/web1' => %w[/ /classes], 'facts/web1' => %w[/facts],
        'exported/host/web1' => %w[/resources], 'reports/web1/1' => %w[/reports /compare /reports/latest],
        'inspections/web1' => %w[/ /inspection] }.each do |subject, tabs|
        place = "globals/estate/#{subject}"
        good = store.get(place, required: false)
        store.put(place, 'pl4nted')
        shown = tabs.map { |tab| page("/nodes/web1#{tab.delete_suffix('/')}") }
        expect(shown.map { |found| [found.status, text(found)] })
          .to all(match([500, /#{place}.* cannot|cannot.*#{place}/]))
        expect(shown.map { |found| links(found) }).to all(include('/nodes/web1/deactivate', '/nodes/web1/facts'))
        expect(shown.map(&:body).join).not_to include('pl4nted')
        expect(shown.map { |found| found.body.scan('The id of this request').length }).to all(eq(1))
        good ? store.put(place, good) : store.delete(place)
      end
      store.put('globals/estate/status/web1', '{')
      expect(text(page('/nodes/web1'))).to match(/Status of the last report unknown Last seen unknown/)
    end

    # It said that this node must be deactivated, which does not help.
    it 'is nothing for a document of another kind' do
      store.put('globals/estate/rules/6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90', '{')
      shown = submit('/nodes/web1/inspection', '/nodes/web1/inspection')
      expect(shown).to have_attributes(status: 500, body: include('estate/rules/6f0c9a52'))
      expect(links(shown)).not_to include('/nodes/web1/deactivate')
      estate.inspections.put('web1', 'changed_at' => now.iso8601, 'rules' => [], 'record' => {})
      expect(page('/nodes/web1/inspection').status).to eq(200)
    end

    it 'needs a form of this service, and says nothing that is not so' do
      refused = [send_form('/nodes/web1/deactivate', {}), send_form('/nodes/web1/inspection', {}),
                 send_form('/nodes/web1/deactivate', '_token' => 'x' * 64)]
      expect(refused).to all(have_attributes(status: 403))
      expect(client.get('/v1/nodes/web1').data['status']).to include('status' => 'changed')
      expect(text(page('/nodes?removed=web1'))).not_to include('is removed')
    end
  end

  # Each text is somebody else's.
  it 'show markup as text, and stay below 100 kB' do
    hostile = [markup, image, "#{markup * 400}\n\u202e"]
    texts = hostile.each_with_index.map { |each, number| "#{number} #{each}" }
    run('web1', facts: texts.to_h { |each| [each, [each, { each => each }]] },
                exports: { 'host' => texts.map { |each| { 'title' => each, 'parameters' => { 'x' => texts } } } },
                reports: Array.new(2) do |number|
                  report(markup, 'environment' => image, 'puppet_version' => markup, 'times' => { image => number },
                                 'resources' => { markup => number }, 'configuration_version' => image,
                                 'events' => texts.map do |each|
                                   event(each, "File[#{each}]", 'message' => "#{number}#{each}", 'file' => each,
                                                                'property' => each)
                                 end)
                end,
                resources: texts.map { |each| resource('File', each, 'x' => texts, 'y' => markup) })
    run('web2', resources: texts.map { |each| resource('File', each, 'x' => image) })
    estate.nodes.declare('web1', 'parameters' => texts.to_h { |each| [each, texts] })
    client.post('/v1/inspection_rules', 'description' => markup,
                                        'conditions' => [{ 'op' => 'eq', 'args' => texts.first(2) }],
                                        'actions' => [{ 'op' => 'fail', 'args' => [image] }])
    client.post('/v1/inspection_rules', 'description' => image,
                                        'actions' => [{ 'op' => 'fail', 'args' => [markup] }])
    client.request('POST', '/v1/nodes/web1/inspection?stored=true')
    walked = walk(['/nodes', '/nodes/web1', "/nodes/web1/compare?from=#{hashes('web1').join('&to=')}",
                   '/nodes/web1/compare?with=web2'])
    walked['POST'] = submit('/nodes/web1/inspection', '/nodes/web1/inspection')
    walked.reject { |path, _| path.include?('format=') }.each do |path, shown|
      expect([path, shown.body[/<script>|<img/]]).to eq([path, nil])
      expect([path, shown.status, shown.body.bytesize < 100_000]).to eq([path, 200, true])
    end
    expect(walked.length).to be > 25
    %w[q environment].each do |name|
      expect(page("/nodes?#{URI.encode_www_form(name => image)}").body).not_to include('<img')
    end
    refused = page("/nodes/#{URI.encode_www_form_component(image)}")
    expect([refused.status, refused.body[/<img/]]).to eq([400, nil])
  end

  # @return [Hash{String => ServiceClient::Response}] the pages of nodes to which links lead
  def walk(paths)
    seen = {}
    while (path = paths.shift)
      next if seen.key?(path) || seen.length > 120

      seen[path] = page(path)
      paths.concat(links(seen[path]).grep(%r{\A/nodes/web1(?:[/?]|\z)}))
    end
    seen
  end

  # It was never in the table, and unseen here; and a form offered a removal that ended in 404.
  it 'call a declared node that has had no run the same everywhere, and say that nothing of it can be removed' do
    estate.nodes.declare('new1', 'environment' => 'staging')
    expect(text(page('/nodes?status=never'))).to match(/Declared nodes that have had no run .* new1 never staging/)
    shown = page('/nodes/new1')
    expect(text(shown)).to match(/last report never Last seen never Environment staging .* simpkv node undeclare new1/)
    expect(links(shown)).not_to include('/nodes/new1/deactivate')
    refused = page('/nodes/new1/deactivate')
    expect(text(refused)).to include('nothing of it to remove', 'simpkv node undeclare new1')
    expect(refused.body).not_to include('method="post"')
    run('new1', reports: [])
    expect(text(page('/nodes/new1'))).to match(/last report unseen .* Environment production .* Deactivate/)
  end

  # The first was an internal error, and the second all of the record.
  it 'have no page for a part that is named by no pointer' do
    run('web1', exports: { 'host' => [{ 'title' => 'a', 'parameters' => { 'ip' => '192.0.2.1' } }] })
    estate.nodes.declare('web1', 'classes' => ['ntp'])
    %w[facts? classes?of=declared& resources?type=host&title=a&].product(%w[x x/ /x~ /~2 ~ %00 /]).each do |page, path|
      expect([page, path, page("/nodes/web1/#{page}path=#{path}").status]).to eq([page, path, 404])
    end
    expect(page('/nodes/web1/classes?of=declared&path=/classes/0').status).to eq(200)
  end

  it 'refuse what is no page, and name a node that does not exist' do
    run('web1')
    expect(text(page('/nodes/NoSuch'))).to include("there can be no node 'NoSuch': key 'NoSuch' contains unsupported")
    %w[/nodes/web1/nosuch /nodes/web1/facts/x /nodes/nosuch /nodes/nosuch/facts /nodes/nosuch/deactivate
       /nodes/web1/classes?of=x].each { |path| expect([path, page(path).status]).to eq([path, 404]) }
    # These had pages about any name.
    %w[nosuch/reports nosuch/catalog nosuch/compare nosuch/resources nosuch/resources?show=collected nosuch/inspection
       nosuch/classes web1/inspection web1/catalog web1/resources?show=collected web1/reports/latest].each do |path|
      expect([path, page("/nodes/#{path}").status]).to eq([path, path.end_with?('latest') ? 200 : 404])
    end
    %w[facts reports resources compare classes].each { |tab| expect(page("/nodes/web1/#{tab}").status).to eq(200) }
    expect(page('/nodes/.estate')).to have_attributes(status: 400)
  end

  context 'with a caller who may see some parts only' do
    include_context 'with a service for all examples', '--bind', 'ssl://127.0.0.1:0', indexed: true

    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'tls_crl' => certificates.revoke,
        'rights' => [{ 'certname' => 'reader.example.com', 'methods' => ['GET'],
                       'paths' => ['/v1/nodes', '/v1/nodes/*', '/v1/nodes/*/inspection'] }] }
    end
    let(:name) { 'reader.example.com' }
    let(:browser) do
      cert, key = certificates.issue(subject: name, names: nil)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    before { run('web1', facts: { 'kernel' => 'pl4nted' }, resources: []) }

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    it 'say what the rights lack, in place of the part or of the page' do
      refused = ->(path) { "reader.example.com may not GET #{path}: 'rights' of 'server' does not allow it" }
      expect(text(page('/nodes'))).to include(refused.call('/pdb/query/v4/nodes'), 'web1')
      expect(page('/nodes/web1')).to have_attributes(status: 200)
      expect(text(page('/nodes/web1'))).to include(refused.call('/v1/nodes/web1/reports'))
      { 'facts' => '/v1/nodes/web1/facts', 'reports' => '/v1/nodes/web1/reports',
        'resources' => '/v1/nodes/web1/exports', 'catalog' => '/pdb/query/v4/catalogs',
        'resources?show=collected' => '/pdb/query/v4/catalogs' }.each do |tab, path|
        shown = page("/nodes/web1/#{tab}")
        expect([tab, shown.status]).to eq([tab, 403])
        expect(text(shown)).to include(refused.call(path))
        expect(shown.body).not_to include('pl4nted')
      end
      expect(text(page('/nodes/web1/classes'))).to include(refused.call('/pdb/query/v4/catalogs'))
    end

    it 'changes nothing for who may read only' do
      { 'deactivate' => 'Removing what this node left needs the right to DELETE /v1/nodes/web1 :',
        'inspection' => 'A dry run needs the right to POST /v1/nodes/web1/inspection :' }.each do |form, withheld|
        seen = page(form == 'deactivate' ? '/nodes/web1' : "/nodes/web1/#{form}")
        expect(text(seen)).to include("#{withheld} 'rights' of 'server' does not allow it.")
        expect(seen.body).not_to include('method="post"')
        expect(submit('/rules/test', "/nodes/web1/#{form}"))
          .to have_attributes(status: 403, body: include('reader.example.com may not'))
      end
      expect(page('/nodes/web1/deactivate').status).to eq(403)
      expect(estate.statuses.get('web1')).to include('status' => 'changed')
    end

    context 'without any right' do
      let(:name) { 'stranger.example.com' }

      it 'shows nothing of nodes' do
        %w[/nodes /nodes/web1 /nodes/web1/classes /nodes/web1/deactivate].each do |path|
          expect([path, page(path).status]).to eq([path, 403])
        end
      end
    end
  end

  describe 'the first page' do
    # Five nodes fail at the same resource, two without a catalog, and one at a resource of its own.
    before do
      5.times { |number| run("web#{number}", reports: [good, failed("exit code 1 on web#{number}")]) }
      run('db1', reports: [failed('no space', 'File[/srv]'), good, *Array.new(3) { failed('full', 'File[/srv]') }])
      put_back = event('success', 'Service[ssh]', 'message' => 'put back', 'corrective_change' => true)
      run('ok1', reports: [good.merge('corrective_change' => true, 'events' => [put_back, event('success')])])
      %w[app1 app2].each { |name| estate.reports.save(name, without_catalog(name)) }
    end

    def without_catalog(name, message = "Could not retrieve catalog: on node #{name}")
      error = { 'level' => 'err', 'message' => message, 'file' => '/x.pp', 'line' => 7 }
      logs = [{ 'level' => 'notice', 'message' => 'begins' }, error]
      Simpkv::Estate::WholeReport.new(report('failed').except('events'), {}, [], logs)
    end

    def good
      report('changed', 'producer_timestamp' => later)
    end

    def failed(message, resource = 'Exec[apt-get update]')
      failure = event('failure', resource, 'message' => message, 'file' => '/base.pp', 'line' => 21)
      events = [event('success', 'File[/a]'), failure, event('skipped', 'File[/b]')]
      report('failed', 'producer_timestamp' => later, 'events' => events)
    end

    # @return [String] a time after that of the last call
    def later
      @later = (@later || (now - 3600)) + 1
      @later.iso8601
    end

    # @param part [String] of the text
    # @return [ServiceClient::Response] when the service has an index, and knows the state of the site
    def first_page(part = '')
      eventually(errors: RuntimeError) do
        [page('/')].find do |found|
          found.body.include?('class="failures"') && !found.body.include?('Not known yet') && text(found).include?(part)
        end
      end
    end

    it 'says what has failed on which nodes, why, where and since when, and leads to the resource in the report' do
      shown = first_page('failed on 8 nodes')
      expect(text(shown).scan(/failed on \d nodes?/))
        .to eq(['failed on 8 nodes', 'failed on 5 nodes', 'failed on 2 nodes', 'failed on 1 node'])
      expect(text(shown)).to match(/Exec\[apt-get update\] failed on 5 nodes exit code 1 on NODE .base.pp:21 web0 f/)
        .and match(%r{File\[/srv\] failed on 1 node full /base.pp:21 db1 failed 3 times in a row, first .* ago})
        .and match(/The run itself failed on 2 nodes Could not retrieve catalog: on node NODE .x.pp:7 app1/)
        .and include('and 2 more')
      expect(links(shown)).to include('/nodes?failed=Exec%5Bapt-get+update%5D&message=exit+code+1+on+NODE',
                                      %r{\A/nodes/app1/reports/\h+#log\z})
      report = links(shown).grep(/resource=File%5B%2Fsrv%5D#found\z/).first
      expect(page(report.delete_suffix('#found')).body).to match(%r{<tr id="found"><th scope="row">File\[/srv\]})
      expect(names('failed' => 'Exec[apt-get update]')).to eq(%w[web0 web1 web2 web3 web4])
      expect(names('failed' => 'Exec[apt-get update]', 'message' => 'exit code 1 on NODE').length).to eq(5)
      expect(names('failed' => 'Exec[apt-get update]', 'message' => 'exit code 1 on web3')).to eq(%w[web3])
      expect(names('failed' => 'Exec[apt-get update]', 'message' => 'exit code')).to eq([])
      expect(page('/nodes?failed=x').status).to eq(400)
    end

    # A node with 5,000 failures filled the page.
    it 'has several failures of the same nodes as one' do
      events = Array.new(30) { |number| event('failure', "File[/#{number}]", 'message' => "no #{number}") }
      run('full1', reports: [report('failed', 'producer_timestamp' => later, 'events' => events)])
      shown = first_page
      expect(text(shown)).to match(%r{File\[/\d+\] and 29 other resources failed on 1 node no \d+ })
        .and match(%r{File\[/srv\] failed on 1 node full})
      expect(text(shown)).not_to match(/other failure/)
      expect(links(shown)).to include(%r{\A/nodes/full1/reports/\h+\?resource=File%5B%2F\d+%5D#found\z})
    end

    # Those of all but twenty were one line without a reason. A line led to all nodes on which its resource had failed.
    it 'tells the reasons of many runs in which no resource has failed, and lines with their own nodes' do
      30.times { |number| estate.reports.save("old#{number}", without_catalog('old', 'Could not find class ::x')) }
      run('web9', reports: [failed('timeout')])
      shown = first_page
      expect(text(shown)).to match(/The run itself failed on 30 nodes Could not find class ::x/)
        .and match(/The run itself failed on 2 nodes Could not retrieve catalog: on node NODE/)
      led = links(shown).grep(/failed=Exec/).map { |link| page(link).body.scan(%r{scope="row"><a href="/nodes/(\w+)}) }
      expect(led.map(&:flatten)).to eq([%w[web0 web1 web2 web3 web4], %w[web9]])
    end

    # The number of runs without a status led to all runs.
    it 'has numbers of runs that lead to as many reports' do
      estate.reports.save('odd1', report(nil, 'producer_timestamp' => later))
      first_page
      chart = Simpkv::Server::Console::RunChart.new({})
      found = %w[failed changed unknown].map do |status|
        queries = [now - 86_400, now].map { |time| chart.address(time.strftime('%F'), status)[/\?.*/] }
        queries.sum { |query| client.get("/pdb/query/v4#{query}").data.length }
      end
      expect(found).to eq([11, 7, 1])
    end

    it 'has corrective changes apart from intended ones, and nodes that report no more' do
      old = '2026-11-01T00:00:00Z'
      # It had stopped reporting, according to this page.
      run('new1', reports: [])
      estate.inventory.update('new1') { |record| record.reject { |member, _| member == 'seen' } }
      { statuses: 'last_seen', inventory: 'seen' }.each do |part, member|
        estate.public_send(part).update('ok1') { |record| record.merge(member => old) }
      end
      shown = first_page('2 nodes did not')
      expect(text(shown)).to match(/1 corrective change : .*Service\[ssh\] on ok1 , \d+ \w+ ago : put back/)
        .and match(/\d+ runs changed something: changes by type of resource/)
        .and match(/2 nodes did not report within a day: new1 \(never\), ok1 \( \d+ days ago \)/)
      expect(text(page('/console/changes'))).to match(/Type Changes Corrective .*Service 1 1/)
      report = %r{\A/nodes/ok1/reports/\h+\?resource=Service%5Bssh%5D#found\z}
      expect(links(shown)).to include(report, '/nodes?state=overdue')
      # The list had another time of the same node than its page.
      seen = "<time datetime=\"#{old.sub('Z', '')}"
      expect([page('/nodes?state=overdue').body, page('/nodes/ok1').body]).to all(include(seen))
    end

    it 'is followed by the page of the node, with the same, and with the log of the last run' do
      expect(text(page('/nodes/db1')))
        .to match(%r{The node failed 3 times in a row, first .* ago .*File\[/srv\] full /base.pp:21})
      expect(text(page('/nodes/app1'))).to match(/failed in all|failed once/)
        .and match(/Could not retrieve catalog: on node app1 .*Log of the last run .* failed Could not retrieve/)
    end
  end

  it 'lists 10,000 nodes at once', :heavy do
    statuses = Array.new(10_000) do |number|
      status = { 'last_seen' => now.iso8601, 'environment' => 'production',
                 'status' => %w[changed unchanged failed][number % 3] }
      [["node#{number}.example.com"], Simpkv::Codec.encode(status)]
    end
    estate.statuses.put_many(statuses.to_h)
    eventually(errors: RuntimeError, within: 60) { text(page('/nodes')).include?('1 to 50 of 10000') }
    ['', '?q=99$&status=failed', '?sort=seen&order=desc&offset=9000'].each do |query|
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      shown = page("/nodes#{query}")
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).to be < 30
      expect([shown.status, shown.body.bytesize < 100_000]).to eq([200, true])
    end
  end
end
