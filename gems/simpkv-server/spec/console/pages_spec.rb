# frozen_string_literal: true

require 'open3'
require 'rack/mock'
require 'simpkv/server'
require_relative '../server/server_helper'
require_relative '../../../../spec/support/another_ruby'
require_relative '../support/console_pages'
require_relative '../support/sample_console'

RSpec.describe 'The pages of the console' do
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', '--local-write', indexed: true

  it 'are at the root for browsers, where the API has its versions for other clients' do
    expect(page('/')).to have_attributes(status: 200, headers: include('content-type' => 'text/html; charset=utf-8'),
                                         body: include('<h1>Overview</h1>'))
    expect(client.get('/').data['versions'].first['id']).to eq('v1')
  end

  it 'are all in the menu and the foot, beside the files and the wall' do
    menu = page('/').body[%r{<nav aria-label="Main">.*?</nav>}m].scan(%r{href="(/\w*)}).flatten
    foot = page('/').body[%r{<footer>.*</footer>}].scan(%r{href="(/\w*)}).flatten
    paths = Simpkv::Server::Console::PATHS.map { |path| "/#{path}" }
    expect([*menu, *foot, '/console', '/search']).to match_array(['/', *paths])
  end

  it 'load nothing from elsewhere, run in no frame, and are not kept' do
    headers = page('/').headers
    expect(headers['content-security-policy']).to start_with("default-src 'none';").and include(
      "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"
    )
    expect(headers).to include('cache-control' => 'no-store', 'x-frame-options' => 'deny',
                               'referrer-policy' => 'same-origin')
  end

  it 'have files that browsers may keep' do
    path = page('/').body[%r{/console/console\.css\?v=\h+}]
    expect(page(path)).to have_attributes(status: 200, headers: include('content-type' => 'text/css',
                                                                        'cache-control' => include('immutable')))
    expect(page('/console/console.rb').status).to eq(404)
  end

  it 'say what is wrong on a page' do
    expect(page('/nodes/a/b/c/d')).to have_attributes(
      status: 404, headers: include('content-type' => 'text/html; charset=utf-8'),
      body: include('there is no page /nodes/a/b/c/d')
    )
  end

  it 'are found by a part of a name in the field of each head, by kind' do
    estate = Simpkv::Estate.new(options).tap(&:make)
    estate.facts.save('web1.example.org', { 'kernel' => 'Linux', 'webserver' => 'nginx' })
    estate.exports.save('web1.example.org', { 'host' => [{ 'title' => 'The WEB[1]' }] }, 'production')
    estate.reports.save('web1.example.org', 'status' => 'unchanged', 'noop' => true)
    store.put('environments/staging/app1/web.d/token', '{"value":"pl4nted"}')
    store.put('globals/web', '{"value":"pl4nted"}')
    action = { 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }
    rule = client.post('/v1/inspection_rules', 'description' => 'web servers', 'actions' => [action]).data['uuid']
    expect(page('/nodes').body).to include('action="/search" role="search"')
    found = page('/search?q=Web')
    expect(text(found)).to match(%r{Nodes web1.\S+ noop Keys app1/web.d/token environment staging.* web global})
      .and match(/Facts webserver .*Resources Host\[The WEB\[1\]\] 1 node .*Rules web servers/)
    expect(links(found)).to include('/nodes/web1.example.org', '/facts/webserver', "/rules/#{rule}",
                                    '/keys/app1/web.d/token?environment=staging&backend=default',
                                    '/resources/Host?title=The+WEB%5B1%5D')
    expect(found.body).not_to include('pl4nted')
    expect(text(page('/search?q=b%5B1'))).to match(/Resources Host/).and match(/\A(?!.*(?:Nodes|Facts) )/)
    expect(text(page('/search?q=nosuch'))).to include('Nothing here has nosuch in its name')
    expect([page('/search'), page("/search?q=#{'x' * 201}")].map(&:status)).to eq([200, 400])
  end

  it 'have the rows of their tables as files, and sort them by their columns' do
    estate = Simpkv::Estate.new(options).tap(&:make)
    estate.facts.save('web1', { 'kernel' => 'Linux', 'a' => 1 })
    estate.exports.save('web1', { 'host' => [{ 'title' => 'a' }, { 'title' => 'b' }], 'a' => [{ 'title' => 'c' }] },
                        'production')
    store.put('environments/production/k', '{"value":"pl4nted"}')
    action = { 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }
    client.post('/v1/inspection_rules', 'description' => 'web servers', 'actions' => [action])
    { '/nodes' => 'seen', '/facts' => 'name', '/resources' => 'count', '/resources/Host' => 'title', '/keys/' => nil,
      '/resources/Host?title=a' => 'node', '/rules' => 'priority', '/nodes/web1/resources' => 'title',
      '/facts/kernel?value=%22Linux%22' => 'node' }.each do |path, column|
      shown = page(path)
      sorted = links(shown).grep(/sort=#{column}\b/).first if column
      expect([path, sorted.nil? || links(page(sorted)).grep(/order=desc/).any?]).to eq([path, true])
      files = links(shown).grep(/format=/)
      types = files.map { |file| page(file).headers['content-type'] }
      expect([path, types]).to eq([path, ['text/csv; charset=utf-8', 'application/json']])
      expect(page(files.last).body).not_to include('pl4nted')
    end
    titles = ->(path) { JSON.parse(page(path).body).map { |row| row['title'] } }
    expect(titles.call('/nodes/web1/resources?sort=title&order=desc&format=json')).to eq(%w[c b a])
    expect(page('/resources?sort=x').status).to eq(400)
  end

  # Browsers got problems in JSON.
  it 'say on a page that there is none, and to programs in JSON' do
    %w[/nope /favicon.ico /node /nopes].each do |path|
      expect(page(path)).to have_attributes(status: 404, headers: include('content-type' => 'text/html; charset=utf-8'))
      expect(text(page(path))).to include("there is no page #{path}")
      expect(links(page(path))).to include("/search?q=#{path.delete('/')}", '/')
      expect(client.get(path)).to have_attributes(status: 404, data: include('status' => 404))
    end
    expect(page('/v1/nope').headers).to include('content-type' => 'application/problem+json')
  end

  # The overview shows for some time what the service read before.
  context 'with a service that has read nothing yet' do
    include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0'

    # They were full tables, which did not say how old they are.
    it 'say as of when the index is, if the store does not answer any more' do
      make_estate
      estate = Simpkv::Estate.new(options)
      estate.facts.save('web1', { 'kernel' => 'Linux' })
      estate.exports.save('web1', { 'host' => [{ 'title' => 'a' }] }, 'production')
      pages = %w[/nodes /facts /facts/kernel /resources /resources?type=Host /query?query=nodes%7B%7D]
      read = -> { pages.map { |path| text(page(path)) } }
      eventually(errors: RuntimeError) { read.call.first.include?('web1') }
      expect(read.call).to all(match(/\A(?!.*last refreshed)/))
      FileUtils.mv(@root, "#{@root}.away")
      notice = /The index was last refreshed \d+ seconds? ago , and .* had at that time\. .*there is no store/
      eventually(errors: RuntimeError) { read.call.all?(notice) }
      expect(text(page('/nodes'))).to include('web1')
      overview = eventually(errors: RuntimeError) { [text(page('/'))].grep_v(/Not known yet: [^.]*runs/).first }
      expect(overview).to match(/Runs of the last 14 days The index was last refreshed \d+ seconds? ago/)
      # It had no tabs, of which some come from the index.
      node = page('/nodes/web1')
      expect([node.status, text(node), links(node)])
        .to match([503, include('there is no store'), include('/nodes/web1/catalog')])
      FileUtils.mv("#{@root}.away", @root)
      eventually(errors: RuntimeError) { read.call.none?(/refreshed/) }
      expect(text(page('/rules'))).not_to include('The index')
    end
  end

  it 'show nothing of an internal error but the id of its line in the log' do
    log = StringIO.new
    service = observed(->(_) { raise 'pl4nted' }, log)
    expect(service.call(request('/rules', 'text/html'))).to match([500, include('content-type' => include('text/html')),
                                                                   include('line about it').and(include('id-1'))])
    expect(service.call(request('/rules', '*/*'))).to match([500, include('content-type' => Simpkv::Server::Problem::TYPE),
                                                             include('urn:request:id-1')])
    expect(log.string).to match(/ id-1 internal error: RuntimeError at .*pages_spec\.rb/)
  end

  # A page of an error that fails was no answer.
  it 'answer in JSON if the page of an error fails' do
    allow(Simpkv::Server::Console).to receive(:application).and_return(->(_) { raise 'pl4nted' })
    log = StringIO.new
    expect(observed(->(_) { [200, {}, ['']] }, log).call(request('/rules', 'text/html')))
      .to match([500, include('content-type' => Simpkv::Server::Problem::TYPE), include('internal error')])
    expect(log.string.scan('id-1 internal error').length).to eq(2)
  end

  # The text was lost.
  it 'keep the text of a rule that another operator changes and then deletes while it is saved' do
    rule = JSON.generate('uuid' => '1', 'actions' => [], 'created_at' => '2026-11-26T08:00:00Z')
    answers = [200, 200, 409, 404].map { |status| [status, {}, [status == 200 ? rule : '{}']] }
    service = observed(->(_) { answers.shift }, StringIO.new)
    form = service.call(request('/rules/1/edit', 'text/html')).last
    fields = { '_token' => form[/name="_token" value="(\h+)"/, 1], 'text' => 'actions: [] # mine',
               'seen' => '2026-11-26T08:00:00Z' }
    saved = service.call(request('/rules/1/edit', 'text/html', method: 'POST', params: fields))
    expect(saved).to match([404, anything, include('There is no such rule any more', 'actions: [] # mine')])
    expect(answers).to eq([])
  end

  it 'keep the value of a key that another operator changes before its store is lost' do
    key = JSON.generate('versions' => [], 'audit' => 'none', 'metadata' => {})
    found = [200, { 'etag' => '"1"', 'allow' => 'PUT' }, [key]]
    answers = { 'GET' => [found, [503, {}, ['{}']]], 'PUT' => [[412, {}, ['{}']]] }
    api = lambda do |env|
      env['PATH_INFO'] == '/v1/keys/a' ? answers[env['REQUEST_METHOD']].shift : [403, {}, ['{}']]
    end
    service = observed(api, StringIO.new)
    form = service.call(request('/keys/a?do=edit', 'text/html')).last
    fields = { '_token' => form[/name="_token" value="(\h+)"/, 1], 'format' => 'text', 'value' => 'mine',
               'etag' => '"1"' }
    saved = service.call(request('/keys/a?do=save', 'text/html', method: 'POST', params: fields))
    expect(saved).to match([503, anything, include('Somebody else has changed this key', "\nmine</textarea>")])
    expect(answers.values).to all(eq([]))
  end

  it 'say that the deletion of a key without an entity tag has no condition' do
    key = JSON.generate('error' => 'it is encrypted', 'audit' => 'none')
    api = ->(env) { env['PATH_INFO'] == '/v1/keys/a' ? [200, { 'allow' => 'DELETE' }, [key]] : [403, {}, ['{}']] }
    question = observed(api, StringIO.new).call(request('/keys/a?do=delete', 'text/html'))
    expect(question).to match([200, anything, include('A value that somebody stores there at the same moment goes')])
  end

  # @param api [#call]
  # @return [#call] returns status, headers and text
  def observed(api, log)
    gate = Simpkv::Server::Gate.new(api, -> { Simpkv::Server::Rights.new([], local_write: true) }, nil)
    metrics = instance_double(Simpkv::Server::Metrics, observe: nil, error: nil)
    write = ->(text, id:, from:) { log.puts("#{from} #{id} #{text}") }
    app = Simpkv::Server::Observation.new(Simpkv::Server::Entrance.new(gate) { |pages| pages }, metrics, write)
    lambda do |env|
      status, headers, parts = app.call(env)
      [status, headers, parts.to_a.join]
    end
  end

  def request(path, accept, **more)
    facts = { kind: :tcp, arrived: nil, retiring?: false, peer_name: 'peer' }
    connection = instance_double(Simpkv::Server::Connection, **facts)
    headers = { 'HTTP_ACCEPT' => accept, 'HTTP_HOST' => 'localhost', 'HTTP_X_REQUEST_ID' => 'id-1' }
    Rack::MockRequest.env_for(path, **more, **headers, Simpkv::Server::Connection::KEY => connection)
  end

  # Some of them had no page, and some had two addresses.
  it 'have one address, without a slash at its end' do
    { '/query/?query=nodes&x=%20' => '/query?query=nodes&x=%20', '/resources/' => '/resources', '/nodes/' => '/nodes',
      '/console/wall/' => '/console/wall', '/nodes/a%3bb/facts/' => '/nodes/a%3bb/facts',
      '/rules/test/' => '/rules/test', '/nope/' => '/nope' }.each do |path, to|
      expect(page(path)).to have_attributes(status: 301, headers: include('location' => to))
    end
    expect(page('/keys/').status).to eq(200)
    expect(send_form('/rules/test/', {}).status).to eq(403)
  end

  # Anybody could make a link to a page that says so.
  it 'say that a form has done something only if it has, to the one who has sent it, for a minute' do
    store.put('environments/production/a', '{"value":1}')
    etag = CGI.unescapeHTML(page('/keys/a?do=delete').body[/name="etag" value="([^"]*)"/, 1])
    location = submit('/keys/a?do=delete', '/keys/a?do=delete', 'etag' => etag).headers['location']
    name, time, signature = location[/notice=(.*)/, 1].split('.')
    expect(text(page(location))).to include('The key is deleted.')
    { 'deleted' => signature, 'folder_deleted' => signature, "deleted.#{time}" => 'x' * 64,
      "deleted.#{time.to_i + 1}" => signature, "folder_deleted.#{time}" => signature, 'deleted..' => '' }
      .map { |mark, sign| "/keys/?environment=production&notice=#{mark}.#{sign}" }
      .push("/keys/b/?environment=production&notice=#{name}.#{time}.#{signature}", '/nodes?removed=web1&notice=removed',
            '/nodes?removed=web1', '/rules?notice=deleted', '/keys/?notice=folder_deleted',
            "/rules?notice=#{name}.#{time}.#{signature}")
      .each { |path| expect([path, page(path).body]).not_to include(include('role="status"')) }
  end

  # Numbers of rows that were not UTF-8 ended in an internal error.
  it 'refuse parameters that are not UTF-8' do
    paths = SampleConsole.paths.map { |path| path.sub(/\?.*/, '') }.uniq
    expect(paths.length).to be > 30
    paths.product(parameters).each do |path, name|
      answer = page("#{path}?#{name}=%ff")
      expect([path, name, answer.status, text(answer)]).to match([path, name, 400, /malformed query/])
    end
    %w[limit[]=1 offset[x]=1 limit[]=%ff a%ff=1 a[%ff]=1].each do |query|
      expect(page("/nodes?#{query}").status).to eq(400)
    end
    expect(service.log).not_to include('internal error')
  end

  # They were replaced by others without a word.
  it 'refuse numbers of rows that there cannot be, and say which there are' do
    paths = %w[/nodes?status=never /keys/]
    { 'offset' => %w[-1 1000000000 x 1.5], 'limit' => %w[-1 0 201 99999999999] }.each do |name, numbers|
      paths.product(numbers).each do |path, number|
        answer = page("#{path}#{path.include?('?') ? '&' : '?'}#{name}=#{number}")
        expect([path, number, answer.status]).to eq([path, number, 400])
        expect(text(answer)).to include("the parameter '#{name}' must be a whole number from")
      end
    end
    expect(page('/keys/?limit=&offset=')).to have_attributes(status: 200)
  end

  # @return [Array<String>] those that the source reads, and one that it does not
  def parameters
    files = Dir[File.expand_path('../../../*/lib/simpkv/server/console/**/*.rb', __dir__)]
    sources = files.map { |file| File.read(file) }
    single = sources.join.scan(/(?:given\??|number|parameter|take)\(?'(\w+)'/).flatten
    lists = /%w\[([\w ]+)\]\.(?:map|to_h) \{ \|name\| \[?(?:name, )?(?:visit\.)?(?:given|parameter)/
    several = sources.join.scan(lists)
    names = [*single, *several.flat_map { |list| list.first.split }]
    names = [*names, *Simpkv::Server::Console::Rules::TestPage::FIELDS].uniq
    expect(names).to include('offset', 'limit', 'q', 'environment', 'path', 'do', 'from', 'certname')
    [*names, 'other']
  end

  it 'refuse fields that are not UTF-8' do
    token = page('/rules/test').body[/name="_token" value="(\h+)"/, 1]
    { '/rules/test' => %w[certname facts record rules text], '/rules/new' => %w[text], '/rules/import' => %w[text],
      '/keys/?do=new' => %w[name format value sensitive metadata expires history etag],
      '/keys/a?do=show' => %w[version], '/keys/a?do=restore' => %w[version expires etag],
      '/keys/a/?do=delete' => %w[name] }.each do |path, names|
      names.product(fields(token)).each do |name, (type, body)|
        body = body.gsub('NAME', name)
        answer = exchange("POST #{path}", { 'Content-Type' => type, 'Content-Length' => body.bytesize }, body)
        expect([path, answer.status, answer.body]).to match([path, 400, /the field &#39;#{name}&#39; must be a/])
      end
    end
    expect(service.log).not_to include('internal error')
  end

  # @return [Array<Array(String, String)>] types and forms with the field NAME
  def fields(token)
    part = "--x\r\nContent-Disposition: form-data; name="
    latin = "#{part}_token\r\n\r\n#{token}\r\n#{part}NAME\r\n" \
            "Content-Type: text/plain; charset=iso-8859-1\r\n\r\n\xe4\r\n--x--\r\n"
    [['application/x-www-form-urlencoded', "_token=#{token}&NAME=%ff"],
     ['application/x-www-form-urlencoded', "_token=#{token}&NAME[x]=1"], ['multipart/form-data; boundary=x', latin.b]]
  end

  # A client of the API gets a problem in JSON for the same request.
  it 'say on a page why a request is refused before it comes to one' do
    form = ['POST /keys/a', { 'Content-Type' => 'text/plain', 'Content-Length' => 2_000_000 }, 'x' * 2_000_000]
    { 400 => ['GET /nodes/%zz', {}], 403 => ['GET /nodes', { 'Origin' => 'http://evil.example' }],
      421 => ['GET /nodes', { 'Host' => 'evil.example' }], 413 => form }.each do |status, (line, headers, body)|
      answer = exchange(line, headers.merge('Accept' => 'text/html'), body.to_s)
      expect(answer).to have_attributes(status: status, headers: include(
        'content-type' => 'text/html; charset=utf-8', 'content-security-policy' => include("script-src 'self'")
      ), body: include('class="problem"').and(match(/simpkv [\d.]+</)))
      expect(exchange(line, headers, body.to_s)).to have_attributes(
        status: status, headers: include('content-type' => 'application/problem+json')
      )
    end
  end

  # The link used to lead to the page of `a`.
  it 'have links to names with characters that mean something in an address' do
    name = 'a?b#c&d;e%41+f [x]'
    estate = Simpkv::Estate.new(options).tap(&:make)
    estate.facts.save('web1', { name => { name => 'found' } })
    store.put("environments/production/#{name}/#{name}", '{"value":1}')
    { '/facts' => 'found', '/keys/?filter=a' => 'disallowed whitespace' }.each do |path, shown|
      link = links(page(path)).find { |address| address.include?('a%3Fb%23c%26d%3Be%2541%2Bf%20%5Bx%5D') }
      expect(text(page(link))).to include(name, shown)
    end
  end

  it 'take no other methods than those of browsers, and change nothing' do
    store.put('environments/production/a', '{"value":1}')
    %w[PUT DELETE PATCH OPTIONS TRACE].product(%w[/keys/a /nodes/web1 /rules /console/console.css]).each do |line|
      answer = exchange(line.join(' '), 'Accept' => 'text/html')
      expect(answer).to have_attributes(status: 405, headers: include('allow' => 'get, head, post'))
      expect(text(answer)).to include("pages do not take #{line.first}")
    end
    expect(exchange('HEAD /keys/a', {})).to have_attributes(status: 200, body: '')
    expect(store.list('environments/production')[:keys].keys).to eq(%w[a])
  end

  # They were JSON, also in a browser. Puma refuses these before it has read the header Accept, but for the last two.
  it 'are also what a browser gets for a request that Puma cannot take' do
    secret = 'pl4nted'
    lines = { "GET /query?query=#{secret * 2000}" => [414, 'the address is too long'],
              "GET /#{secret * 2000}" => [414, 'the address is too long'], 'GET /nodes x' => [400, 'malformed request'],
              'GET /nodes?' => [431, 'the headers of the request are too long'],
              "BREW /keys/#{secret}" => [501, 'the method of the request'] }
    lines.each do |line, (status, why)|
      more = status == 431 ? { 'Cookie' => secret * 13_000 } : {}
      answer = exchange(line, { 'Accept' => 'text/html,*/*;q=0.8', **more })
      expect([answer.status, text(answer)]).to match([status, include(why)])
      expect(answer).to have_attributes(headers: include('content-type' => start_with('text/html'),
                                                         'x-request-id' => /\A[\h-]{36}\z/))
      expect(answer.body).not_to include(secret)
      [[line, {}], [line.sub(' /', ' /v1/'), { 'Accept' => 'text/html' }]].each do |other, accept|
        expect(exchange(other, { **accept, **more }).headers['content-type']).to eq('application/problem+json')
      end
    end
  end

  # The header Accept comes after the first bytes of such a request: it got JSON about its headers.
  it 'are what a browser gets for an address of any length' do
    answer = exchange("GET /nodes/#{'x' * 140_000}", { 'Accept' => 'text/html' })
    expect([answer.status, text(answer)]).to match([414, include('the address is too long')])
    expect(links(answer)).to include('/nodes', '/')
  end

  it 'refuse a form that cannot be read' do
    urlencoded = 'application/x-www-form-urlencoded'
    part = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"
    wide = "Content-Type: text/plain; charset=utf-16\r\n\r\n"
    forms = [[urlencoded, '%zz=%'], [urlencoded, '_token=%ff%'], [urlencoded, 'a=1&a[b]=2'],
             [urlencoded, "a#{'[b]' * 5000}=1"], [urlencoded, 'a=1&' * 10_000],
             ['multipart/form-data; boundary=x', ''], ['multipart/form-data', ''],
             ['multipart/form-data; boundary=x', "#{part.sub(/;.*/, '')}1\r\n--x--\r\n"],
             ['multipart/form-data; boundary=x', "#{part.chomp("\r\n")}#{wide}1\r\n--x--\r\n"],
             ['multipart/form-data; boundary=x', 'rubbish'], ['multipart/form-data; boundary=x', part],
             ["multipart/form-data; boundary=#{'x' * 500}", 'rubbish'],
             ['multipart/form-data; boundary=x', "#{part}1\r\n" * 5000]]
    forms.each do |type, body|
      answer = exchange('POST /keys/a', { 'Content-Type' => type, 'Content-Length' => body.bytesize }, body)
      expect([answer.status, text(answer)]).to match([400, /malformed form: nothing was changed/]), body[0, 20]
    end
    expect(service.log).not_to include('internal error')
  end

  # All files of the console add methods to one class.
  it 'do not replace methods of one another' do
    out, status = Open3.capture2e(*AnotherRuby.command('-w', '-e', 'require "simpkv/server"'))
    expect(status).to be_success
    expect(out.lines.grep(%r{/simpkv/server/.*redefined})).to be_empty
  end

  it 'refuse a form without the token, or of a page of another site' do
    refused = [send_form('/keys/a', {}), send_form('/keys/a', '_token' => 'x' * 64),
               send_form('/keys/a', {}, 'Origin' => 'http://evil.example'),
               send_form('/keys/a', {}, 'Sec-Fetch-Site' => 'cross-site')]
    expect(refused).to all(have_attributes(status: 403))
    expect(store.list('environments/production', required: false)).to be_nil.or include(keys: {})
  end
end
