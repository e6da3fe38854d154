# frozen_string_literal: true

require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/ds389'
require_relative '../support/console_visits'
require_relative '../support/people'
require_relative '../support/tls_visitor'
require_relative 'server_helper'

# People sign in with an account of a real directory, over TLS. The requests come without a server, but for the last
# group.
RSpec.describe 'Signing in' do
  before(:context) do
    @people = People.new.tap(&:start)
    %w[alice bob locked web1.example.com root].each { |name| @people.add_person(name) }
    @people.add_group('operators', %w[alice])
  end

  after(:context) { @people&.stop }

  around { |example| Scratch.make('sign_in') { |folder| (@folder = folder) && example.run } }

  let(:people) { @people }
  let(:password) { People::PASSWORD }
  let(:audit_log) { File.join(@folder, 'audit.log') }
  let(:rights) do
    [{ 'account' => 'bob', 'methods' => %w[GET PUT], 'paths' => ['/v1/keys/**'] },
     { 'group' => 'operators', 'methods' => ['GET'], 'paths' => ['/v1/backends', '/v1/keys/app1/**'] },
     { 'certname' => 'web1.example.com', 'methods' => ['GET'], 'paths' => ['/**'] },
     { 'user' => 'root', 'methods' => ['GET'], 'paths' => ['/**'] }]
  end
  let(:section) { people.section }
  let(:site) do
    root = File.join(@folder, 'store')
    Simpkv::Store.open('file', 'root_path' => root).put('environments/production/app1/a', '{"value":1}')
    audit = { 'audit' => { 'to' => audit_log } }
    { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => root }.merge(audit),
                      'people' => people.backend },
      'server' => { 'sign_in' => section, 'rights' => rights } }
  end
  # Seconds by which the clock of sessions and waits is ahead.
  let(:ahead) { [0] }
  let(:clock) { -> { Simpkv::Clock.now + ahead.first } }
  let(:visits) do
    ConsoleVisits.new(site) do |store, server, log|
      settings = store.backend('people').settings
      accounts = Simpkv::Server::SignIn::Accounts.new(server['sign_in'], settings, clock)
      journal = Simpkv::Server::SignIn::Journal.new(log, store.backend.settings['audit'])
      Simpkv::Server::SignIn.new(accounts, journal, sessions: Simpkv::Server::SignIn::Sessions.new(clock),
                                                    waits: Simpkv::Server::SignIn::Waits.new(clock))
    end
  end
  let(:lines) { File.readlines(audit_log).map { |line| JSON.parse(line) } }

  def sign_in(name, **more)
    visits.sign_in(name, password, **more)
  end

  # @return [Hash] what /v1/whoami says of the holder of the cookie, without the paths that are for all
  def whoami(cookie)
    data = JSON.parse(visits.get('/v1/whoami', cookie: cookie).body)
    data.merge('paths' => data['paths'].except('/v1/key_names', '/v1/keys:batch', '/v1/whoami'))
  end

  it 'leads a browser to the page, and from there to where it wanted to go, with a cookie of its own' do
    led = visits.get('/keys/?environment=dev', **ConsoleVisits::PAGE)
    expect([led.status, led.headers['location']]).to eq([303, '/session/sign-in?to=%2Fkeys%2F%3Fenvironment%3Ddev'])
    form = visits.get('/session/sign-in', **ConsoleVisits::PAGE)
    expect(form).to have_attributes(status: 200, body: include('type="password"').and(exclude('/nodes')))
    answer = sign_in('alice', to: '/keys/?environment=dev')
    expect([answer.status, answer.headers['location']]).to eq([303, '/keys/?environment=dev'])
    expect(answer.headers['set-cookie'])
      .to match(%r{\A__Host-simpkv=[\w-]{43}; Secure; Path=/; HttpOnly; SameSite=Strict\z})
    page = visits.get('/session', cookie: answer.cookie, **ConsoleVisits::PAGE)
    expect(page).to have_attributes(status: 200, body: include('account:alice', 'operators', '/v1/backends'))
  end

  # A matcher for texts.
  def exclude(text)
    satisfy("has no #{text}") { |body| !body.include?(text) }
  end

  # A cookie that is SameSite=Strict does not come with a link of a wiki.
  it 'leads a browser that comes from another site on by a page of this one' do
    led = visits.get('/nodes', 'HTTP_SEC_FETCH_SITE' => 'cross-site', **ConsoleVisits::PAGE)
    expect([led.status, led.headers['refresh']]).to eq([200, '0; url=/session/sign-in?to=%2Fnodes'])
    cookie = sign_in('alice').cookie
    expect(visits.get('/session/sign-in?to=%2Fnodes', cookie: cookie, **ConsoleVisits::PAGE))
      .to have_attributes(status: 303, headers: include('location' => '/nodes'))
  end

  it 'leads nowhere else than to this service' do
    ['//evil.example', '/\\evil.example', 'https://evil.example', "/a\r\nb", ''].each do |to|
      expect(sign_in('alice', to: to)).to have_attributes(status: 303, headers: include('location' => '/'))
    end
  end

  it 'is no way for programs, and shows nothing else to nobody' do
    requests = [visits.get('/v1/keys/app1/a'), visits.get('/v1/whoami'), visits.get('/'), visits.get('/nodes'),
                visits.get('/metrics'), visits.post('/keys/a?do=save', { 'value' => 'x' }, **ConsoleVisits::PAGE)]
    expect(requests).to all(have_attributes(status: 403, body: include('a client certificate is needed')))
    expect(visits.get('/console/console.css').status).to eq(200)
    expect(visits.get('/console/wall', **ConsoleVisits::PAGE).status).to eq(303)
  end

  it 'gives the rights of the account and its groups, and none of a certificate or local user of that name' do
    alice, bob, namesake, root = %w[ALICE bob web1.example.com root].map { |name| sign_in(name).cookie }
    expect(whoami(alice)).to include('name' => 'account:alice', 'groups' => ['operators'], 'paths' => {
                                       '/v1/backends' => ['GET'], '/v1/keys/{path}' => ['GET']
                                     })
    expect(visits.get('/v1/keys/app1/a', cookie: alice).status).to eq(200)
    expect(visits.get('/v1/keys/app2/a', cookie: alice).status).to eq(403)
    expect(whoami(bob)['paths']).to eq('/v1/keys' => %w[GET], '/v1/keys/{path}' => %w[GET PUT])
    expect([namesake, root].map { |cookie| whoami(cookie)['paths'] }).to eq([{}, {}])
    expect(visits.get('/v1/backends', cookie: namesake).status).to eq(403)
  end

  it 'refuses a wrong name and a wrong password alike, and takes none for a part of a filter or an anonymous bind' do
    attempts = [['alice', 'wrong'], ['nobody', password], ['alice', ''], ['', password], ['*', password],
                ['a*', password],
                ['alice)(uid=*', password], ["alice\0", password], ['alice', "\0"], ["alice\0", "\0"],
                ['alice', "#{password}\0x"], ['alice', 'x' * 2000], ['cn=admin,dc=simp', password]]
    answers = attempts.each_with_index.map { |pair, number| visits.sign_in(*pair, peer: "192.0.2.#{number}") }
    expect(answers).to all(have_attributes(status: 403, cookie: nil,
                                           body: include('the user name or the password is wrong')))
    expect(sign_in('alice')).to have_attributes(status: 303)
  end

  it 'makes nobody of a name that two entries have, or of an entry with two names' do
    people.add_person('twin', dn: "uid=twin,ou=more,#{People::USERS_DN}") if more_people
    people.add_person('twin')
    people.add_person(%w[first second], dn: people.dn_of('first'))
    expect(%w[twin first second].map { |name| sign_in(name).status }).to eq([403, 403, 403])
  end

  # @return [true]
  def more_people
    people.add("dn: ou=more,#{People::USERS_DN}\nobjectClass: organizationalUnit\n")
    true
  end

  # Whoever may add groups further below could give himself any name.
  it 'knows no groups further below' do
    people.add("dn: ou=team,#{People::GROUPS_DN}\nobjectClass: organizationalUnit\n")
    people.add_person('mallory')
    people.add_group('operators', %w[mallory], below: "ou=team,#{People::GROUPS_DN}")
    expect(whoami(sign_in('mallory').cookie)).to include('groups' => [], 'paths' => {})
  end

  it 'respects the lock of the directory, and says so' do
    ahead[0] = -100_000
    People::LOCKED_AFTER.times do
      expect(visits.sign_in('locked', 'wrong').status).to eq(403)
      ahead[0] += 1000
    end
    answer = sign_in('locked')
    expect([answer.status, answer.cookie, answer.body]).to match([403, nil, /the directory has locked this account/])
    expect(lines.last).to include('account' => 'locked', 'outcome' => 'refused', 'reason' => 'locked')
  end

  # The directory takes the password, and nothing else from the account.
  it 'refuses an account that needs a new password first, and says so' do
    people.add_person('fresh')
    people.modify("dn: #{people.dn_of('fresh')}\nchangetype: modify\nreplace: pwdReset\npwdReset: TRUE\n")
    expect(visits.sign_in('fresh', 'wrong', peer: '192.0.2.8').body).to include('the password is wrong')
    answer = sign_in('fresh')
    expect([answer.status, answer.cookie, answer.body]).to match([403, nil, /wants a new password .*: change it there/])
    expect(lines.last).to include('account' => 'fresh', 'outcome' => 'refused', 'reason' => 'change')
    people.modify("dn: #{people.dn_of('fresh')}\nchangetype: modify\ndelete: pwdReset\n")
    expect(sign_in('fresh')).to have_attributes(status: 303)
  end

  it 'waits longer after each wrong password, for that account from that address' do
    people.add_person('slow')
    waits = Array.new(2) do
      expect(visits.sign_in('slow', 'wrong').status).to eq(403)
      refused = visits.sign_in('SLOW', password)
      expect([refused.status, refused.body]).to match([429, /too many wrong passwords: try again in \d+ seconds?/])
      seconds = refused.headers['retry-after'].to_i
      ahead[0] += seconds
      seconds
    end
    expect(waits).to eq([1, 2])
    expect(visits.sign_in('slow', password, peer: '192.0.2.77').status).to eq(303)
    expect(sign_in('bob').status).to eq(303)
    expect(sign_in('slow').status).to eq(303)
  end

  # Each of them holds a thread of the service while the directory does not answer.
  it 'refuses more than four people who wait for the directory at once' do
    site['backends']['people']['operation_timeout_seconds'] = 2
    token = visits.get('/session/sign-in', **ConsoleVisits::PAGE).token
    form = { '_token' => token, 'name' => 'alice', 'password' => password }
    answers = people.freeze_process do
      Array.new(6) { Thread.new { visits.post('/session/sign-in', form, **ConsoleVisits::PAGE) } }.map(&:value)
    end
    expect(answers.map(&:status)).to all(eq(503))
    expect(answers.count { |answer| answer.body.include?('too many people sign in at the moment') }).to be_between(1, 2)
  end

  it 'makes an address wait that tries the passwords of many accounts' do
    waits = Simpkv::Server::SignIn::Waits.new(clock)
    attempts = Array.new(40) do |number|
      waits.attempt("account#{number}", '192.0.2.1')
      nil
    rescue Simpkv::Server::Problem => e
      e.headers['retry-after'].to_i
    end
    expect(attempts.first(11)).to all(be_nil)
    expect(attempts.drop(11)).to all(be_positive)
    expect { waits.check('192.0.2.1') }.to raise_error(Simpkv::Server::Problem, /try again in/)
    expect { waits.check('192.0.2.2') }.not_to raise_error
    expect { waits.attempt('account1', '192.0.2.2') }.not_to raise_error
    expect { waits.attempt('account1', '192.0.2.2') }.to raise_error(Simpkv::Server::Problem, /try again in 1 second\z/)
  end

  describe 'while time stands still' do
    let(:clock) { -> { ahead.first } }

    # Otherwise, anybody could fill the disk of the audit log, and keep the directory busy.
    it 'notes the first attempt of a wait only, and makes an address wait that does not' do
      expect(Array.new(20) { visits.sign_in('bob', '').status }).to eq([403, *[429] * 19])
      expect(lines.map { |line| line['reason'] }).to eq(%w[incomplete waiting waiting])
      expect(sign_in('alice').status).to eq(429)
    end
  end

  it 'writes who has signed in and out from where, and each refusal, and no password or unknown name' do
    cookie = sign_in('alice', peer: '192.0.2.9').cookie
    page = visits.get('/session', cookie: cookie, **ConsoleVisits::PAGE)
    visits.post('/session/sign-out', { '_token' => page.token }, cookie: cookie, peer: '192.0.2.9')
    visits.sign_in('bob', 'pl4nted')
    visits.sign_in('pl4nted', 'pl4nted')
    expect(lines.map { |line| line.values_at('operation', 'account', 'address', 'outcome', 'reason') })
      .to eq([['sign_in', 'alice', '192.0.2.9', 'accepted', nil], ['sign_out', 'alice', '192.0.2.9', 'done', nil],
              ['sign_in', 'bob', '192.0.2.1', 'refused', 'wrong'], ['sign_in', nil, '192.0.2.1', 'refused', 'unknown']])
    expect(visits.log).to include('192.0.2.9', 'sign_in of account:alice: accepted', 'sign_in of account:bob: refused')
    [visits.log, File.read(audit_log)].each do |text|
      expect(text).not_to match(/pl4nted|#{Regexp.escape(password)}|#{cookie[/=(.*)/, 1]}/)
    end
  end

  it 'fails if its line cannot be written to the audit log, and has to be' do
    site['backends']['default']['audit'] = { 'to' => File.join(@folder, 'none', 'audit.log'), 'required' => true }
    answer = sign_in('alice')
    expect([answer.status, answer.cookie, answer.body]).to match([503, nil, /nobody can sign in at the moment/])
    expect(visits.log).to include('so nobody signs in')
  end

  describe 'makes a session' do
    it 'of which only a digest is kept, and that no visitor can choose' do
      chosen = "__Host-simpkv=#{'a' * 43}"
      cookie = sign_in('alice', 'HTTP_COOKIE' => chosen).cookie
      expect(cookie).not_to eq(chosen)
      expect(visits.get('/v1/whoami', cookie: chosen).status).to eq(403)
      value = cookie[/=(.*)/, 1]
      held = ObjectSpace.each_object(Simpkv::Server::SignIn::Sessions::Session).map(&:key)
      expect(held).to include(Digest::SHA256.digest(value)).and(exclude(value))
      expect(sign_in('alice').cookie).not_to eq(cookie)
    end

    it 'of which an account has 20 at most' do
      sessions = Simpkv::Server::SignIn::Sessions.new(clock)
      account, other = %w[a b].map { |name| Simpkv::Server::SignIn::Accounts::Account.new(name, "uid=#{name}", []) }
      kept = sessions.begin(other)
      first, second, *others = Array.new(21) { (ahead[0] += 1) && sessions.begin(account) }
      expect([first, second, others.last, kept].map { |cookie| sessions.find(cookie).nil? })
        .to eq([true, false, false, false])
    end

    it 'that ends after 30 minutes without use, and after 8 hours' do
      idle, used = Array.new(2) { sign_in('alice').cookie }
      19.times do |number|
        ahead[0] += 1500
        expect([number, visits.get('/v1/whoami', cookie: used).status]).to eq([number, 200])
      end
      expect(visits.get('/v1/whoami', cookie: idle).status).to eq(403)
      ahead[0] += 1500
      expect(visits.get('/v1/whoami', cookie: used).status).to eq(403)
    end

    # A wall view that nobody looked at kept its session for 8 hours.
    it 'that a page which loads itself again does not use' do
      cookie = sign_in('alice').cookie
      wall = visits.get('/console/wall', cookie: cookie, **ConsoleVisits::PAGE).body
      addresses = [wall[/data-address="([^"]*)"/, 1], wall[/http-equiv="refresh" content="\d+; url=([^"]*)"/, 1]].uniq
      expect(addresses).to eq(['/console/wall?refreshed=true'])
      ahead[0] += 1000
      expect(visits.get(addresses.first, cookie: cookie, **ConsoleVisits::PAGE).body).to include('you are')
      ahead[0] += 1000
      ended = visits.get(addresses.first, cookie: cookie, **ConsoleVisits::PAGE)
      expect([ended.status, ended.headers['location']]).to eq([303, '/session/sign-in?to=%2Fconsole%2Fwall'])
    end

    it 'that ends when the person signs out, in the service, too' do
      cookie = sign_in('alice').cookie
      token = visits.get('/session', cookie: cookie, **ConsoleVisits::PAGE).token
      expect(visits.post('/session/sign-out', {}, cookie: cookie).status).to eq(403)
      answer = visits.post('/session/sign-out', { '_token' => token }, cookie: cookie)
      expect([answer.status, answer.headers['set-cookie']])
        .to match([303, /\A__Host-simpkv=; Max-Age=0; Secure; Path=/])
      expect(visits.get('/v1/whoami', cookie: cookie).status).to eq(403)
    end

    it 'that a watch looks at again, which is no use of it' do
      cookie = sign_in('alice').cookie
      watch = visits.lasting('/v1/keys/app1/a', cookie)
      ahead[0] += 1000
      expect { watch.call }.not_to raise_error
      ahead[0] += 1000
      expect { watch.call }.to raise_error(Simpkv::DeniedError, /a client certificate is needed/)
      expect(visits.get('/v1/whoami', cookie: cookie).status).to eq(403)
    end

    it 'whose rights a batch needs for each key' do
      rights.first['paths'] = ['/v1/keys/app1/*']
      operations = %w[app1/a app2/a].map { |key| { 'op' => 'get', 'key' => key } }
      operations << { 'op' => 'delete', 'key' => 'app1/b' }
      batch = lambda do |origin|
        visits.post('/v1/keys:batch', JSON.generate('operations' => operations), cookie: sign_in('bob').cookie,
                                                                                 'HTTP_ORIGIN' => origin)
      end
      answer = batch.call('https://store.example.com')
      results = JSON.parse(answer.body)['results'].transform_values { |result| result['status'] }
      expect(results).to eq('app1/a' => 200, 'app2/a' => 403, 'app1/b' => 403)
      expect(batch.call(nil).status).to eq(403)
    end

    it 'that ends with the account, and loses the groups that it loses, within a minute' do
      people.add_person('leaver')
      people.add_group('operators2', %w[leaver bob])
      rights.push('group' => 'operators2', 'methods' => ['GET'], 'paths' => ['/v1/backends'])
      cookie = sign_in('leaver').cookie
      expect(visits.get('/v1/backends', cookie: cookie).status).to eq(200)
      people.modify("dn: cn=operators2,#{People::GROUPS_DN}\nchangetype: modify\ndelete: member\n" \
                    "member: #{people.dn_of('leaver')}\n")
      ahead[0] += 61
      expect(visits.get('/v1/backends', cookie: cookie).status).to eq(403)
      expect(whoami(cookie)['name']).to eq('account:leaver')
      people.delete_tree(people.dn_of('leaver'))
      ahead[0] += 61
      expect(visits.get('/v1/whoami', cookie: cookie).status).to eq(403)
    end

    it 'that is of no use while the directory is down, and again afterwards; and nobody signs in' do
      cookie = sign_in('alice').cookie
      people.stop_serving
      ahead[0] += 61
      expect(visits.get('/v1/whoami', cookie: cookie)).to have_attributes(status: 503)
      form = visits.get('/session/sign-in', **ConsoleVisits::PAGE)
      answer = visits.post('/session/sign-in', { '_token' => form.token, 'name' => 'alice', 'password' => password },
                           **ConsoleVisits::PAGE)
      expect([answer.status, answer.cookie, answer.body]).to match([503, nil, exclude(People::ROOT_DN)])
      people.launch
      eventually(errors: RSpec::Expectations::ExpectationNotMetError) do
        visits.get('/v1/whoami', cookie: cookie).status == 200
      end
    end

    it 'that another site cannot use' do
      cookie, other = Array.new(2) { sign_in('bob').cookie }
      page = visits.get('/session', cookie: other, **ConsoleVisits::PAGE)
      foreign = visits.post('/session/sign-out', { '_token' => page.token }, cookie: cookie)
      silent = visits.post('/session/sign-out', { '_token' => page.token }, cookie: other, 'HTTP_ORIGIN' => nil)
      evil = visits.post('/session/sign-out', { '_token' => page.token }, cookie: other,
                                                                          'HTTP_ORIGIN' => 'https://evil.example')
      expect([foreign, silent, evil].map(&:status)).to eq([403, 403, 403])
      expect(visits.get('/v1/whoami', cookie: cookie, 'HTTP_SEC_FETCH_SITE' => 'cross-site').status).to eq(403)
      expect([cookie, other].map { |each| visits.get('/v1/whoami', cookie: each).status }).to eq([200, 200])
    end

    it 'that a request on a connection without TLS does not have' do
      cookie = sign_in('alice').cookie
      answer = visits.get('/v1/whoami', cookie: cookie, kind: :tcp, 'HTTP_HOST' => 'localhost')
      expect(JSON.parse(answer.body)['name']).to eq('local')
    end
  end

  it 'needs a form of this service, which no other site can send' do
    form = visits.get('/session/sign-in', **ConsoleVisits::PAGE)
    fields = { '_token' => form.token, 'name' => 'alice', 'password' => password }
    answers = [visits.post('/session/sign-in', fields.except('_token'), **ConsoleVisits::PAGE),
               visits.post('/session/sign-in', fields, 'HTTP_ORIGIN' => nil, **ConsoleVisits::PAGE),
               visits.post('/session/sign-in', fields, 'HTTP_ORIGIN' => 'https://evil.example', **ConsoleVisits::PAGE)]
    expect(answers).to all(have_attributes(status: 403, cookie: nil))
  end

  # Somebody without an account could use up the open files of the service.
  it 'refuses a form with several files, and keeps none open' do
    part = ->(number) { "--x\r\nContent-Disposition: form-data; name=\"#{number}\"; filename=\"a\"\r\n\r\na\r\n" }
    GC.disable
    details = [1, 2, 5000].map do |files|
      body = "#{Array.new(files) { |number| part.call(number) }.join}--x--\r\n"
      visits.post('/session/sign-in', body, 'CONTENT_TYPE' => 'multipart/form-data; boundary=x').body
    end
    expect(details).to match([/does not come from a page of this service/, /malformed form/, /malformed form/])
    open = ObjectSpace.each_object(File).reject(&:closed?).map(&:path)
    expect(open.grep(%r{/form[^/]*\z})).to eq([])
  ensure
    GC.enable
  end

  it 'refuses a directory that it could not reach by TLS, and a filter without a name' do
    wrong = lambda do |backend, section|
      server = Simpkv::Config::Sections.convert({ 'server' => { 'sign_in' => section } }, 'server')
      Simpkv::Server::SignIn::Accounts.new(server['sign_in'], Simpkv::Config.typed(backend, 'people'))
    end
    open = people.backend.merge('ldap_uri' => people.tcp_uri)
    expect { wrong.call(open, section) }.to raise_error(Simpkv::ConfigError, /would send passwords to .* without TLS/)
    expect { wrong.call(open.merge('enable_tls' => true), section) }.not_to raise_error
    expect { wrong.call(open.merge('enable_tls' => true, 'write_uri' => people.tcp_uri), section) }.not_to raise_error
    { 'filter' => '(uid=alice)' }.merge('users_dn' => nil).each do |member, value|
      expect { wrong.call(people.backend, section.merge(member => value)) }
        .to raise_error(Simpkv::ConfigError, /'#{member}' of 'sign_in' of 'server'/)
    end
  end

  # A browser that follows it would send the password to the server of whoever has made the entry.
  it 'fails at a referral, and does not follow it' do
    dn = "cn=away,#{People::USERS_DN}"
    people.add("dn: #{dn}\nobjectClass: referral\nobjectClass: extensibleObject\ncn: away\n" \
               "ref: ldap://127.0.0.1:1/#{People::USERS_DN}\n")
    expect(sign_in('alice')).to have_attributes(status: 503, cookie: nil, body: exclude('ldap'))
    expect(visits.log).to match(/^192\.0\.2\.1 .* sign_in: .* refers to/)
  ensure
    system('ldapdelete', '-M', '-x', '-D', People::ROOT_DN, '-w', password, '-H', people.uri, dn, out: File::NULL)
  end

  describe 'at a service' do
    let(:certificates) { Certificates.new(@folder) }
    let(:service) do
      cert, key = certificates.issue('127.0.0.1')
      tls = { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'tokens' => 'people' }
      options = site.merge('server' => site['server'].merge(tls))
      @service = Service.new(options, '--bind', 'ssl://127.0.0.1:0').tap(&:start)
    end
    let(:visitor) { TlsVisitor.new(service, certificates.cacert) }
    let(:browser) { visitor.client }

    after { @service&.stop }

    it 'needs no certificate, whose absence lets nobody else in; and ends with the process, which says so' do
      expect(visitor.ask('GET /nodes')).to match(%r{\AHTTP/1.1 303 .*^location: /session/sign-in\?to=%2Fnodes\r$}mi)
      cookie = visitor.sign_in('alice', password)
      expect(browser.get('/v1/keys/app1/a', cookie).data['value']).to eq(1)
      expect(browser.get('/v1/keys/app1/a')).to have_attributes(status: 403, detail: include('a client certificate'))
      expect(refused?(client_of(Certificates.new(Dir.mktmpdir('foreign', @folder))))).to be(true)
      expect(client_of(certificates).get('/v1/whoami').data).to include('name' => 'web1.example.com')
      secret = made_token
      expect(browser.get('/v1/whoami', 'Authorization' => "Bearer #{secret}").data).to include('kind' => 'token')
      expect(browser.get('/v1/whoami', 'X-Auth-Token' => "#{secret}x").status).to eq(401)
      expect(counted(secret)).to include('sign_ins_total{outcome="accepted"} 1.0', 'sessions 1.0',
                                         'sign_ins_total{outcome="change"} 0.0', 'watch_clients 0.0',
                                         'token_uses_total{outcome="accepted"} 2.0',
                                         'token_uses_total{outcome="unknown"} 1.0')
      restarted
      expect(service.log).to include('1 session of people who have signed in will end')
      expect(browser.get('/v1/keys/app1/a', cookie).status).to eq(403)
      expect(visitor.ask('GET /session', cookie)).to match(%r{\AHTTP/1.1 303 .*^location: /session/sign-in}mi)
      expect(browser.get('/v1/whoami', visitor.sign_in('alice', password)).data['name']).to eq('account:alice')
      [password, secret, cookie['Cookie']].each { |text| expect(service.log).not_to include(text) }
    end

    # @return [Array<String>] the metrics of the service, as the holder of a token reads them
    def counted(token)
      browser.get('/metrics', 'X-Auth-Token' => token).body.lines.map { |line| line.chomp.delete_prefix('simpkv_') }
    end

    # @return [ServiceClient] with a certificate of that authority
    def client_of(authority)
      cert, key = authority.issue(subject: 'web1.example.com', names: nil)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    # @return [Boolean] whether the service ends the connection without an answer
    def refused?(client)
      client.get('/healthz').nil?
    rescue OpenSSL::SSL::SSLError, SystemCallError, ServiceClient::Closed
      true
    end

    # @return [String] a token of root
    def made_token
      store = Simpkv::Store.open('ldap', people.options('admin_dn' => People::ROOT_DN, 'id' => 'spec.service'))
      tokens = Simpkv::Server::Tokens.new({ 'type' => 'ldap' }) { store }
      rights = [{ 'methods' => ['GET'], 'paths' => ['/**'] }]
      tokens.create(rights, maker: [:user, 'root'], expires: Time.now + 86_400).first
    end

    # The port of port 0 stays the same.
    def restarted
      service.signal(:USR2)
      eventually(errors: RuntimeError) { service.log.scan('serving on ssl').length == 2 }
    end
  end
end

# 389-DS refuses a bind in another way than OpenLDAP, with constraintViolation, and tells of its lock in other
# attributes.
RSpec.describe Simpkv::Server::SignIn::Accounts, ds389: true do
  before(:context) do
    @server = Ds389.new(tls: true).tap(&:start)
    @server.add(%w[people groups].map { |unit| "dn: ou=#{unit},dc=simp\nobjectClass: organizationalUnit\n" }.join("\n"))
    @server.add(%w[ann bob carl].map do |name|
      "dn: uid=#{name},ou=people,dc=simp\nobjectClass: account\nobjectClass: simpleSecurityObject\nuid: #{name}\n" \
        "userPassword: #{DirectoryServer::PASSWORD}\n#{"nsAccountLock: true\n" if name == 'carl'}"
    end.join("\n"))
    @server.add("dn: cn=ops,ou=groups,dc=simp\nobjectClass: groupOfUniqueNames\n" \
                "uniqueMember: UID=ann, ou=people,dc=simp\n")
    @server.modify("dn: cn=config\nchangetype: modify\nreplace: passwordLockout\npasswordLockout: on\n-\n" \
                   "replace: passwordMaxFailure\npasswordMaxFailure: 2\n")
  end

  after(:context) { @server&.stop }

  # @return [Simpkv::Server::SignIn::Accounts]
  def accounts(filter)
    settings = @server.options('type' => 'ldap', 'ldap_uri' => @server.tls_uri, 'admin_dn' => Ds389::ROOT_DN,
                               'tls_cacert' => @server.certificates.cacert)
    described_class.new({ 'users_dn' => 'ou=people,dc=simp', 'filter' => filter, 'groups' => 'ou=groups,dc=simp' },
                        Simpkv::Config.typed(settings, 'people'))
  end

  it 'knows groups and locks of 389-DS' do
    all = accounts('(uid={user})')
    ann, bob, carl = %w[ann bob carl].map { |name| all.find(name) }
    expect([all.with_groups(ann).groups, all.check(ann, DirectoryServer::PASSWORD)]).to eq([%w[ops], :right])
    expect(Array.new(3) { all.check(bob, 'wrong') }).to eq(%i[wrong locked locked])
    expect([bob, carl].map { |account| all.check(account, DirectoryServer::PASSWORD) }).to eq(%i[locked locked])
    @server.modify("dn: cn=config\nchangetype: modify\nreplace: passwordMustChange\npasswordMustChange: on\n")
    @server.modify("dn: #{ann.dn}\nchangetype: modify\nreplace: userPassword\n" \
                   "userPassword: #{DirectoryServer::PASSWORD}\n")
    expect(all.check(ann, DirectoryServer::PASSWORD)).to eq(:change)
    enabled = accounts('(&(uid={user})(!(nsAccountLock=true)))')
    expect(%w[ann carl].map { |name| enabled.find(name)&.name }).to eq(['ann', nil])
  end
end
