# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/certificates'
require_relative '../../../simpkv-access/spec/support/access_directory'
require_relative '../support/console_visits'
require_relative '../support/people'

# The commands make tokens in a store; requests with them come without a server.
RSpec.describe 'simpkv token' do
  include_context 'with the command'

  let(:root) { File.join(folder, 'keys') }
  let(:rights) do
    [{ 'certname' => 'ci.example.com', 'methods' => %w[GET PUT], 'paths' => ['/v1/keys/ci/**', '/v1/nodes/**'],
       'environments' => %w[production dev] },
     { 'account' => 'ci.example.com', 'methods' => ['GET'], 'paths' => ['/**'] }]
  end
  let(:site) { { 'backends' => backends, 'server' => { 'tokens' => 'default', 'rights' => rights } } }
  let(:config) { File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, site.to_yaml) } }
  let(:store) { Simpkv::Store.open('file', 'root_path' => root) }
  let(:tokens) { Simpkv::Server::Tokens.new({ 'type' => 'file' }) { store } }
  let(:visits) { ConsoleVisits.new(site, tokens: tokens) }

  let(:authority) { Certificates.new(folder) }
  let(:certificate) { authority.issue(subject: 'ci.example.com').first }
  # The options of a token that depends on a certificate.
  let(:maker) do
    site['server'].update('tls_ca' => authority.cacert, 'tls_crl' => authority.revoke)
    ['--maker', 'certname:ci.example.com', '--certificate', certificate]
  end

  # @return [Hash] the token and what the list has
  def create(rights, *more)
    JSON.parse(simpkv!('token', 'create', '--rights', rights, '--expires', '90d', *more, '-o', 'json'))
  end

  # @return [ConsoleVisits::Answer] to a request with a token
  def get(path, token, **more)
    visits.get(path, 'HTTP_AUTHORIZATION' => "Bearer #{token}", **more)
  end

  before { store.put('environments/production/ci/a', '{"value":1}') }

  it 'makes a token once, of which the store has a digest, beside the keys of all environments' do
    made = create('GET /v1/keys/ci/**', '--note', 'nightly build')
    expect(made).to include('token' => /\Asimpkv_\h{16}_[\w-]{43}\z/, 'maker' => "user:#{Simpkv::Audit.user}",
                            'note' => 'nightly build', 'used' => nil)
    id, secret = made.fetch('token').match(/_(\h+)_(.*)/).captures
    document = store.get("service/tokens/#{id}")
    expect(document).to include(Digest::SHA256.hexdigest(secret))
    stored = Dir[File.join(folder, '**/*')].select { |file| File.file?(file) }.map { |file| File.read(file) }.join
    expect(stored).not_to include(secret)
    expect(simpkv('token', 'list').out).to include(id, 'GET /v1/keys/ci/**', 'nightly build').and(exclude(secret))
    expect(simpkv('tree', '-e', '').out + simpkv('tree', '-g').out).to exclude(id)
  end

  it 'makes tokens in a directory where no role reaches them' do
    access = AccessDirectory.new(Slapd, 'plain').tap(&:start)
    %w[globals environments].each { |name| access.root.create_folder("#{name}/tokens") }
    access.add_user('writer')
    access.add_role('writers', %w[writer])
    access.apply(%w[globals environments/*].map { |prefix| access.grant('writers', prefix, %w[read list write]) })
    site['backends'] = { 'default' => access.settings.merge('type' => 'ldap') }
    id = create('GET /**').fetch('id')
    writer = access.store('writer')
    expect(writer.put('globals/tokens/x', '{"value":1}')).to be(true)
    names = access.server.search(DirectoryServer::SUFFIX, "(simpkvKey=#{id})")
    expect(names).to match([end_with("ou=access.service,ou=instances,#{DirectoryServer::BASE_DN}")])
    change = [[:replace, 'simpkvJsonValue', ['x']]]
    [-> { writer.directory.read_entry(names.first, []) }, -> { writer.directory.delete_entry(names.first) },
     -> { writer.directory.modify_entry(names.first, change) }].each do |attempt|
      expect(&attempt).to raise_error(Simpkv::Error)
    end
    expect(JSON.parse(simpkv!('token', 'list', '-o', 'json')).map { |each| each['id'] }).to eq([id])
    expect(simpkv!('token', 'revoke', id)).to include(id)
  ensure
    access&.stop
  end

  # A matcher for texts.
  def exclude(text)
    satisfy("has no #{text}") { |whole| !whole.include?(text) }
  end

  it 'makes tokens that the service takes in both headers, over TLS and on a Unix socket' do
    token = create('GET /v1/keys/ci/**').fetch('token')
    answers = [get('/v1/keys/ci/a', token), get('/v1/keys/ci/a', token, kind: :unix),
               visits.get('/v1/keys/ci/a', 'HTTP_X_AUTH_TOKEN' => token),
               visits.get('/v1/keys/ci/a', 'HTTP_AUTHORIZATION' => "bearer #{token}")]
    expect(answers).to all(have_attributes(status: 200))
    expect(get('/v1/keys/other/a', token))
      .to have_attributes(status: 403, body: include("token:#{token[7, 16]} may not"))
    expect(get('/v1/keys/other/a', token, kind: :unix).status).to eq(403)
    # The message named certificates alone.
    expect(visits.get('/v1/keys/ci/a', 'HTTP_AUTHORIZATION' => 'Bearer'))
      .to have_attributes(status: 403, body: include('a client certificate is needed, or a token'))
    [{ 'HTTP_AUTHORIZATION' => 'Bearer nope' }, { 'HTTP_X_AUTH_TOKEN' => 'nope' }].each do |headers|
      expect(visits.get('/v1/keys/ci/a', **headers))
        .to have_attributes(status: 401, headers: include('www-authenticate' => /Bearer/), body: include('is unknown'))
      expect(visits.get('/healthz', kind: :unix, **headers).status).to eq(200)
    end
    expect(visits.log).to include("token:#{token[7, 16]}").and(exclude(token[24..]))
  end

  it 'makes tokens that are refused over plain TCP' do
    token = create('GET /**').fetch('token')
    expect(get('/healthz', token, kind: :tcp, 'HTTP_HOST' => 'localhost'))
      .to have_attributes(status: 403, body: include('without TLS').and(exclude(token[24..])))
    other = visits.get('/healthz', kind: :tcp, 'HTTP_HOST' => 'localhost', 'HTTP_X_AUTH_TOKEN' => 'of another service')
    expect(other.status).to eq(200)
  end

  it 'makes tokens that allow what their maker may, too, and no more' do
    rights_of_token = 'GET,DELETE /v1/keys/** environments=dev,production,test'
    token = create(rights_of_token, *maker)['token']
    keys = %w[ci/a ci/a?environment=test ci/a?environment=dev other/a ci]
    expect(keys.map { |key| get("/v1/keys/#{key}", token).status }).to eq([200, 403, 404, 403, 200])
    for_all = { '/v1/key_names' => ['GET'], '/v1/keys:batch' => ['POST'], '/v1/whoami' => ['GET'] }
    expect(JSON.parse(get('/v1/whoami', token).body))
      .to include('name' => "token:#{token[7, 16]}", 'paths' => { '/v1/keys/{path}' => ['GET'], **for_all },
                  'keys' => [{ 'path' => '/v1/keys/ci/**', 'environments' => %w[dev production] }],
                  'rights' => [{ 'methods' => ['GET'], 'paths' => ['/v1/keys/ci/**'],
                                 'environments' => %w[dev production] }])
    rights_of_all = [{ 'methods' => ['GET'], 'paths' => ['/**'] }]
    namesake = tokens.create(rights_of_all, maker: [:user, 'ci.example.com'], expires: Time.now + 60).first
    expect(get('/v1/whoami', namesake))
      .to have_attributes(status: 401, body: include('the maker of the token is not known'))
    rights.clear
    later = ConsoleVisits.new(site, tokens: tokens)
    expect(later.get('/v1/keys/ci/a', 'HTTP_X_AUTH_TOKEN' => token).status).to eq(403)
  end

  # The rights of a revoked certificate went on with the tokens that it had made.
  it 'makes tokens that are refused when the certificate of their maker is revoked, or is another one' do
    token = create('GET /**', *maker)['token']
    expect(get('/v1/keys/ci/a', token).status).to eq(200)
    authority.revoke(certificate)
    later = ConsoleVisits.new(site, tokens: tokens)
    refused = later.get('/v1/whoami', 'HTTP_X_AUTH_TOKEN' => token)
    expect(refused).to have_attributes(status: 401, body: include('its certificate is not valid'))
    path = "service/tokens/#{token[7, 16]}"
    document = JSON.parse(store.get(path))
    other = File.read(authority.issue(subject: 'other.example.com').first)
    [other, 'x'].each do |text|
      store.put(path, JSON.generate(document.merge('value' => document['value'].merge('certificate' => text))))
      expect(get('/v1/whoami', token).status).to eq(401)
    end
  end

  # Time stands still for waits, so that nothing of it depends on the machine.
  it 'makes tokens that an address with many unknown ones cannot use at first, while those that it has used go on' do
    waits = Simpkv::Server::SignIn::Waits.new(-> { 0 }, what: 'unknown tokens')
    guard = Simpkv::Server::TokenGuard.new(waits)
    guarded = ConsoleVisits.new(site, tokens: tokens, guard: guard)
    get = lambda do |token, peer = '192.0.2.1'|
      guarded.get('/healthz', peer: peer, 'HTTP_X_AUTH_TOKEN' => token)
    end
    used, other = Array.new(2) { create('GET /**').fetch('token') }
    expect(get.call(used).status).to eq(200)
    guesses = Array.new(13) { |number| get.call("simpkv_#{'0' * 16}_#{format('%043d', number)}") }
    expect(guesses.map(&:status)).to eq([*[401] * 11, 429, 429])
    # A text of another form was no wrong token, and did not count.
    others = Array.new(13) { guarded.get('/healthz', peer: '192.0.2.3', 'HTTP_AUTHORIZATION' => 'Bearer nope') }
    expect(others.map(&:status)).to eq([*[401] * 11, 429, 429])
    expect(guesses.last).to have_attributes(headers: include('retry-after' => '1'), body: include('too many unknown'))
    expect([used, other].map { |token| get.call(token).status }).to eq([200, 429])
    expect(get.call(other, '192.0.2.2').status).to eq(200)
    tokens.revoke(used[7, 16])
    expect(Array.new(2) { get.call(used).status }).to eq([401, 429])
    expect(guard.outcomes.to_h).to eq(accepted: 3, unknown: 23, waiting: 6, maker: 0, plain: 0, error: 0)
  end

  it 'revokes a token, which the service then refuses at its next request' do
    token, other = Array.new(2) { create('GET /**').fetch('token') }
    expect(get('/v1/keys/ci/a', token).status).to eq(200)
    id = token[7, 16]
    expect(JSON.parse(simpkv!('token', 'revoke', id, '-o', 'json'))).to eq('revoked' => [id])
    expect(get('/v1/keys/ci/a', token))
      .to have_attributes(status: 401, headers: include('www-authenticate' => /Bearer/))
    expect(get('/v1/keys/ci/a', other).status).to eq(200)
    expect(simpkv('token', 'revoke', id)).to have_attributes(code: 66, err: include(id))
    expect(simpkv('token', 'list', process: true).out).to include(other[7, 16])
    expect(simpkv('token', 'revoke', other)).to have_attributes(code: 66, err: exclude(other))
    expect(JSON.parse(simpkv!('token', 'list', '-o', 'json')).map { |each| each['id'] }).to eq([other[7, 16]])
  end

  it 'notes the last use, and does not bring back a token that is revoked at that moment' do
    token = create('GET /**').fetch('token')
    get('/healthz', token)
    expect(Time.iso8601(JSON.parse(simpkv!('token', 'list', '-o', 'json')).first['used'])).to be_within(60).of(Time.now)
    fresh = create('GET /**').fetch('token')
    uses = 0
    revoking = Simpkv::Server::Tokens.new({ 'type' => 'file' }) do
      store.delete("service/tokens/#{fresh[7, 16]}") if (uses += 1) == 2 # After the token is read.
      store
    end
    expect(revoking.find(fresh)).to have_attributes(id: fresh[7, 16])
    expect(uses).to eq(2)
    expect(store.get("service/tokens/#{fresh[7, 16]}", required: false)).to be_nil
  end

  it 'makes tokens that expire, also if the time of the machine is set back afterwards' do
    secret, token = tokens.create([{ 'methods' => ['GET'], 'paths' => ['/**'] }], maker: [:user, 'root'],
                                                                                  expires: Time.now + 60)
    expect(tokens.find(secret)).to have_attributes(id: token.id)
    real = Time.now
    allow(Time).to receive(:now).and_return(real + 61)
    expect(tokens.find(secret)).to be_nil
    allow(Time).to receive(:now).and_return(real)
    expect(tokens.find(secret)).to be_nil
  end

  it 'makes tokens of which no part, and no other spelling, is taken for one' do
    token = create('GET /**').fetch('token')
    other = create('GET /**').fetch('token')
    wrong = [token[0..-2], "#{token}x", token.sub(/.\z/) { |last| last == 'A' ? 'B' : 'A' }, token.upcase,
             "#{token[0, 24]}#{other[24..]}", 'simpkv_', "simpkv_#{'0' * 16}_#{'a' * 43}", "#{token}\n", "#{token} x"]
    expect(wrong.map { |each| get('/healthz', each).status }.uniq).to eq([401])
    expect(visits.log).to exclude(token[24..])
    off = ConsoleVisits.new(site)
    expect(off.get('/healthz', 'HTTP_X_AUTH_TOKEN' => token))
      .to have_attributes(status: 401, body: include("set 'tokens'"))
  end

  # The message named the folder of the store to everybody.
  it 'makes tokens that are refused if they cannot be checked, without a word about the store' do
    token = create('GET /**').fetch('token')
    File.write(Dir[File.join(root, 'service/tokens/*')].first, 'damaged')
    expect(get('/healthz', token)).to have_attributes(status: 503, body: exclude('service/tokens'))
    unknown = get('/healthz', "simpkv_#{'0' * 16}_#{'a' * 43}", 'HTTP_COOKIE' => "a=\xff; __Host-simpkv=%ff")
    expect(unknown.status).to eq(401)
    expect(simpkv('token', 'list')).to have_attributes(code: 65, err: include('no token that simpkv has made'))
  end

  # A token was made that got 401 then.
  it 'makes no token of a maker whose tokens the service refuses, and warns of one with whom a token allows nothing' do
    expired = authority.issue(subject: 'ci.example.com', days: -1).first
    attempts = { ['user:nobody.here'] => "no user 'nobody.here', and no entry of 'rights'",
                 ['account:ann'] => "'sign_in' of 'server' is not set",
                 ['certname:ci.example.com', '--certificate', certificate] => "'tls_ca' of 'server' is not set" }
    attempts.each { |words, why| expect(attempt(*words)).to have_attributes(code: 64, err: include(why)) }
    maker
    expect(attempt('certname:ci.example.com', '--certificate', expired))
      .to have_attributes(code: 64, err: include('would refuse each token of certname:ci.example.com'))
    expect(tokens.all).to eq([])
    expect(attempt('user:daemon')).to have_attributes(code: 0, err: include("until an entry of 'rights'"))
    rights.push('user' => 'nobody.here', 'methods' => ['GET'], 'paths' => ['/**'])
    expect(attempt('user:nobody.here'))
      .to have_attributes(code: 0, err: include('refuses the token if its machine has none').and(exclude('nothing')))
    expect(attempt('user:root')).to have_attributes(code: 0, err: '')
  end

  # @return [Object] the outcome of the command
  def attempt(*maker)
    File.write(config, site.to_yaml)
    simpkv('token', 'create', '--rights', 'GET /v1', '--expires', '1d', '--maker', *maker)
  end

  it 'makes no token of an account that the directory does not have' do
    people = People.new.tap(&:start)
    people.add_person('ann')
    site['backends'] = { **backends, 'people' => people.backend }
    site['server']['sign_in'] = people.section
    expect(attempt('account:bob')).to have_attributes(code: 64, err: include("the directory has no account 'bob'"))
    expect(attempt('account:ann')).to have_attributes(code: 0, err: include("until an entry of 'rights'"))
    rights.push('account' => 'ann', 'methods' => ['GET'], 'paths' => ['/**'])
    # The directory takes both for the same name.
    %w[ann ANN].each { |name| expect(attempt("account:#{name}")).to have_attributes(code: 0, err: '') }
    rights.last.replace('group' => 'operators', 'methods' => ['GET'], 'paths' => ['/**'])
    expect(attempt('account:ann')).to have_attributes(code: 0, err: '')
    people.stop_serving
    expect(attempt('account:bob')).to have_attributes(code: 0, err: include('cannot be checked'))
  ensure
    people&.stop
  end

  it 'refuses what is no right, no maker and no time, and says what is' do
    { ['--rights', 'GET'] => 'METHODS PATHS', ['--rights', 'get /v1'] => 'GET, POST',
      ['--rights', 'GET v1'] => 'list of paths', ['--rights', 'GET /v1/keys/../**'] => "'.' or '..'",
      ['--rights', 'GET /v1/keys/.'] => "'.' or '..'", ['--rights', 'GET /v1//keys'] => 'is empty',
      ['--rights', 'GET /v1 other=x'] => 'METHODS PATHS',
      [] => '--rights', ['--rights', 'GET /v1', '--maker', 'x'] => 'user:NAME',
      ['--rights', 'GET /v1', '--maker', 'certname:x'] => 'needs --certificate',
      ['--rights', 'GET /v1', '--maker', 'certname:x', '--certificate', certificate] => 'not the certificate of x',
      ['--rights', 'GET /v1', '--maker', 'certname:x', '--certificate', config] => '--certificate cannot be read',
      ['--rights', 'GET /v1', '--certificate', certificate] => '--certificate is for --maker',
      ['--rights', 'GET /v1', '--expires', 'never'] => '--expires' }.each do |words, why|
      expect(simpkv('token', 'create', '--expires', '1d', *words)).to have_attributes(code: 64, err: include(why))
    end
    expect(simpkv('token', 'create', '--rights', 'GET /v1')).to have_attributes(code: 64, err: include('--expires'))
    File.write(config, { 'backends' => backends }.to_yaml)
    expect(simpkv('token', 'list')).to have_attributes(code: 78, err: include("set 'tokens' of 'server'"))
    expect(tokens.all).to eq([])
  end
end
