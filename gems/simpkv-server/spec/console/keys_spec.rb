# frozen_string_literal: true

require_relative '../server/server_helper'
require_relative '../../../../spec/support/audit_file'
require_relative '../../../../spec/support/certificates'
require_relative '../support/console_pages'

RSpec.describe 'The pages of keys' do
  include AuditFile
  include ConsolePages

  # Sends a form of a page with its hidden fields, as a browser does.
  def send_page(from, path, fields = {})
    hidden = page(from).body.scan(/<input type="hidden" name="(\w+)" value="([^"]*)">/).to_h
    send_form(path, hidden.transform_values { |value| CGI.unescapeHTML(value) }.merge(fields))
  end

  # @return [String] the address to which a form leads
  def address(response)
    expect(response).to have_attributes(status: 303)
    response.headers['location']
  end

  def stored(key, query = '')
    client.get("/v1/keys/#{key}#{query}").data
  end

  let(:entered) { { 'format' => 'text', 'value' => '', 'metadata' => '', 'expires' => '', 'history' => '' } }

  shared_examples 'pages' do
    it 'list folders and keys without values, and say which environment and backend they are about' do
      client.put('/v1/keys/app1/token?environment=dev', 'value' => 'pl4nted')
      client.put('/v1/keys/app1/sub/x?environment=dev', 'value' => 'pl4nted')
      folder = page('/keys/app1/?environment=dev')
      expect(text(folder)).to include('In the environment dev , backend default', 'sub/ folder', 'token key',
                                      '1 folder and 1 key, expired ones included.')
      expect(links(folder)).to include('/keys/app1/token?environment=dev', '/keys/app1/sub/?environment=dev')
      expect(folder.body).not_to include('pl4nted')
      expect(folder.body).to match(/<option selected>dev</).and match(/<option selected>default</)
      expect(text(page('/keys/'))).to include('In the environment production', 'There are no keys here')
      expect(text(page('/keys/?global=true&environment=dev'))).to include('In the global keys')
      expect(page('/keys/nothing/')).to have_attributes(status: 404, body: include('there is no key or folder'))
      expect(page('/keys/app1?environment=dev').headers['location']).to eq('/keys/app1/?environment=dev')
    end

    it 'show a key without its value, and one value at a time after a click' do
      client.put('/v1/keys/app1/token', 'value' => 'pl4nted-old', 'history' => 5)
      client.put('/v1/keys/app1/token', 'value' => { 'a' => 'pl4nted-new' }, 'sensitive' => true, 'history' => 5,
                                        'metadata' => { 'owner' => 'dba' })
      key = page('/keys/app1/token')
      expect(text(key)).to include('Sensitive text or data, hidden', 'owner dba', 'Expires never', 'Restore version -1')
      expect(key.body).not_to include('pl4nted')
      shown = send_page('/keys/app1/token', '/keys/app1/token?do=show', 'version' => '-1')
      expect(shown).to have_attributes(status: 200, headers: include('cache-control' => 'no-store'))
      expect(text(shown)).to include('Value of version -1', 'pl4nted-old').and include('It was not recorded')
      expect(shown.body).not_to include('pl4nted-new')
      expect(text(submit('/keys/app1/token', '/keys/app1/token?do=show', 'version' => '0'))).to include('"pl4nted-new"')
      expect(service.log).not_to include('pl4nted')
    end

    it 'store a new key, and never replace one so' do
      fields = entered.merge('name' => 'sub/token', 'value' => "pl4nted\r\nline", 'metadata' => '{"owner":"dba"}',
                             'expires' => '90d')
      to = address(send_page('/keys/app1/?do=new', '/keys/app1/?do=new', fields))
      expect(text(page(to))).to include('The key is stored. It is new.', 'owner dba')
      expect(stored('app1/sub/token')).to include('value' => "pl4nted\nline", 'expires' => String)
      again = send_page('/keys/app1/?do=new', '/keys/app1/?do=new', fields.merge('value' => 'my other text'))
      expect(again).to have_attributes(status: 412, body: include('There is a key of this name', 'my other text'))
      expect(stored('app1/sub/token')['value']).to eq("pl4nted\nline")
      { { 'name' => '' } => 'the name is missing', { 'name' => 'A b' } => 'whitespace', { 'name' => '../x' } => '..',
        { 'name' => 'x', 'format' => 'json', 'value' => '{"pl4nted' } => 'the value is not JSON',
        { 'name' => 'x', 'metadata' => '[1]' } => 'must be an object', { 'name' => 'x', 'format' => '' } => 'choose',
        { 'name' => 'x', 'expires' => 'soon' } => 'expires',
        { 'name' => 'x', 'expires' => '2020-01-01T00:00:00Z' } => 'is past: a key that has expired',
        { 'name' => 'x', 'history' => '101' } => 'history',
        { 'name' => 'x', 'format' => 'base64', 'value' => '%' } => 'base64' }.each do |wrong, why|
        refused = send_page('/keys/app1/?do=new', '/keys/app1/?do=new', fields.merge(wrong))
        expect(refused.status).to eq(400)
        expect(text(refused)).to include(why)
      end
      expect(service.log).not_to include('pl4nted')
    end

    it 'change a value as it was shown, keep all versions, and refuse to replace that of somebody else' do
      client.put('/v1/keys/a', 'value' => { 'x' => [1, 2.5] }, 'metadata' => { 'db_password' => 'm' }, 'history' => 1)
      form = submit('/keys/a', '/keys/a?do=edit')
      expect(CGI.unescapeHTML(form.body)).to include(%({\n  "x": [\n    1,\n    2.5\n  ]\n}), '"db_password": "m"')
      etag = CGI.unescapeHTML(form.body[/name="etag" value="([^"]*)"/, 1])
      mine = entered.merge('etag' => etag, 'format' => 'json', 'value' => '["mine"]', 'history' => '3')
      client.put('/v1/keys/a', 'value' => 'theirs', 'history' => 1)
      refused = submit('/keys/a', '/keys/a?do=save', mine)
      expect(refused.status).to eq(412)
      expect(text(refused)).to include('Somebody else has changed this key', 'nothing that they have stored is lost',
                                       '["mine"]', 'Replace what somebody else has stored')
      expect(stored('a')['value']).to eq('theirs')
      fresh = CGI.unescapeHTML(refused.body[/name="etag" value="([^"]*)"/, 1])
      expect(text(page(address(submit('/keys/a', '/keys/a?do=save', mine.merge('etag' => fresh))))))
        .to include('The value is stored.')
      expect(%w[0 -1 -2].map { |number| stored('a', "?version=#{number}")['value'] })
        .to eq([['mine'], 'theirs', { 'x' => [1, 2.5] }])
      client.delete('/v1/keys/a')
      gone = send_page('/keys/?do=new', '/keys/a?do=save', mine.merge('etag' => fresh))
      expect(text(gone)).to include('Store it as a new key', '["mine"]')
    end

    it 'replace a value without showing it, and say what a form cannot keep' do
      client.put('/v1/keys/a', 'value' => 'pl4nted', 'metadata' => { 'db_password' => 'pl4nted' })
      form = page('/keys/a?do=edit')
      expect(text(form)).to include('What you enter replaces all metadata')
      expect(form.body).not_to include('pl4nted')
      address(send_page('/keys/a?do=edit', '/keys/a?do=save', entered.merge('value' => 'new', 'sensitive' => 'true')))
      expect(stored('a')).to include('value' => 'new', 'sensitive' => true, 'metadata' => {})
      typed = { '__ptype' => 'Timestamp', '__pvalue' => '2026-11-23T15:00:00.000000000 UTC' }
      store.put('environments/production/b',
                JSON.generate('value' => [typed], 'encoding' => 'pcore', 'metadata' => {}))
      expect(text(page('/keys/b?do=edit'))).to include('which have types of Puppet now (Timestamp)')
    end

    it 'restore an earlier value without showing it' do
      %w[pl4nted-1 pl4nted-2 pl4nted-3].each { |value| client.put('/v1/keys/a', 'value' => value, 'history' => 5) }
      question = page('/keys/a?do=restore&version=-2')
      expect(text(question)).to include('becomes the current one', 'no value is lost')
      expect(question.body).not_to include('pl4nted')
      from = '/keys/a?do=restore&version=-2'
      expect(text(page(address(send_page(from, '/keys/a?do=restore'))))).to include('The earlier value is the current')
      expect(stored('a')['value']).to eq('pl4nted-1')
      expect(stored('a', '?version=-1')['value']).to eq('pl4nted-3')
      etag = CGI.unescapeHTML(page(from).body[/name="etag" value="([^"]*)"/, 1])
      client.put('/v1/keys/a', 'value' => 'theirs', 'history' => 5)
      refused = submit(from, '/keys/a?do=restore', 'etag' => etag, 'version' => '-2')
      expect(refused).to have_attributes(status: 412, body: include('Nothing was restored'))
      expect(stored('a')['value']).to eq('theirs')
      expect(page('/keys/a?do=restore&version=-9').status).to eq(404)
    end

    it 'restore and change a key that has expired, with a new time' do
      client.put('/v1/keys/a', 'value' => 'old', 'history' => 5)
      client.put('/v1/keys/a', 'value' => 'new', 'history' => 5)
      expire('a')
      expect(text(page('/keys/'))).to include('a key, expired', '0 folders and 1 key, expired ones included.')
      expect(text(page('/keys/a'))).to include('This key has expired')
      from = '/keys/a?do=restore&version=-1'
      expect(send_page(from, '/keys/a?do=restore')).to have_attributes(status: 400, body: include('has expired'))
      address(send_page(from, '/keys/a?do=restore', 'expires' => '90d'))
      expect(stored('a')).to include('value' => 'old', 'expires' => String)
      client.put('/v1/keys/a', 'value' => 'again')
      expire('a')
      address(send_page('/keys/a?do=edit', '/keys/a?do=save', entered.merge('value' => 'fresh')))
      expect(stored('a')['value']).to eq('fresh')
    end

    it 'delete a key after a question, if nobody has changed it meanwhile' do
      client.put('/v1/keys/app1/a', 'value' => 1)
      %w[a key / folder].each_slice(2) do |path, kind|
        shown = text(page("/keys/app1/#{path.delete('/')}"))
        expect(shown).to include("Delete this #{kind} (asks for confirmation)")
      end
      question = '/keys/app1/a?do=delete'
      expect(text(page(question))).to include('app1/a', 'environment production', 'backend default', 'Keep it')
      etag = CGI.unescapeHTML(page(question).body[/name="etag" value="([^"]*)"/, 1])
      client.put('/v1/keys/app1/a', 'value' => 2)
      expect(submit(question, question, 'etag' => etag)).to have_attributes(status: 412, body: include('Nothing was'))
      expect(stored('app1/a')['value']).to eq(2)
      to = address(send_page(question, question))
      expect(to).to start_with('/keys/app1/?').and include('notice=deleted')
      expect(client.get('/v1/keys/app1/a').status).to eq(404)
    end

    it 'delete a folder if its name is typed, and its number of keys is still the one that was shown' do
      %w[app1/a app1/sub/b other].each { |key| client.put("/v1/keys/#{key}", 'value' => 1) }
      question = '/keys/app1/?do=delete'
      expect(text(page(question))).to include('1 folder and 2 keys')
      expect(send_page(question, question, 'name' => 'app')).to have_attributes(status: 400)
      expect(submit(question, question, 'name' => 'app1', 'count' => '1+1')).to have_attributes(status: 409)
      expect(client.get('/v1/keys/app1/a').status).to eq(200)
      expect(text(page(address(send_page(question, question, 'name' => 'app1'))))).to include('The folder is deleted')
      expect(client.get('/v1/keys/app1/').status).to eq(404)
      expect(client.get('/v1/keys/other').status).to eq(200)
      expect(page('/keys/?do=delete').status).to eq(404)
    end

    it 'change nothing for a form without the token' do
      client.put('/v1/keys/a', 'value' => 'here', 'history' => 1)
      etag = client.get('/v1/keys/a').headers['etag']
      fields = entered.merge('etag' => etag, 'name' => 'new', 'value' => 'x', 'version' => '0')
      [*%w[show edit save delete restore].map { |name| "/keys/a?do=#{name}" }, '/keys/?do=new',
       '/keys/x/?do=delete'].each do |path|
        expect(send_form(path, fields)).to have_attributes(status: 403, body: satisfy { |body| !body.include?('here') })
      end
      expect(stored('a')['value']).to eq('here')
      expect(client.get('/v1/keys/new').status).to eq(404)
    end
  end

  context 'in files' do
    include_context 'with a service for all examples', '--bind', 'tcp://127.0.0.1:0', '--local-write'
    it_behaves_like 'pages'

    context 'with an audit log' do
      let(:backends) { super().transform_values { |backend| backend.merge('audit' => audit(reads: true)) } }

      it 'leave a line in the audit log for each value that is shown, and none for a page without one' do
        client.put('/v1/keys/a', 'value' => 'pl4nted')
        expect(text(page('/keys/a'))).to include('The audit log records who looks at a value')
        client.put('/v1/keys/who', 'value' => 1, 'expires_after' => '9d')
        expect(text(page('/keys/who'))).to match(/Stored by .* 0 \d seconds? ago \S+ \(user \S+, node user:\S+\)/)
        client.put('/v1/keys/sub/who', 'value' => 1, 'expires_after' => '9d')
        expect(text(page('/keys/'))).to match(/Versions Stored by .* who key \S+ seconds? ago in . days \S+ \(user /)
        page('/keys/a?do=delete')
        page('/keys/a?do=edit')
        expect(lines.select { |line| line['node'] == 'local' }.map { |line| line['operation'] }.uniq)
          .to contain_exactly('describe', 'list', 'stat')
        shown = submit('/keys/a', '/keys/a?do=show', 'version' => '0')
        expect(text(shown)).to include('The audit log has a line about it, which names you local.', 'pl4nted')
        expect(lines.select { |line| line['operation'] == 'get' && line['node'] == 'local' })
          .to contain_exactly(include('key' => 'a', 'outcome' => 'found'))
        submit('/keys/a', '/keys/a?do=edit')
        expect(lines.count { |line| line['operation'] == 'get' && line['node'] == 'local' }).to eq(2)
        expect(File.read(audit_file) + service.log).not_to include('pl4nted')
      end
    end

    # A click on the button of this form replaced the value by an empty text.
    it 'compare an earlier value with the current one, and delete it alone' do
      %W[a\nb\nold a\nb\nmiddle a\nx\nb\nnew].each do |value|
        client.put('/v1/keys/k', 'value' => value, 'history' => 5)
      end
      compared = submit('/keys/k', '/keys/k?do=compare', 'version' => '-2')
      expect(compared.body[%r{<pre class="diff" dir="auto">\n(.*)</pre>}m, 1])
        .to eq("  a\n<ins>+ x</ins>\n  b\n<del>− old</del>\n<ins>+ new</ins>\n".b)
      same = [1, '1', "1\n"].map do |value|
        client.put('/v1/keys/same', 'value' => value, 'history' => 5)
        text(submit('/keys/same', '/keys/same?do=compare', 'version' => '-1')) if value.is_a?(String)
      end
      # The page said that these values were the same, and showed the last ones without a difference.
      expect(same.last(2)).to match([include('Version -1 is shown as json, and the current value as text'),
                                     include('− (no newline at the end)')])
      question = page('/keys/k?do=destroy&version=-1')
      expect(text(question)).to include('Version -1 of the key k will be deleted').and match(/\A(?!.*middle)/)
      client.put('/v1/keys/k', 'value' => 'newest', 'history' => 5)
      hidden = question.body.scan(/<input type="hidden" name="(\w+)" value="([^"]*)">/).to_h
      fields = hidden.transform_values { |value| CGI.unescapeHTML(value) }
      refused = send_form('/keys/k?do=destroy', fields)
      expect([refused.status, text(refused)]).to match([412, include('Nothing was deleted')])
      location = address(send_page('/keys/k?do=destroy&version=-2', '/keys/k?do=destroy'))
      expect(text(page(location))).to include('The earlier value is deleted.')
      values = [0, -1, -2].map { |version| stored('k', "?version=#{version}")['value'] }
      expect(values).to eq(%W[newest a\nx\nb\nnew a\nb\nold])
      expect(page('/keys/k?do=destroy&version=0').status).to eq(404)
      expect(client.delete('/v1/keys/k?version=0').status).to eq(400)
      expect(client.delete('/v1/keys/k?version=-9').status).to eq(404)
    end

    it 'change the metadata alone, and keep value, versions and expiry' do
      [1, { 'a' => 2 }].each do |value|
        client.put('/v1/keys/k', 'value' => value, 'sensitive' => true, 'history' => 5, 'expires_after' => '9d',
                                 'metadata' => { 'owner' => 'dba' })
      end
      before = stored('k')
      form = page('/keys/k?do=metadata').body
      expect(form).to include('&quot;owner&quot;: &quot;dba&quot;').and match(/\A(?!.*name="value")/m)
      address(send_page('/keys/k?do=metadata', '/keys/k?do=metadata', 'metadata' => '{"team": ["a"]}'))
      expect(stored('k')).to eq(before.merge('metadata' => { 'team' => ['a'] }))
      expect(stored('k', '?version=-1')).to include('value' => 1, 'metadata' => { 'owner' => 'dba' })
      wrong = send_page('/keys/k?do=metadata', '/keys/k?do=metadata', 'metadata' => '[1]')
      expect([wrong.status, text(wrong)]).to match([400, include('must be an object in JSON')])
      # It would be data of Puppet in a Sensitive.
      typed = client.put('/v1/keys/k', 'metadata' => { 'x' => [{ '__ptype' => 'Sensitive' }] })
      expect(typed).to have_attributes(status: 400, detail: include('__ptype'))
      expect(client.put('/v1/keys/none', 'metadata' => {}).status).to eq(404)
    end

    it 'have age, expiry and versions of keys in the list' do
      2.times { |number| client.put('/v1/keys/k', 'value' => number, 'history' => 5, 'expires_after' => '9d') }
      client.put('/v1/keys/plain', 'value' => 1)
      expect(text(page('/keys/')))
        .to match(/Name Kind Stored Expires Versions k key \d seconds? ago in [89] days 2 plain key/)
      client.delete('/v1/keys/k')
      expect(text(page('/keys/'))).to match(/Name Kind plain key/)
    end

    it 'are sorted by each column, folders first and keys without a value last' do
      { 'late' => ['9d', 1], 'soon' => ['2d', 3], 'some' => ['5d', 2] }.each do |name, (expiry, count)|
        body = { 'history' => 5, 'expires_after' => expiry }
        count.times { |number| client.put("/v1/keys/#{name}", body.merge('value' => number)) }
      end
      %w[plain sub/x].each { |name| client.put("/v1/keys/#{name}", 'value' => 1) }
      names = lambda do |query|
        page("/keys/?#{query}").body.scan(%r{<tr><th scope="row"><a href="/keys/([^"?]*)}).flatten
      end
      { '' => %w[sub/ late plain some soon], 'order=desc' => %w[sub/ soon some plain late],
        'sort=expires' => %w[sub/ soon some late plain], 'sort=expires&order=desc' => %w[sub/ late some soon plain],
        'sort=versions' => %w[sub/ some soon late plain], 'sort=versions&order=desc&limit=2' => %w[sub/ soon],
        'sort=versions&order=desc&limit=2&offset=2' => %w[some late],
        'sort=expires&filter=so' => %w[soon some] }.each do |query, order|
        expect([query, names.call(query)]).to eq([query, order])
      end
      expect(links(page('/keys/?sort=expires'))).to include('/keys/?sort=expires&order=desc', '/keys/?sort=stored')
      expect(page('/keys/?sort=size')).to have_attributes(status: 400, body: include('must be one of name, stored'))
    end

    it 'store an empty text only if a person enters one' do
      client.put('/v1/keys/a', 'value' => 'pl4nted', 'metadata' => { 'owner' => 'dba' })
      %w[text base64].product(['', "\r\n"]).each do |format, value|
        next if [format, value] == ['text', "\r\n"]

        fields = entered.merge('format' => format, 'value' => value, 'metadata' => '{"owner":"me"}')
        refused = send_page('/keys/a?do=edit', '/keys/a?do=save', fields)
        expect(refused).to have_attributes(status: 400, body: include('the field for the value is empty', '&quot;me'))
        expect(send_page('/keys/?do=new', '/keys/?do=new', fields.merge('name' => 'b')).status).to eq(400)
      end
      expect(stored('a')).to include('value' => 'pl4nted', 'metadata' => { 'owner' => 'dba' })
      meant = entered.merge('format' => 'json', 'value' => '""')
      expect(address(send_page('/keys/a?do=edit', '/keys/a?do=save', meant))).to include('notice=stored')
      expect(stored('a')['value']).to eq('')
      form = submit('/keys/a', '/keys/a?do=edit')
      expect(CGI.unescapeHTML(form.body)).to match(/value="json" checked.*<textarea id="value"[^>]*>\n""</m)
    end

    # `*` stands for any document: what another person had stored meanwhile was lost.
    it 'take no condition that holds for every value' do
      %w[old theirs].each { |value| client.put('/v1/keys/a', 'value' => value, 'history' => 1) }
      ['*', ' * ', "#{client.get('/v1/keys/a').headers['etag']}, \"x\""].each do |etag|
        fields = entered.merge('value' => 'mine', 'etag' => etag, 'version' => '-1')
        %w[save delete restore].each do |name|
          expect(submit('/keys/a', "/keys/a?do=#{name}", fields)).to have_attributes(
            status: 400, body: include('which value it is about')
          )
        end
      end
      expect(submit('/keys/a', '/keys/a?do=delete')).to have_attributes(status: 412)
      expect(stored('a')['value']).to eq('theirs')
    end

    it 'show markup in values, metadata, names and forms as text' do
      markup = ['<script>alert(1)</script>', %("><img src=x onerror=alert(1)>), "</textarea>\u202e</pre>"]
      client.put('/v1/keys/a', 'value' => markup, 'metadata' => markup.to_h { |text| [text, text] })
      store.put("environments/production/#{markup[1].delete('/')}", '{"value":1}')
      client.put('/v1/keys/b', 'value' => markup.join("\n"))
      store.put('environments/production/c', JSON.generate('value' => 1, 'stored_at' => markup))
      form = { 'name' => markup[1], 'value' => markup[2], 'metadata' => markup[2], 'expires' => markup[1] }
      pages = [page('/keys/'), page('/keys/a'), page('/keys/c'), page("/keys/?filter=#{CGI.escape(markup[0])}"),
               page('/keys/a?do=edit'),
               page("/keys/?environment=#{CGI.escape(markup[1])}"), page("/keys/a?backend=#{CGI.escape(markup[1])}"),
               submit('/keys/a', '/keys/a?do=show', 'version' => '0'), submit('/keys/b', '/keys/b?do=show'),
               submit('/keys/a', '/keys/a?do=edit'), submit('/keys/b', '/keys/b?do=edit'),
               send_page('/keys/?do=new', '/keys/?do=new', entered.merge(form, 'history' => markup[1]))]
      expect(pages.map(&:status)).not_to include(500)
      bodies = pages.map { |each| each.body.force_encoding(Encoding::UTF_8) }
      bodies.each do |body|
        expect(body.scan(/<script\b[^>]*>/)).to all(include('src="/console/console.js'))
        expect(body.scan('<script').length).to eq(1)
        expect(body).not_to match(/<img/)
        expect(body.scan('</textarea>').length).to eq(body.scan('<textarea').length)
      end
    end

    it 'show bytes as base64, and cut a long value' do
      client.put('/v1/keys/a', 'value' => 'AP8=', 'encoding' => 'base64', 'sensitive' => true)
      expect(text(submit('/keys/a', '/keys/a?do=show'))).to include('Sensitive bytes, in base64', 'AP8=')
      address(send_page('/keys/a?do=edit', '/keys/a?do=save',
                        entered.merge('format' => 'base64', 'value' => "AP8A\r\nAA==")))
      expect(stored('a')).to include('value' => 'AP8AAA==', 'encoding' => 'base64')
      client.put('/v1/keys/long', 'value' => '"' * 40_000)
      shown = submit('/keys/long', '/keys/long?do=show')
      expect(text(shown)).to include('the first 5000 of 40000 characters')
      expect(shown.body.bytesize).to be < 100_000
      expect(submit('/keys/long', '/keys/long?do=edit')).to have_attributes(status: 413)
      client.put('/v1/keys/odd', 'value' => "a\u200bb\r\n")
      expect(text(submit('/keys/odd', '/keys/odd?do=show'))).to include('as JSON', '"a\\u200bb\\r\\n"')
    end

    # They had several MB.
    it 'have less than 100 kB, whatever a key has, and name the commands that have all' do
      key = [*Array.new(3) { 'f' * 90 }, 'n' * 200].join('/')
      many = (0...2000).to_h { |number| ["member#{number}", ['<">&', { 'a' => '' }]] }
      document = { 'value' => '"' * 10_000, 'metadata' => many, 'history' => Array.new(100) { { 'value' => 1 } } }
      store.put("environments/production/#{key}", JSON.generate(document))
      shown = [page("/keys/#{key}"), submit("/keys/#{key}", "/keys/#{key}?do=show", 'version' => '0')]
      expect(shown).to all(satisfy { |each| each.body.bytesize < 100_000 })
      expect(text(shown.first)).to include('member0', 'simpkv get -o json prints all', 'Restore version -100')
      [page("/keys/#{key}?do=edit"), submit("/keys/#{key}", "/keys/#{key}?do=edit")].each do |form|
        expect(form).to have_attributes(status: 413, body: include('too long for a form', 'simpkv edit', '--keep-meta'))
      end
      client.put('/v1/keys/escaped', 'value' => '<">&' * 7000)
      expect(submit('/keys/escaped', '/keys/escaped?do=edit').status).to eq(413)
      client.put('/v1/keys/escaped', 'value' => 'a' * 50_000, 'metadata' => { 'a' => '"' * 300 })
      form = submit('/keys/escaped', '/keys/escaped?do=edit')
      expect([form.status, form.body.bytesize]).to match([200, be_between(50_000, 100_000)])
    end

    it 'list a folder of long names in pages of less than 100 kB, each of which leads to the next' do
      folder = Array.new(3) { 'f' * 90 }.join('/')
      names = Array.new(250) { |number| ('k' * 197) + number.to_s.rjust(3, '0') }
      store.put_many(names.to_h { |name| ["environments/production/#{folder}/#{name}", '{"value":1}'] })
      store.put_many(names.last(30).to_h { |name| ["environments/production/#{folder}/#{name}", 'pl4nted'] })
      found = []
      address = "/keys/#{folder}/?environment=production&limit=200"
      while address
        shown = page(address)
        expect([shown.status, shown.body.bytesize]).to match([200, be < 100_000])
        found.concat(links(shown).map { |link| link[/k{197}\d{3}/] }.compact)
        address = links(shown).find { |link| shown.body.include?(%(rel="next" href="#{CGI.escapeHTML(link)}")) }
      end
      expect(found).to eq(names)
    end

    it 'list a folder of many keys in pages of less than 100 kB, and filter it' do
      folder = "/keys/#{'f' * 40}/"
      paths = Array.new(1000) { |number| "environments/production/#{'f' * 40}/#{'k' * 40}#{number}" }
      store.put_many(paths.to_h { |path| [path, '{"value":1}'] })
      first = page("#{folder}?limit=200&unknown=#{'x' * 7000}")
      expect(first.body.bytesize).to be < 100_000
      expect(text(first)).to include('1000 keys', '1 to 200 of 1000')
      expect(text(page("#{folder}?offset=50"))).to include('51 to 100 of 1000')
      expect(text(page("#{folder}?filter=k99"))).to include('11 keys with the text k99')
      expect(text(page("#{folder}?filter=none"))).to include('No name here has the text none')
      expect(text(page("#{folder}?order=desc"))).to match(/k999 key .*k998 key/)
      client.put("/v1/keys/#{'f' * 40}/a", 'value' => 1, 'expires_after' => '1d')
      larger = page("#{folder}?sort=expires&order=desc")
      expect(text(larger)).to match(/of more than 1000 names, nothing but the name sorts Name .* a key .*k0 key .*k1 k/)
      expect(links(larger).grep(/sort=(?!expires)/)).to eq([])
    end

    it 'name a key that cannot be read beside the others' do
      client.put('/v1/keys/a', 'value' => 1)
      # The second looked healthy.
      { 'soon' => '{"value":1,"expires":"soon"}', 'torn' => 'pl4nted' }.each do |name, document|
        store.put("environments/production/#{name}", document)
        expect(page("/keys/#{name}")).to have_attributes(status: 500, body: include("/keys/#{name}?"))
      end
      shown = page('/keys/')
      expect(text(shown)).to include('a key', 'soon key that cannot be read', 'torn key that cannot be read')
      expect(shown.body).not_to include('pl4nted')
    end

    # The page was an error.
    it 'delete a key that cannot be read, unless it was changed meanwhile' do
      store.put('environments/production/torn', 'pl4nted')
      delete = links(page('/keys/torn')).grep(/do=delete/).first
      asked = page(delete)
      expect(text(asked)).to match(/This key cannot be read: .*not a JSON .* will be deleted/)
      expect(asked.body).not_to include('pl4nted')
      fields = { 'etag' => asked.body[/name="etag" value="([^"]+)"/, 1].gsub('&quot;', '"') }
      store.put('environments/production/torn', '{"value":1}')
      expect(submit(delete, delete, fields)).to have_attributes(status: 412)
      expect(submit(delete, delete, 'etag' => '')).to have_attributes(status: 412)
      store.put('environments/production/torn', 'pl4nted')
      expect(submit(delete, delete, fields)).to have_attributes(status: 303)
      expect(store.get('environments/production/torn', required: false)).to be_nil
      expect(%w[edit restore].map { |name| page("/keys/a?do=#{name}").status }).to eq([404, 404])
    end

    # They were errors without a way on, and the text was lost.
    it 'lead from each form of a key that cannot be read to its deletion, and keep what a person has entered' do
      store.put('environments/production/torn', 'pl4nted')
      client.put('/v1/keys/a', 'value' => 1)
      torn = '/keys/torn?do='
      shown = %w[edit restore].map { |name| page("#{torn}#{name}") } +
              %w[edit show].map { |name| submit('/keys/a', "#{torn}#{name}") }
      shown.each { |each| expect([each.status, links(each)]).to match([500, include(/do=delete/)]) }
      ['', '"x"'].each do |etag|
        refused = submit('/keys/a', "#{torn}save", entered.merge('value' => 'mine', 'etag' => etag))
        expect([refused.status, text(refused)]).to match([500, include('mine', 'entered is still below', 'not a JSON')])
      end
      expect(store.get('environments/production/torn')).to eq('pl4nted')
    end

    it 'have the form for another place if a store is not there, or a parameter is wrong' do
      client.put('/v1/keys/a', 'value' => 1)
      expect(page('/keys/?backend=none')).to have_attributes(status: 400, body: include('name="backend"'))
      expect(page('/keys/a?environment=a%2fb')).to have_attributes(status: 400, body: include('name="environment"'))
      expect(page('/keys/a?environment[]=x').status).to eq(400)
      expect(page('/keys/?do=nothing').status).to eq(404)
      expect(address(page('/keys/a?do=show'))).to eq('/keys/a?environment=production')
      client.put('/v1/keys/app1/a', 'value' => 1)
      %w[edit delete restore].each { |name| expect(page("/keys/app1?do=#{name}").status).to eq(409) }
      [['/keys/?do=new', 'name[]'], ['/keys/a?do=save', 'value[]'], ['/keys/a?do=show', 'version[]'],
       ['/keys/a?do=restore', 'etag[]']].each do |path, name|
        expect(submit('/keys/a', path, name => 'x')).to have_attributes(status: 400, body: include('must be a text'))
      end
      expect(submit('/keys/a', '/keys/a?do=show', 'version' => 'x').status).to eq(400)
      FileUtils.mv(@root, "#{@root}.away")
      # The page had neither the header nor the id.
      refused = page('/keys/')
      expect(refused).to have_attributes(status: 503, body: include('name="backend"', 'there is no store'),
                                         headers: include('retry-after' => '5'))
      expect(refused.body).to include("log of the service is <code>#{refused.headers['x-request-id']}</code>")
    end
  end

  context 'for a local process without --local-write' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

    it 'show names, times and versions, and neither values nor forms' do
      client.put('/v1/keys/app1/a', 'value' => 'pl4nted', 'metadata' => { 'owner' => 'pl4nted' }, 'history' => 1)
      expect(text(page('/keys/app1/'))).to include('a key')
      key = page('/keys/app1/a')
      expect(text(key)).to include('Values are not shown on a connection without TLS', 'owner', 'Stored 0 seconds ago')
        .or include('Values are not shown on a connection without TLS', 'owner', 'Stored 1 second ago')
      expect(key.body).not_to include('pl4nted')
      expect(key.body).not_to include('method="post"')
      %w[edit delete restore].each { |name| expect(page("/keys/app1/a?do=#{name}").status).to eq(403) }
      expect(page('/keys/?do=new').status).to eq(403)
      token = page('/rules/test').body[/name="_token" value="(\h+)"/, 1]
      ['/keys/app1/a?do=show', '/keys/app1/a?do=edit', '/keys/app1/?do=new'].each do |path|
        refused = send_form(path, entered.merge('_token' => token, 'name' => 'new', 'value' => 'x'))
        expect(refused.status).to eq(403)
        expect(refused.body).not_to match(/pl4nted|values=false/)
      end
      expect(client.get('/v1/keys/app1/new').status).to eq(404)
    end
  end

  context 'with rights for some environments' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert,
        'rights' => [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'environments' => ['dev'],
                       'paths' => ['/v1/keys/app1', '/v1/keys/app1/**'] },
                     { 'certname' => 'writer.example.com', 'methods' => %w[GET PUT],
                       'paths' => ['/v1/keys/', '/v1/keys/app1/', '/v1/keys/app1/db_*'] }, *example] }
    end
    # The rights of docs/console.md.
    let(:example) do
      page = File.read(File.expand_path('../../../../docs/console.md', __dir__))
      YAML.safe_load(page[/^ *server:\n *bind:[^\n]*\n *rights:\n.*?(?=^ *```)/m]).dig('server', 'rights')
    end
    let(:name) { 'reader.example.com' }
    let(:browser) do
      cert, key = certificates.issue(subject: name, names: nil)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    it 'show what the caller may see, and say what is missing' do
      %w[dev production].each { |name| client.put("/v1/keys/app1/a?environment=#{name}", 'value' => "pl4nted-#{name}") }
      expect(text(page('/keys/app1/?environment=dev')))
        .to include('a key', 'Which environments and backends there are is not shown')
      ['/keys/app1/', '/keys/app1/a', '/keys/app1/a?global=true'].each do |path|
        expect(page(path)).to have_attributes(status: 403, body: include('name="environment"'))
      end
      at = '/keys/app1/a?environment=dev'
      withheld = ->(method) { "needs the right to #{method} /v1/keys/app1/a in the environment dev : 'rights' of" }
      expect(text(page(at))).to include("Deleting this key #{withheld.call('DELETE')}", withheld.call('PUT'))
      expect(links(page(at)).grep(/do=/)).to eq([])
      %w[edit delete restore].each { |name| expect(page("#{at}&do=#{name}").status).to eq(403) }
      expect(text(page('/keys/app1/?environment=dev'))).to include('Deleting this folder needs the right to DELETE')
      # Everybody had the link to a new key, and the page of the menu was an error without a way on.
      expect(links(page('/keys/'))).to include('/keys/app1/?environment=dev').and all(satisfy { |a| a !~ /do=/ })
      expect(page('/keys/')).to have_attributes(status: 200, body: include('reader.example.com may not GET /v1/keys/'))
      expect(page('/keys/app1/?environment=dev&do=new')).to have_attributes(
        status: 403, body: include('reader.example.com may not PUT /v1/keys/app1/** in the environment dev')
      )
      expect(text(submit(at, "#{at}&do=show"))).to include('pl4nted-dev')
      refused = submit(at, "#{at}&do=save", entered.merge('value' => 'mine', 'etag' => '"x"'))
      expect(refused).to have_attributes(status: 403, body: include('mine'))
      expect(send_page("#{at}&do=delete", "#{at}&do=delete").status).to eq(403)
      expect(client.get('/v1/keys/app1/a?environment=dev').data['value']).to eq('pl4nted-dev')
    end

    context 'for a folder that is not there yet, and some names of another' do
      let(:name) { 'owner.example.com' }
      let(:example) do
        [{ 'certname' => name, 'methods' => %w[GET PUT],
           'paths' => %w[/v1/keys/shop/** /v1/keys/wiki/* /v1/keys/a/*/**] }]
      end

      # The folder was a dead end, and there was no link to the other.
      it 'lead to both, to a form for the first key, and to none in a backend that there is not' do
        client.put('/v1/keys/wiki/a', 'value' => 1)
        listed = links(page('/keys/'))
        expect(listed).to include('/keys/shop/?environment=production', '/keys/wiki/?environment=production')
        expect(listed.grep(%r{/keys/a/})).to eq([])
        expect(page('/keys/wiki/').status).to eq(200)
        empty = page('/keys/shop/')
        expect([empty.status, text(empty)]).to match([404, include('Store a new key here')])
        form = links(empty).grep(/do=new/).first
        address(send_page(form, form, entered.merge('name' => 'a', 'value' => '1')))
        expect(text(page('/keys/shop/'))).to include('a key')
        refused = page('/keys/other/')
        expect([refused.status, text(refused)]).to match([403, satisfy { |words| !words.include?('Look at this') }])
        # There was a link, to an error.
        %w[backend=nope backend=nope&environment=none environment=a%2fb].each do |query|
          expect(page("/keys/?#{query}")).to have_attributes(status: 400, body: include('name="backend"'))
        end
        expect(links(page('/keys/?backend=default'))).to include(start_with('/keys/shop/?'))
      end
    end

    context 'of which some are for a part of the names' do
      let(:name) { 'writer.example.com' }

      it 'offer a form for a new key, and say that not every name will do' do
        client.put('/v1/keys/app1/a', 'value' => 1)
        %w[/keys/ /keys/app1/].each { |path| expect(links(page(path)).grep(/do=new/).length).to eq(1) }
        expect(text(page('/keys/app1/?do=new'))).to include('Not every name will do: writer.example.com may PUT some')
        address(send_page('/keys/app1/?do=new', '/keys/app1/?do=new', entered.merge('name' => 'db_x', 'value' => '1')))
        refused = send_page('/keys/app1/?do=new', '/keys/app1/?do=new', entered.merge('name' => 'y', 'value' => 'mine'))
        expect(refused).to have_attributes(status: 403, body: include('mine'))
      end
    end

    context 'as docs/console.md has them' do
      let(:name) { 'alice.people.example.com' }

      # The example lacked /v1/backends.
      it 'are enough for all pages but those of access rights, and for the keys of one folder' do
        client.put('/v1/keys/app1/a', 'value' => 'pl4nted')
        client.put('/v1/keys/other/a', 'value' => 'pl4nted')
        %w[/ /nodes /facts /resources /rules /keys/app1/ /keys/app1/a].each do |path|
          expect([path, text(page(path))]).not_to include(include('does not allow it').or(include('not shown:')))
        end
        expect(links(page('/keys/'))).to include('/keys/app1/?environment=production')
        %w[/access /keys/other/ /keys/other/a].each { |path| expect(page(path).status).to eq(403) }
        address(send_page('/keys/app1/?do=new', '/keys/app1/?do=new', entered.merge('name' => 'b', 'value' => '1')))
        address(send_page('/keys/app1/b?do=delete', '/keys/app1/b?do=delete'))
      end
    end
  end

  Directories.each_server do |server, tags|
    context "in a directory of #{server}", **tags do
      include_context 'with a directory', server
      include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'
      let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      let(:store) { open_store }
      it_behaves_like 'pages'
    end
  end
end
