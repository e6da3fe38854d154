# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../support/access_service'
require_relative '../support/browser'
require_relative '../support/console_estate'
require_relative '../support/console_pages'

RSpec.describe 'The overview of the console' do
  include ConsoleEstate
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:estate) { Simpkv::Estate.new(options) }
  let(:hostile) { '"><img src=x onerror=alert(1)><script>alert(1)</script>' }

  # @return [ServiceClient::Response] the page, when all parts have been read
  def whole(path = '/')
    eventually(errors: RuntimeError) do
      found = page(path)
      found unless found.body.include?('Not known yet')
    end
  end

  it 'has the nodes by status with links, the runs by day as a chart and a table, and what needs attention' do
    make_estate
    2.times { |number| estate.reports.save("web#{number}", 'status' => 'failed') }
    estate.reports.save('db1', 'status' => 'changed')
    estate.statuses.put('old1', 'last_seen' => '2020-01-01T00:00:00Z', 'status' => 'unchanged')
    estate.nodes.declare('new1', 'classes' => [])
    found = whole
    expect(text(found)).to include('Problem: The last run failed on 2 nodes.', 'Warning: Not seen for a day: 1 node.',
                                   '4 active', '2 failed', '1 changed', '1 not seen for a day', '1 declared, never run')
    expect(text(found)).to match(/Last read: \d+ seconds? ago \./)
    expect(links(found)).to include('/nodes?status=failed', '/nodes?state=overdue', '/nodes?status=never',
                                    '/console/wall')
    expect(found.body).to match(/<svg [^>]*role="group"[^>]*><title>Runs by day and status .*: 3, of which 2 failed/)
    today = Time.now.utc.strftime('%F')
    failed = found.body[%r{<th scope="row">#{today}</th><td [^>]*class="number"><a href="([^"]*)">2</a></td>}, 1]
    expect(cells(page(CGI.unescapeHTML(failed))).drop(1).map(&:first)).to eq(%w[web0 web1])
    column = found.body[/<a href="([^"]*)" aria-label="#{today}: 3 runs, 2 of them failed">/, 1]
    expect(cells(page(CGI.unescapeHTML(column))).drop(1).map(&:first)).to eq(%w[db1 web0 web1])
  end

  it 'leads to pages that there are, with as many nodes as it says' do
    make_estate
    %w[web1 web2].each { |name| estate.reports.save(name, 'status' => 'failed') }
    client.put('/v1/keys/app1/token', 'value' => 1, 'expires_after' => '1d')
    client.put('/v1/keys/all?global=true', 'value' => 1, 'expires_after' => '2d')
    found = links(whole)
    expect(found).to include('/nodes?status=unseen', '/keys/app1/token?environment=production&backend=default')
    others = found.uniq.grep_v(/#/).reject { |path| page(path).status == 200 }
    expect(others).to eq([])
    eventually(errors: RuntimeError) { text(page('/nodes?status=failed')).include?('1 to 2 of 2') }
  end

  it 'says since when the runs are complete, because the store keeps the last reports only' do
    make_estate
    6.times { estate.reports.save('web1', 'status' => 'changed') }
    tomorrow = Time.now.utc.to_date + 1
    expect(text(whole)).to match(/Days before (?:#{tomorrow}|#{tomorrow + 1}) are incomplete: only the last 5 reports/)
  end

  it 'names keys that expire, with links and without values' do
    make_estate
    client.put('/v1/keys/app1/token', 'value' => 'pl4nted', 'expires_after' => '1d')
    client.put('/v1/keys/all?global=true', 'value' => 'pl4nted', 'expires_after' => '2d')
    found = whole
    expect(text(found)).to include('Warning: Expired, or to expire within 14 days: 2 keys.', 'all (a global key)')
    expect(links(found)).to include('/keys/app1/token?environment=production&backend=default',
                                    '/keys/all?global=true&backend=default')
    expect(found.body).not_to include('pl4nted')
  end

  it 'has keys that expire, and says that others cannot be read' do
    make_estate
    File.binwrite(File.join(@root, 'globals/bad'), '{"value":"x","expires":"nonsense"}')
    problem = "Problem: Keys or folders that cannot be read: 1 (globals/bad of 'default')."
    expect(text(whole)).to include(problem, 'what follows is not all.',
                                   'globals/bad of the backend default: ',
                                   'No key that you may see, of those that can be read, expires within 14 days.')
  end

  # The numbers of all nodes, and the alerts about them, were missing.
  it 'has the other nodes beside one that cannot be read, and names that one' do
    make_estate
    estate.reports.save('web1', 'status' => 'failed')
    { 'status/web2' => 'pl4nted', 'inventory/db1' => '{"value":"pl4nted"}' }.each do |key, document|
      store.put("globals/estate/#{key}", document)
    end
    found = whole
    expect(text(found)).to include('Problem: Nodes whose status or inventory cannot be read: 2 (db1, web2).',
                                   'Problem: The last run failed on 1 node.', '1 active', '1 failed',
                                   'none of the numbers below: they are not complete.',
                                   'db1 : globals/estate/inventory/db1 : it has another form')
    expect(links(found)).to include('/#nodes', '/nodes/db1', '/nodes/web2')
    expect(found.body).not_to include('pl4nted')
  end

  it 'has compilers, findings of doctor with what to do, and says that there is no directory and no access control' do
    make_estate
    Simpkv::Estate.new(options.merge('estate' => { 'compiler_counters' => true }))
                  .reports.save('web1', 'status' => 'changed')
    File.binwrite(File.join(@root, 'globals/broken'), '')
    shown = text(whole)
    expect(shown).to include("#{Socket.gethostname.downcase} #{Simpkv::VERSION}", 'No backend is in a directory',
                             'Access rights are not declared here')
    expect(shown).to match(%r{Problem: simpkv doctor finds .* key 'globals/broken' its document is empty restore})
  end

  it 'says what would fill it while the site is empty' do
    make_estate
    expect(text(whole)).to include('No node has had a run yet.', 'The store has no report of these days.',
                                   'No compiler has stored counters within the last hour.',
                                   'No key that you may see expires within 14 days.')
  end

  it 'has the reason in the place of a part that cannot be read' do
    shown = text(whole)
    expect(shown).to include('Problem: The nodes cannot be read:', "run 'simpkv init'")
  end

  it 'shows markup as text, and stays small' do
    make_estate
    estate.counters.put('web1', 'time' => Time.now.utc.iso8601, 'pools' => [], 'version' => hostile,
                                'keys' => { hostile => '9f86d081884c7d65' })
    estate.statuses.put('db1', 'last_seen' => Time.now.utc.iso8601, 'status' => hostile)
    200.times do |number|
      client.put("/v1/keys/#{'long' * 40}/#{'x' * 200}#{number}", 'value' => 1, 'expires_after' => '2d')
    end
    found = whole
    expect(found.body).not_to match(/<img|<script>/)
    expect(found.body.bytesize).to be < 100_000
    expect(text(found)).to include('onerror=alert(1)', ': 9f86d081884c7d65', '150 more are not shown')
  end

  it 'has a wall view, which a script refreshes and a link loads again' do
    make_estate
    estate.reports.save('web1', 'status' => 'failed')
    found = whole('/console/wall')
    expect(found.body)
      .to include('<meta name="refresh" content="30" data-address="/console/wall?refreshed=true">', 'data-stale hidden')
    expect(links(found)).to include('/console/wall')
    expect(text(found)).to match(/✖ 1 failed (?!.*The last run failed)/).and match(/✖ 1 run .* ▲ simpkv doctor/)
    # Without a script, the browser loads it again.
    expect(found.body)
      .to include('<noscript><meta http-equiv="refresh" content="30; url=/console/wall?refreshed=true"></noscript>')
    expect(page('/?wall=true').body).to include('<meta name="refresh" content="30" data-address="/?')
    expect(page('/').body).not_to include('name="refresh"')
  end

  describe 'the script of the wall' do
    let(:browser) { Browser.new(service.addresses.grep(/\Atcp/).first.sub('tcp', 'http')) }

    before do
      make_estate
      faster = %w[setInterval setTimeout].map do |name|
        "const slow#{name} = #{name}; #{name} = (call, time) => slow#{name}(call, time / 100);"
      end
      browser.page.command('Page.addScriptToEvaluateOnNewDocument', source: faster.join)
      browser.visit('/console/wall')
    end

    after { browser.quit }

    # Marks the content, so that other content is seen.
    def mark
      browser.page.evaluate("document.querySelector('main').classList.add('old')")
    end

    # Waits until the warning is there, over content, or until there is content without a mark and warning.
    def await(stale:)
      warning, content = stale ? [':not([hidden])', ''] : ['[hidden]', ':not(.old)']
      eventually(errors: RuntimeError) do
        browser.count("[data-stale]#{warning}") == 1 && browser.count("main#{content} h1") == 1
      end
    end

    # The page went on to show old numbers.
    it 'loads it again, and says when the service does not answer' do
      mark
      await(stale: false)
      service.terminate
      await(stale: true)
    end

    # The page showed the word "null", and nothing else until somebody loaded it.
    { 'is no HTML' => "async () => new Response('busy', { headers: { 'Content-Type': 'text/plain' } })",
      'has another status' => "async () => new Response('<main id=main>gone</main>', { status: 502 })",
      'does not come' => <<~JS }.each do |what, answer|
        (address, options) => new Promise((resolve, refuse) => options.signal.addEventListener('abort', refuse))
      JS
      it "keeps the content with a warning while an answer #{what}, until a good one comes" do
        browser.page.execute("window.good = window.fetch; window.fetch = #{answer}")
        await(stale: true)
        mark
        browser.page.execute('window.fetch = window.good')
        await(stale: false)
      end
    end
  end

  context 'without the right to ask for the state' do
    include_context 'with a service'
    let(:section) { { 'rights' => [{ 'user' => 'nobody', 'methods' => ['GET'], 'paths' => ['/v1/nodes'] }] } }

    it 'says so' do
      File.chmod(0o755, service.folder)
      as_nobody do
        found = client.exchange("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n")
        found.status == 403 && text(found).include?("user:nobody may not GET /v1/status: 'rights' of 'server'")
      end
    end
  end
end

RSpec.describe 'The overview of a directory' do
  include ConsolePages

  include_context 'with access control in a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:gone) { 'ldap://127.0.0.1:1' }
  let(:backends) do
    uris = { 'write_uri' => @access.server.uri, 'ldap_uri' => "#{@access.server.uri} #{gone}" }
    { 'default' => { 'type' => 'ldap' }.merge(@access.settings, uris) }
  end

  before { declared.apply }

  # @return [String] what the page says, when it knows all
  def shown
    eventually(within: 60, errors: RuntimeError) do
      found = text(page('/'))
      found unless found.include?('Not known yet')
    end
  end

  it 'has its servers, and says that access rights are as they are declared' do
    found = shown
    uri = Regexp.escape(@access.server.uri)
    expect(found).to match(/#{uri} default up yes \d+\.\d+ ms unknown not compared no TLS/)
    expect(found).to match(/#{gone} default down .* no unknown unknown not compared no TLS/)
    day = eventually(errors: RuntimeError) { [text(page('/console/day'))].grep(/did not answer/).first }
    expect(day).to match(/#{uri} Latency At most \d+\.\d+ ms .* #{gone} Latency No answer. Red: it did not answer/)
    expect(found).to match(/Problem: The server #{gone} does not answer: /)
    expect(found).to include('The directory is as declared')
  end

  it 'says that access rights differ from what is declared' do
    remove_member('r0', 'u0')
    expect(shown).to include('Warning: The directory differs from the declared access rights: 1 difference.',
                             'differences: 1, conflicts: 0')
  end
end

RSpec.describe 'What needs attention on the overview' do
  before { require 'simpkv/server' }

  let(:calm) do
    { 'service' => { 'certificates' => [] }, 'servers' => servers_part([]), 'compilers' => {},
      'runs' => {},
      'nodes' => { 'statuses' => { 'failed' => 0 }, 'overdue' => 0, 'unreadable' => { 'total' => 0 },
                   'without_markers' => [] },
      'access' => { 'configured' => false },
      'expiring_keys' => { 'total' => 0, 'unreadable' => { 'total' => 0, 'of_nodes' => 0 } },
      'doctor' => { 'counts' => { 'problem' => 0, 'warning' => 0, 'unknown' => 0 } } }
  end

  def alerts(**parts)
    Simpkv::Server::Console::Alerts.new(calm.merge(parts.transform_keys(&:to_s)))
  end

  def texts(**parts)
    alerts(**parts).all.map { |alert| [alert.urgent, alert.text] }
  end

  def servers(count, **more)
    Array.new(count) { |number| { 'uri' => "ldap://s#{number}", 'state' => 'up' }.merge(more.transform_keys(&:to_s)) }
  end

  def servers_part(servers)
    { 'servers' => servers, 'without_write_uri' => [] }
  end

  # Neither had a link.
  it 'leads from a certificate to the part that has its days' do
    service = { 'certificates' => [{ 'subject' => 'CN=a', 'option' => 'tls_cert', 'days' => 5 }] }
    expect(alerts(service: service).all.map(&:path)).to eq(['/#service'])
    found = alerts(certificates: { 'certificates' => [{ 'backend' => 'default', 'what' => 'ca', 'subject' => 'CN=a',
                                                        'option' => 'tls_cacert', 'days' => -1, 'file' => '/ca' }] })
    expect(found.all.map(&:path)).to eq(['/#servers'])
  end

  # Each part had a sentence of its own.
  it 'says once why several parts cannot be read, whatever the next attempt at each server' do
    errors = [['tried again in 812 ms', 'being tried again at the moment'],
              ['tried again in 9 ms', 'tried again in 7 ms']].map do |first, second|
      { 'error' => "could not reach a server: ldap://a: no answer (#{first}); ldap://b: no answer (#{second})" }
    end
    expect(texts(nodes: errors.first, compilers: errors.last))
      .to eq([[true, "The compilers and nodes cannot be read: #{errors.last['error']}"]])
  end

  it 'is nothing on a calm site' do
    expect([alerts.all, alerts.pending, alerts.unknown]).to eq([[], [], []])
  end

  # Those after the tenth were not looked at.
  it 'has the server that is down behind ten others, also if these have warnings' do
    down = { 'uri' => 'ldap://last', 'state' => 'down', 'error' => 'gone' }
    found = 'The server ldap://last does not answer: gone'
    expect(texts(servers: servers_part([*servers(10), down]))).to eq([[true, found]])
    warned = texts(servers: servers_part([*servers(10, certificate_days: 3), down]))
    expect(warned.first).to eq([true, found])
    expect(warned.last).to eq([false, '1 more about servers of directories.'])
    expect(texts(servers: servers_part([down] * 13)).last).to eq([true, '3 more about servers of directories.'])
  end

  it 'has a configuration error once for all servers of a backend, for callers who may not see it as well' do
    unasked = servers(2, backend: 'b', state: 'misconfigured', error: 'configuration error: gone')
    expect(texts(servers: servers_part(unasked)))
      .to eq([[true, "The servers of the backend 'b' cannot be asked: configuration error: gone"]])
    expect(concealed(unasked).map { |server| server['error'] }.uniq)
      .to eq(['configuration error. Who may read all keys sees which one'])
  end

  # @return [Array<Hash>] what callers see who may not read all keys
  def concealed(servers)
    rights = instance_double(Simpkv::Server::Rights, findings?: false, backend?: true)
    reading = Simpkv::Status::Latest::Reading.new(servers_part(servers), Time.now)
    Simpkv::Server::StatusView.new(rights, nil, nil).part('servers', reading)['servers']
  end

  # The text was "it cannot be read. Who may read all keys sees why".
  it 'says to each caller which server has sent no change, and not why a lag cannot be read' do
    why = 'ldap://s0 has stored no change of the server with the ID 002'
    unseen = servers(1, backend: 'b', lag_seconds: nil, lag_unknown: why, lag_unseen: ['002'])
    expect(texts(servers: servers_part(concealed(unseen))))
      .to eq([[true, "The lag of the server ldap://s0 is unknown: #{why}."]])
    unread = servers(1, backend: 'b', lag_seconds: nil, lag_unknown: "contextCSN of 'dc=simp' is not readable")
    expect(concealed(unread).first['lag_unknown']).to eq('it cannot be read. Who may read all keys sees why')
  end

  # Each had two: one as a key, and one as a document of a node.
  it 'has a document of a node once, unless the nodes cannot be read' do
    keys = { 'expiring_keys' => { 'total' => 0, 'unreadable' => { 'total' => 3, 'of_nodes' => 2 } } }
    nodes = calm['nodes'].merge('unreadable' => { 'total' => 1 })
    found = ['Nodes whose status or inventory cannot be read: 1.', 'Keys or folders that cannot be read: 1.']
    expect(texts(nodes: nodes, **keys).map(&:last)).to eq(found)
    [{ 'error' => 'gone' }, { 'error' => 'soon', 'pending' => true }].each do |untold|
      expect(texts(nodes: untold, **keys).map(&:last)).to include('Keys or folders that cannot be read: 3.')
    end
  end

  it 'has the certificate of the service behind ten others' do
    list = Array.new(12) { |number| { 'subject' => "CN=#{number}", 'option' => 'tls_ca', 'days' => 400 } }
    expect(texts(service: { 'certificates' => [*list, list[0].merge('days' => -1)] }).length).to eq(1)
  end

  it 'has what doctor could not examine, and parts that cannot be read' do
    expect(texts(doctor: { 'counts' => calm['doctor']['counts'].merge('unknown' => 2) }))
      .to eq([[false, 'simpkv doctor could not examine 2 subjects.']])
    expect(texts(access: { 'error' => 'gone' })).to eq([[true, 'The access rights cannot be read: gone']])
    expect(alerts(runs: { 'error' => 'no index' }).unknown).to eq(['runs'])
  end
end

RSpec.describe 'The overview without the index' do
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:section) { { 'query_workers' => 0 } }

  it 'does not say that nothing needs attention' do
    make_estate
    found = eventually(errors: RuntimeError) do
      shown = text(page('/'))
      shown unless shown.include?('Not known yet')
    end
    expect(found).to include('Cannot be read: runs.')
    expect(found).not_to include('Nothing.')
  end
end

RSpec.describe 'The overview of nodes of which some have expired' do
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:options) do
    { 'backends' => backends, 'server' => { 'index' => "#{@root}.index" }, 'estate' => { 'node_ttl' => '30d' } }
  end
  let(:estate) { Simpkv::Estate.new(options) }

  before do
    estate.make
    %w[old1 old2].each { |name| estate.statuses.put(name, 'last_seen' => '2020-01-01T00:00:00Z', 'status' => 'failed') }
  end

  # @return [ServiceClient::Response] the overview with the nodes
  def overview
    eventually(errors: RuntimeError) do
      found = page('/')
      found unless found.body.include?('Not known yet')
    end
  end

  # The numbers had the expired nodes, which the pages behind them do not show.
  it 'counts active nodes as the pages behind its numbers do, and the expired ones apart' do
    estate.reports.save('web1', 'status' => 'failed')
    found = overview
    expect(text(found)).to include('1 active', '1 failed', '0 not seen for a day', '2 expired',
                                   'The last run failed on 1 node.')
    { '/nodes' => 1, '/nodes?status=failed' => 1, '/nodes?state=inactive' => 2 }.each do |path, count|
      expect(links(found)).to include(path)
      eventually(errors: RuntimeError) { text(page(path)).include?("1 to #{count} of #{count}") }
    end
  end

  it 'says in the singular that one key is not shown' do
    51.times { |number| client.put("/v1/keys/app1/#{number}", 'value' => 1, 'expires_after' => '2d') }
    expect(text(overview)).to include('1 more is not shown.')
  end

  it 'does not say that there was no run when all have expired' do
    expect(text(overview)).to include('0 active', '2 expired')
  end
end
