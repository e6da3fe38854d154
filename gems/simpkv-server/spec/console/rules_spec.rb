# frozen_string_literal: true

require 'simpkv/document/plain_yaml'
require 'yaml'
require_relative '../server/server_helper'
require_relative '../support/console_pages'

RSpec.describe 'The pages of inspection rules' do
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:markup) { '<script>alert(1)</script>"><img src=x onerror=alert(1)>' }
  let(:web) do
    { 'description' => 'web servers', 'conditions' => [step('contains', '{node.name}', '^web')],
      'actions' => [step('set-attribute', '/parameters/role', 'web')] }
  end
  let(:secret) do
    { 'description' => 'keys', 'sensitive' => true, 'conditions' => [step('eq', 'c0ndition', 'c0ndition')],
      'actions' => [step('set-attribute', '/parameters/token', 's3cret')] }
  end

  before { make_estate }

  def step(name, *arguments)
    { 'op' => name, 'args' => arguments }
  end

  # @return [Hash] the stored rule
  def create(fields)
    client.post('/v1/inspection_rules', fields).data
  end

  def stored(uuid = nil)
    return client.get("/v1/inspection_rules/#{uuid}").data if uuid

    client.get('/v1/inspection_rules?detail=true').data['inspection_rules']
  end

  # @return [String] what a hidden field of a page has
  def hidden_field(response, name)
    response.body[/name="#{name}" value="([^"]*)"/, 1]
  end

  # @return [String] the text in a field, as a browser reads it
  def text_of(response, name)
    CGI.unescapeHTML(response.body[%r{<textarea[^>]* name="#{name}"[^>]*>\n(.*?)</textarea>}m, 1])
       .force_encoding(Encoding::UTF_8)
  end

  # Changes the text of a rule on its page.
  def edit(uuid, text, seen: nil)
    form = page("/rules/#{uuid}/edit")
    submit("/rules/#{uuid}/edit", "/rules/#{uuid}/edit",
           'text' => text, 'seen' => seen || hidden_field(form, 'seen'))
  end

  it 'say what would fill the list' do
    expect(text(page('/rules'))).to include('There are no rules', 'simpkv rule import FILE')
  end

  it 'list the rules in the order in which they run, with links, choices and pages' do
    create(web)
    create(secret.merge('scope' => 'rack12', 'priority' => 5))
    early = create('phase' => 'early', 'actions' => [step('log', 'hello')])
    shown = text(page('/rules'))
    expect(shown).to match(/1 #{early['uuid']} early 0 all nodes 2 keys main 5 rack12 sensitive 3 web servers main 0/)
    expect(text(page('/rules?scope=rack12'))).to match(/2 keys .*1 to 1 of 1 These rows: CSV JSON\z/)
    expect(text(page('/rules?q=WEB&phase=main'))).to match(/3 web servers .*1 to 1 of 1 These rows: CSV JSON\z/)
    expect(text(page('/rules?limit=1&offset=1')))
      .to match(/2 keys main .*2 to 2 of 3 Previous Next These rows: CSV JSON\z/)
    expect(links(page('/rules'))).to include("/rules/#{early['uuid']}")
    expect(page('/rules?q[]=1').status).to eq(400)
  end

  it 'show a rule with its conditions and actions, as YAML and as JSON' do
    uuid = create(web.merge('actions' => web['actions'] + [step('log', 'a').merge('loop' => [1])]))['uuid']
    shown = page("/rules/#{uuid}")
    expect(text(shown)).to include('0 contains ["{node.name}","^web"]', '0 set-attribute ["/parameters/role","web"]',
                                   '1 log ["a"] loop: [1]', 'Phase main', 'Changed never')
    yaml, json = shown.body.scan(%r{<pre>(.*?)</pre>}m).flatten.map { |text| CGI.unescapeHTML(text) }
    expect([YAML.safe_load(yaml), JSON.parse(json)]).to all(match([include('uuid' => uuid, 'phase' => 'main')]))
    expect(page("/rules/#{uuid.tr('0-9', '5')}")).to have_attributes(status: 404, body: include('there is no rule'))
  end

  it 'create a rule, and keep what a person has entered if it is wrong' do
    wrong = submit('/rules/new', '/rules/new', 'text' => "actions:\n- op: nosuch\n  args: [#{'x' * 50}]\n")
    expect(wrong).to have_attributes(status: 400)
    expect(text(wrong)).to include("actions[0].op: there is no action 'nosuch'").and include('x' * 50)
    expect(text(submit('/rules/new', '/rules/new', 'text' => "a: 1\na: 2"))).to include('the same name twice')
    expect(text(submit('/rules/new', '/rules/new', 'text' => '[1]'))).to include('it must be a Hash')
    expect(text(submit('/rules/new', '/rules/new', 'text' => "a: &x\n- *x\n"))).to include('has an alias')
    expect(stored).to eq([])
    done = submit('/rules/new', '/rules/new', 'text' => text_of(page('/rules/new'), 'text').gsub("\n", "\r\n"))
    expect(done).to have_attributes(status: 303, headers: include('location' => start_with('/rules/')))
    expect(text(page(done.headers['location']))).to include('The rule is stored.', 'web servers')
    expect(stored).to match([include('conditions' => [include('op' => 'matches')])])
  end

  it 'copy a rule' do
    file = text_of(page("/rules/new?copy=#{create(web.merge('priority' => 7))['uuid']}"), 'text')
    expect(YAML.safe_load(file)).to eq({ **web, 'description' => 'Copy of web servers', 'priority' => 7,
                                                'phase' => 'main', 'sensitive' => false })
  end

  it 'change only what the text changes' do
    uuid = create(web)['uuid']
    form = text_of(page("/rules/#{uuid}/edit"), 'text')
    expect(edit(uuid, form).headers['location']).to include('notice=same')
    expect(stored(uuid)['updated_at']).to be_nil
    edit(uuid, form.sub('priority: 0', 'priority: 20').sub(/^conditions:.*(?=^actions)/m, ''))
    expect(stored(uuid)).to include(web.merge('priority' => 20, 'conditions' => [], 'updated_at' => String))
    edit(uuid, form.sub(/^description:.*\n/, ''))
    expect(stored(uuid)).to include(web.merge('description' => nil, 'priority' => 0))
    { 'priority: 0' => 'priority: high', 'phase: main' => 'colour: red', 'sensitive: false' => "built_in: true\n",
      uuid => uuid.tr('0-9', '5'), '- op: contains' => '- op: resembles' }.each do |old, new|
      wrong = edit(uuid, form.sub(old, new))
      expect(wrong).to have_attributes(status: 400, body: include('role="alert"'))
      expect(text_of(wrong, 'text')).to include(new)
    end
  end

  it 'keep the conditions and actions of a sensitive rule, which they do not show' do
    uuid = create(secret)['uuid']
    form = page("/rules/#{uuid}/edit")
    pages = [form, page("/rules/#{uuid}"), page('/rules'), page('/rules/export'), page("/rules/#{uuid}/delete"),
             page("/rules/new?copy=#{uuid}")]
    expect(text(form)).to include('its conditions and actions are not shown. Those that the text lacks stay')
    expect(text(pages[1])).to include('nobody sees its conditions and actions again')
    edit(uuid, "#{text_of(form, 'text').sub('priority: 0', 'priority: 3')}conditions: null\n")
    expect(stored(uuid)).to include('priority' => 3, 'sensitive' => true)
    document = JSON.parse(store.get("globals/estate/rules/#{uuid}"))['value']
    expect(document).to include(secret)
    edit(uuid, "#{text_of(form, 'text')}actions: [{ op: log, args: [public] }]\n")
    expect(JSON.parse(store.get("globals/estate/rules/#{uuid}"))['value'])
      .to include('conditions' => secret['conditions'], 'actions' => [step('log', 'public')])
    refused = edit(uuid, text_of(form, 'text').sub('sensitive: true', 'sensitive: false'))
    expect(text(refused)).to include('sensitive: it cannot be unset')
    expect((pages << refused).map { |shown| shown.body.b }.join).not_to match(/s3cret|c0ndition/)
  end

  it 'refuse a change that another operator has overtaken, and lose nothing' do
    uuid = create(web)['uuid']
    seen = hidden_field(page("/rules/#{uuid}/edit"), 'seen')
    client.patch("/v1/inspection_rules/#{uuid}", [{ 'op' => 'add', 'path' => '/scope', 'value' => 'theirs' }])
    refused = edit(uuid, "description: mine\nactions: [{ op: log, args: [a] }]\n", seen: seen)
    expect(refused).to have_attributes(status: 409)
    expect(text(refused)).to include('Another operator has changed the rule', 'scope: theirs')
    expect(text_of(refused, 'text')).to start_with('description: mine')
    { 'priority' => { 'priority' => '9' }, 'delete' => {} }.each do |name, fields|
      answer = submit("/rules/#{uuid}/delete", "/rules/#{uuid}/#{name}", fields.merge('seen' => seen))
      expect(answer).to have_attributes(status: 409, body: include('Another operator has changed the rule'))
    end
    expect(stored(uuid)).to include(web.merge('scope' => 'theirs', 'priority' => 0))
    edit(uuid, text_of(refused, 'text'), seen: hidden_field(refused, 'seen'))
    expect(stored(uuid)).to include('description' => 'mine', 'scope' => nil)
  end

  it 'make a new rule of the text of one that another operator has deleted' do
    uuid = create(web)['uuid']
    form = page("/rules/#{uuid}/edit")
    client.delete("/v1/inspection_rules/#{uuid}")
    answer = submit('/rules/new', "/rules/#{uuid}/edit", 'text' => text_of(form, 'text'),
                                                         'seen' => hidden_field(form, 'seen'))
    expect(answer).to have_attributes(status: 404, body: include('There is no such rule any more. The button stores'))
    expect(text_of(answer, 'text')).to include('web servers')
  end

  it 'set the priority, and delete after a page that repeats what goes' do
    uuid = create(web)['uuid']
    shown = page("/rules/#{uuid}")
    submit("/rules/#{uuid}", "/rules/#{uuid}/priority", 'priority' => '50', 'seen' => hidden_field(shown, 'seen'))
    expect(stored(uuid)['priority']).to eq(50)
    %w[high 10000].each do |wrong|
      seen = hidden_field(page("/rules/#{uuid}"), 'seen')
      answer = submit("/rules/#{uuid}", "/rules/#{uuid}/priority", 'priority' => wrong, 'seen' => seen)
      expect(answer).to have_attributes(status: 400, body: include('role="alert"'))
    end
    question = page("/rules/#{uuid}/delete")
    expect(text(question)).to include('This deletes the rule web servers', uuid, 'Download it first')
    expect(stored.length).to eq(1)
    answer = submit("/rules/#{uuid}/delete", "/rules/#{uuid}/delete", 'seen' => hidden_field(question, 'seen'))
    expect(answer).to have_attributes(status: 303)
    expect(stored).to eq([])
  end

  # Each page of rules was an error.
  it 'name a rule that cannot be read beside the others, and delete it' do
    kept, torn = [web, web].map { |fields| create(fields)['uuid'] }
    place = "globals/estate/rules/#{torn}"
    sound = store.get(place)
    store.put(place, 'pl4nted')
    list = page('/rules')
    expect([list.status, text(list)]).to match([200, include('web servers', "Delete : #{place} :")])
    expect(links(list)).to include("/rules/#{kept}", "/rules/#{torn}/delete")
    shown = ['', '/edit', '/delete'].map { |name| page("/rules/#{torn}#{name}") }
    expect(shown).to all(have_attributes(status: 500, body: include(place, "simpkv rule delete #{torn}")))
    expect([list, *shown].map(&:body).grep(/pl4nted/)).to eq([])
    form = { '_token' => hidden_field(shown.last, '_token'), 'seen' => '' }
    store.put(place, sound)
    expect(send_form("/rules/#{torn}/delete", form).status).to eq(409)
    store.put(place, 'pl4nted')
    expect(send_form("/rules/#{torn}/delete", form).status).to eq(303)
    expect(stored.map { |rule| rule['uuid'] }).to eq([kept])
  end

  it 'change nothing without the token of the form' do
    uuid = create(web)['uuid']
    before = stored
    ["#{uuid}/edit", "#{uuid}/priority", "#{uuid}/delete", 'new', 'import', 'test'].each do |path|
      answer = send_form("/rules/#{path}", 'text' => '[]', 'seen' => before.first['created_at'], 'priority' => '1')
      expect(answer.status).to eq(403)
    end
    expect(stored).to eq(before)
  end

  describe 'for tests' do
    # @return [ServiceClient::Response]
    def try(fields)
      submit('/rules/test', '/rules/test', fields)
    end

    it 'explain each rule for pasted facts, also with rules that are not saved' do
      uuid = create(web)['uuid']
      create(web.merge('description' => 'databases', 'conditions' => [step('eq', '{inventory[role]}', 'db')]))
      facts = { 'networking' => { 'fqdn' => 'web1.example.com' }, 'role' => markup }.to_yaml
      tried = try('facts' => facts)
      expect(text(tried)).to include(
        'web1.example.com : The rules accept the node. The node has no declared record', 'web servers (main): matched',
        'actions[0] set-attribute /parameters/role: "web"', 'databases (main): did not match',
        'conditions[0] eq does not hold: ["<script>'
      )
      expect(tried.body).not_to match(/<script>alert|<img/)
      expect(text_of(tried, 'facts')).to eq(facts)
      unsaved = web.merge('uuid' => uuid, 'actions' => [step('fail', 'no {node.name}')])
      changed = text(try('facts' => facts, 'certname' => 'web2', 'record' => 'environment: dev',
                         'rules' => unsaved.to_yaml))
      expect(changed).to include("The node is refused by the rule #{uuid} 'web servers': no web2")
      expect(stored(uuid)).to include(web)
    end

    it 'take the facts and the record of a stored node, and store nothing' do
      create(web)
      Simpkv::Estate.new(options).then do |estate|
        estate.facts.save('web1', { 'role' => 'db', 'db_password' => 'pl4nted' }, trusted: { 'certname' => 'web1' })
        estate.nodes.declare('web1', 'environment' => 'dev')
      end
      expect(text(try('certname' => 'web1'))).to include('The node has a declared', 'web servers (main): matched')
      rule = { 'actions' => [step('set-attribute', '/parameters/role',
                                  '{inventory[role]}-{inventory[trusted][certname]}-{node.environment}')] }
      expect(text(try('certname' => 'web1', 'rules' => [rule].to_yaml))).to include('db-web1-dev')
      reading = [{ 'actions' => [step('log', 'it is {inventory[db_password]}')] }].to_yaml
      expect(text(try('certname' => 'web1', 'rules' => reading))).to match(/it is (\*{6}|\[redacted\])/)
      expect(client.get('/v1/nodes/web1/inspection').status).to eq(404)
    end

    it 'say what is wrong, and keep what was entered' do
      { { 'certname' => 'nosuch' } => "'nosuch' has no facts", {} => 'name a node, or enter facts',
        { 'facts' => '[1]' } => 'facts: they must be a Hash', { 'facts' => "a: &x\n  b: *x" } => 'has an alias',
        { 'facts' => '{}', 'rules' => 'actions: 1' } => 'rules[0]: actions: ',
        { 'facts' => '{}', 'rules' => "- a: 1\n  a: 2" } => 'rules: it has the same name twice',
        { 'facts' => '{}', 'record' => 'colour: 1' } => "no member 'colour'" }.each do |fields, why|
        answer = try(fields)
        expect(answer.status).to be_between(400, 404)
        expect(text(answer)).to include(why)
        fields.each { |name, entered| expect(answer.body).to include(CGI.escapeHTML(entered)).or include(name) }
      end
    end

    it 'open with the text of an edited rule' do
      uuid = create(web)['uuid']
      opened = submit("/rules/#{uuid}/edit", '/rules/test', 'text' => 'uuid: x', 'open' => '1', 'seen' => 'x')
      expect(opened.status).to eq(200)
      expect(text_of(opened, 'rules')).to eq('uuid: x')
    end
  end

  describe 'for files' do
    it 'export all rules but sensitive and built-in ones, which the file names' do
      create(web.merge('conditions' => [step('!eq', '12:30:00', 'yes', "a\u2028- b: 1")]))
      create(secret.merge('description' => "keys\n- description: injected\u2028- description: injected"))
      create('phase' => 'early', 'actions' => [step('log', markup)])
      exported = page('/rules/export')
      expect(exported.headers).to include('content-type' => 'text/yaml; charset=utf-8',
                                          'content-disposition' => 'attachment; filename="simpkv-rules.yaml"')
      file = exported.body.force_encoding(Encoding::UTF_8)
      expect(file).to match(/^# Left out, because it is sensitive: \h{8}-\S+ \('keys\\x0A/)
      rules = Simpkv::PlainYaml.parse(file, strict: true)
      expect(rules.map { |rule| rule['description'] }).to eq([nil, 'web servers'])
      imported = client.post('/v1/inspection_rules/import', rules).data['outcomes']
      expect(imported.map { |each| each['outcome'] }).to eq(%w[unchanged unchanged])
    end

    it 'import only what they have shown before' do
      uuid = create(web)['uuid']
      list = [web.merge('priority' => 5), web.merge('description' => markup)]
      foreseen = submit('/rules/import', '/rules/import', 'text' => JSON.generate(list))
      expect(text(foreseen)).to include('1 created, 1 updated, 0 unchanged', 'priority: 0 5', 'created <script>')
      expect(foreseen.body).not_to match(/<script>alert|<img/)
      expect(stored.length).to eq(1)
      fields = { 'text' => text_of(foreseen, 'text'), 'seen' => hidden_field(foreseen, 'seen') }
      client.patch("/v1/inspection_rules/#{uuid}", [{ 'op' => 'add', 'path' => '/scope', 'value' => 'theirs' }])
      overtaken = submit('/rules/import', '/rules/import', fields)
      expect(overtaken).to have_attributes(status: 409, body: include('2 created, 0 updated'))
      expect(stored.length).to eq(1)
      done = submit('/rules/import', '/rules/import', fields.merge('seen' => hidden_field(overtaken, 'seen')))
      expect(done).to have_attributes(status: 303)
      expect(stored.length).to eq(3)
      again = submit('/rules/import', '/rules/import', 'text' => JSON.generate(list))
      expect(text(again)).to include('there is nothing to import')
      expect(text(submit('/rules/import', '/rules/import', 'text' => [web, {}].to_yaml))).to include('rules[1]: ')
    end

    it 'take a file' do
      token = page('/rules/import').body[/name="_token" value="(\h+)"/, 1]
      parts = { '_token"' => token, 'file"; filename="r.yaml"' => [web].to_yaml, 'text"' => '' }.map do |name, value|
        "--b\r\nContent-Disposition: form-data; name=\"#{name}\r\n\r\n#{value}\r\n"
      end
      body = "#{parts.join}--b--\r\n"
      answer = exchange('POST /rules/import', { 'Content-Type' => 'multipart/form-data; boundary=b',
                                                'Content-Length' => body.bytesize }, body)
      expect(text(answer)).to include('1 created, 0 updated', 'web servers')
      open = Dir["/proc/#{service.pid}/fd/*"].select { |path| File.symlink?(path) }.map { |path| File.readlink(path) }
      expect(open.grep(%r{RackMultipart|/form})).to eq([])
    end
  end

  it 'show markup as text, in each place' do
    rule = create('description' => markup, 'scope' => markup, 'conditions' => [step('eq', markup, markup)],
                  'actions' => [step('log', markup)])
    place = "/rules/#{rule['uuid']}"
    ['/rules', "/rules?scope=#{CGI.escape(markup)}&q=#{CGI.escape(markup)}", place, "#{place}/edit", "#{place}/delete",
     "/rules/new?copy=#{rule['uuid']}", "/rules/test?facts=#{CGI.escape(markup)}&certname=#{CGI.escape(markup)}"]
      .each do |path|
      shown = page(path)
      expect(shown).to have_attributes(status: 200, body: include('&lt;script&gt;alert(1)'))
      expect(shown.body).not_to match(/<script>alert|<img/)
    end
  end

  context 'with built-in rules' do
    let(:uuid) { '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }
    let(:options) do
      file = File.join(File.dirname(@root), 'rules.yaml')
      File.write(file, [web.merge('uuid' => uuid, 'priority' => 20_000)].to_yaml)
      super().merge('estate' => { 'inspection_rules' => { 'built_in' => file } })
    end

    it 'say so, and change none of them' do
      shown = page("/rules/#{uuid}")
      expect(text(shown)).to include('This rule is built in')
      expect(links(shown).grep(%r{/(edit|delete)\z})).to eq([])
      %w[edit delete].each { |name| expect(page("/rules/#{uuid}/#{name}").status).to eq(400) }
      expect(text_of(page("/rules/new?copy=#{uuid}"), 'text')).to include('priority: 9999')
      expect(page('/rules/export').body).to include('built in', uuid)
    end
  end

  describe 'for text that would take much memory or time' do
    let(:aliases) do
      lines = ('b'..'z').map { |name| "#{name}: &#{name} [#{Array.new(9, "*#{name.ord.pred.chr}").join(', ')}]" }
      ['a: &a [x, x]', *lines].join("\n")
    end
    let(:bombs) do
      { aliases => 'it has an alias: write out what is repeated', '[' * 100_000 => 'it is nested too deeply',
        '- ' * 100_000 => 'it is nested too deeply', '{a: ' * 60_000 => 'it is nested too deeply',
        "# #{'x' * 262_143}" => 'a page takes at most 256 KB of text, and this has 262145 bytes' }
    end

    def sent(text)
      uuid = create(web)['uuid']
      [submit('/rules/new', '/rules/new', 'text' => text), submit('/rules/import', '/rules/import', 'text' => text),
       edit(uuid, text), *{ 'facts' => text, 'rules' => text, 'record' => text }.map do |name, entered|
         submit('/rules/test', '/rules/test', { 'facts' => '{}' }.merge(name => entered))
       end]
    end

    it 'refuse it at once, and the service answers others meanwhile' do
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      bombs.each do |bomb, why|
        sending = Thread.new { sent(bomb) }
        expect(client.get('/healthz').status).to eq(200)
        expect(sending.value).to all(have_attributes(status: 400))
        expect(sending.value.map { |answer| text(answer) }).to all(include(why))
      end
      expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).to be < 60
    end
  end

  it 'cut what is too long for a page' do
    rule = create('description' => 'long', 'actions' => Array.new(30) { step('log', 'x' * 2000) })
    shown = page("/rules/#{rule['uuid']}")
    expect(shown.body.bytesize).to be < 100_000
    expect(text(shown)).to include('Only the beginning is shown.', 'Download it as YAML')
    expect(page("/rules/export?uuid=#{rule['uuid']}").body.bytesize).to be > 60_000
  end
end

RSpec.describe 'The pages of inspection rules, for a caller who may only read' do
  include ConsolePages

  include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0'

  it 'keep what was entered, and say which right is missing' do
    make_estate
    answer = submit('/rules/test', '/rules/new', 'text' => "description: mine\nactions: [{ op: log, args: [a] }]")
    expect(answer).to have_attributes(status: 403, body: include('description: mine'))
    expect(text(answer)).to include("local may not POST /v1/inspection_rules: over a loopback port, only '--local")
    tried = submit('/rules/test', '/rules/test', 'facts' => 'a: 1')
    expect(text(tried)).to include('local may not POST /v1/inspection_rules/test')
    expect(page('/rules').status).to eq(200)
  end

  it 'have sentences in place of forms' do
    make_estate
    uuid = client.post('/v1/inspection_rules', 'actions' => [{ 'op' => 'log', 'args' => ['a'] }]).data['uuid']
    shown = { '/rules' => ['A new rule needs the right to POST /v1/inspection_rules :', 'An import needs the right to'],
              "/rules/#{uuid}" => ["Deleting this rule needs the right to DELETE /v1/inspection_rules/#{uuid} :",
                                   "Changing this rule needs the right to PATCH /v1/inspection_rules/#{uuid} :"] }
    shown.each do |path, sentences|
      expect(text(page(path))).to include(*sentences)
      expect(page(path).body).not_to match(%r{method="post"|href="/rules/new"|href="/rules/import"|/edit"|/delete"})
    end
    ['new', 'import', "#{uuid}/edit", "#{uuid}/delete"].each do |path|
      expect(page("/rules/#{path}")).to have_attributes(status: 403, body: include('local may not'))
    end
  end

  it 'read nothing of what was entered' do
    %w[new import test].each do |name|
      expect(submit('/rules/test', "/rules/#{name}", 'text' => '[', 'facts' => '[').status).to eq(403)
    end
  end
end
