# frozen_string_literal: true

require 'simpkv/server/caller'
require 'simpkv/server/certificates'
require 'simpkv/server/rights'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/command'
require_relative 'server_helper'

RSpec.describe 'The rights of callers' do
  it 'end when the certificate expires, also on an open connection' do
    Dir.mktmpdir('ca') do |folder|
      authority = Certificates.new(folder)
      checked = Simpkv::Server::Certificates.new('tls_ca' => authority.cacert)
      file, = authority.issue(days: 2.0 / 86_400, subject: 'reader.example.com', names: nil)
      certificate = OpenSSL::X509::Certificate.new(File.read(file))
      expect(checked.certname(certificate)).to eq('reader.example.com')
      sleep 0.1 while Time.now <= certificate.not_after + 1 # It is valid until the end of that second.
      expect { checked.certname(certificate) }.to raise_error(Simpkv::DeniedError, /expired/)
    end
  end

  context 'with client certificates' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'

    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:crl) { certificates.revoke }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1')
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'tls_crl' => crl, 'rights' => rights }
    end
    let(:rights) do
      [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/v1/keys/app1/**', '/healthz'],
         'environments' => %w[production] },
       { 'certname' => 'narrow.example.com', 'methods' => %w[GET DELETE],
         'paths' => ['/v1/keys/app1', '/v1/keys/app1/*'] },
       { 'certname' => 'provisioner.example.com', 'methods' => %w[PUT DELETE], 'paths' => ['/v1/keys/**'] },
       { 'certname' => 'writer.example.com', 'methods' => %w[GET PUT], 'paths' => ['/v1/keys/**'] },
       # Such a right found no keys.
       { 'certname' => 'operator.example.com', 'methods' => %w[GET], 'paths' => ['/**'] }]
    end

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    # @return [ServiceClient] with a certificate of that name
    def client_of(certname, authority: certificates, **options)
      cert, key = authority.issue(subject: certname, names: nil, **options)
      service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
    end

    # Puppet's CA signs keys of RSA.
    it 'allow what the list has, and nothing else' do
      reader = client_of('reader.example.com', rsa: true)
      writer = client_of('writer.example.com')
      expect(writer.put('/v1/keys/app1/a', 'value' => 1).status).to eq(201)
      expect(reader.get('/v1/keys/app1/a').data['value']).to eq(1)
      expect(reader.get('/healthz').status).to eq(200)
      ['/v1/keys/app2/a', '/v1/keys/app1x', '/v1/keys', '/v1/nodes', '/metrics', '/', '/v1/keys/app1/a?global=true',
       '/v1/keys/app1/a?environment=dev'].each do |path|
        expect(reader.get(path)).to have_attributes(status: 403, detail: include('reader.example.com'))
      end
      expect(reader.put('/v1/keys/app1/a', 'value' => 2).status).to eq(403)
      expect(reader.delete('/v1/keys/app1/a').status).to eq(403)
      expect(client_of('stranger.example.com').get('/healthz').status).to eq(403)
    end

    # The search of the console: it must not tell names that a list would not.
    it 'find no other names of keys than those that they let a caller read, and need none to find these' do
      store.put('environments/dev/app1/token', '{"value":"v"}')
      { 'app1/token' => 'globals', 'app1/deep/Token' => nil, 'app2/token' => nil }.each do |name, root|
        store.put("#{root || 'environments/production'}/#{name.downcase}", '{"value":"v"}')
      end
      store.put('environments/production/app1/other', '{"value":"token"}')
      found = lambda do |client, text = 'TOKEN'|
        client.get("/v1/key_names?q=#{text}").data['keys'].map { |key| key.values_at('name', 'environment') }
      end
      expect(found.call(client_of('reader.example.com'))).to eq([%w[app1/deep/token production]])
      expect(found.call(client_of('narrow.example.com'))).to eq([['app1/token', nil], %w[app1/token dev]])
      expect(%w[writer operator].map { |name| found.call(client_of("#{name}.example.com")).length }).to eq([4, 4])
      expect(%w[provisioner stranger].map { |name| found.call(client_of("#{name}.example.com")) }).to eq([[], []])
      expect(found.call(client_of('writer.example.com'), 'estate')).to eq([])
      expect(client_of('reader.example.com').get('/v1/key_names').status).to eq(400)
      expect(client_of('reader.example.com').put('/v1/key_names', {}).status).to eq(403)
    end

    # A PUT answered with a digest of the document, which has earlier values, too.
    it 'to write give no entity tag, and compare none' do
      provisioner = client_of('provisioner.example.com')
      stored = [1, 2].map { |value| provisioner.put('/v1/keys/a', 'value' => value, 'history' => 2) }
      expect(stored.map { |each| [each.status, each.headers['etag']] }).to eq([[201, nil], [204, nil]])
      tag = client_of('writer.example.com').get('/v1/keys/a').headers.fetch('etag')
      refused = [{ 'If-Match' => tag }, { 'If-None-Match' => tag }].flat_map do |condition|
        [provisioner.put('/v1/keys/a', { 'value' => 3 }, condition), provisioner.delete('/v1/keys/a', condition)]
      end
      expect(refused).to all(have_attributes(status: 403, detail: include("'*'")))
      expect(provisioner.put('/v1/keys/a', { 'value' => 3 }, 'If-None-Match' => '*').status).to eq(412)
      expect(provisioner.put('/v1/keys/a', { 'value' => 3 }, 'If-Match' => '*').status).to eq(204)
    end

    it 'are looked at for each key of a batch' do
      client_of('writer.example.com').put('/v1/keys/app2/a', 'value' => 'pl4nted')
      operations = %w[app1/a app2/a].map { |key| { 'op' => 'get', 'key' => key } }
      operations << { 'op' => 'put', 'key' => 'app1/b', 'body' => { 'value' => 1 } }
      ask = lambda do |name, query = ''|
        results = client_of(name).post("/v1/keys:batch#{query}", 'operations' => operations).data['results']
        results.values.map { |result| result['status'] }
      end
      expect(ask.call('reader.example.com')).to eq([404, 403, 403])
      expect(ask.call('reader.example.com', '?global=true')).to eq([403, 403, 403])
      expect(ask.call('stranger.example.com')).to eq([403, 403, 403])
      expect(ask.call('writer.example.com')).to eq([404, 200, 201])
    end

    # A browser sends the certificate of a person with the requests of any page. Such a page could store rules.
    it 'are not those of a page of another site' do
      writer = client_of('writer.example.com')
      own = service.addresses.find { |address| address.start_with?('ssl') }.sub('ssl', 'https')
      sites = [{ 'Origin' => 'https://evil.example' }, { 'Origin' => 'null' }, { 'Sec-Fetch-Site' => 'cross-site' },
               { 'Sec-Fetch-Site' => 'same-site' }]
      sites.each { |headers| expect(writer.put('/v1/keys/a', { 'value' => 1 }, headers).status).to eq(403) }
      expect(writer.get('/v1/keys/a', 'Sec-Fetch-Site' => 'cross-site').status).to eq(403)
      expect(writer.get('/v1/keys/a').status).to eq(404)
      expect(writer.put('/v1/keys/a', { 'value' => 1 }, 'Origin' => own, 'Sec-Fetch-Site' => 'same-origin').status)
        .to eq(201)
    end

    it 'to a path are none to the keys below it' do
      writer = client_of('writer.example.com')
      %w[app1/a app1/sub/b].each { |key| writer.put("/v1/keys/#{key}", 'value' => 'pl4nted') }
      narrow = client_of('narrow.example.com')
      expect(narrow.get('/v1/keys/app1/a').status).to eq(200)
      expect(narrow.get('/v1/keys/app1/?values=false').data['keys']).to eq('a' => {})
      %w[/v1/keys/app1 /v1/keys/app1/ /v1/keys/app1?recurse=true /v1/keys/app1/sub
         /v1/keys/app1/sub?recurse=true&values=false /v1/keys/app1%2Fsub%2Fb /v1/keys/app1/sub%2fb
         /v1/keys/app1%2F].each { |path| expect(narrow.get(path).status).to eq(403) }
      expect(narrow.get('/v1/keys/app1%2Fa').status).to eq(200)
      expect(narrow.get('/v1/keys/app1%2F..%2Fapp1%2Fsub%2Fb').status).to eq(400)
      expect(narrow.delete('/v1/keys/app1?recurse=true').status).to eq(403)
      expect(narrow.delete('/v1/keys/app1/sub?recurse=true').status).to eq(403)
      reader = client_of('reader.example.com')
      expect(reader.get('/v1/keys/app1?recurse=true').data['keys'].keys).to eq(%w[a sub/b])
    end

    context 'for the global keys' do
      let(:rights) do
        [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/v1/keys/**'],
           'environments' => %w[globals] }]
      end

      it 'are none to an environment of that name' do
        %w[/v1/keys/a?global=true /v1/keys/a?environment=globals].each { |path| service.client.put(path, 'value' => 1) }
        reader = client_of('reader.example.com')
        expect(reader.get('/v1/keys/a?global=true').status).to eq(200)
        %w[a?environment=globals ?environment=globals&values=false].each do |path|
          expect(reader.get("/v1/keys/#{path}").status).to eq(403)
        end
      end
    end

    context 'for some backends' do
      let(:backends) do
        other = File.expand_path('../other', @root)
        Simpkv::Store.open('file', 'root_path' => other).close
        super().merge('other' => { 'type' => 'file', 'id' => 'other', 'root_path' => other })
      end
      let(:rights) do
        [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/v1/keys/**', '/healthz'],
           'backends' => %w[other] }]
      end

      it 'allow keys of these, and other requests' do
        %w[/v1/keys/a /v1/keys/a?backend=other].each { |path| service.client.put(path, 'value' => path) }
        reader = client_of('reader.example.com')
        expect(reader.get('/v1/keys/a?backend=other').data['value']).to eq('/v1/keys/a?backend=other')
        expect(reader.get('/v1/keys/?backend=other').status).to eq(200)
        %w[/v1/keys/a /v1/keys/a?backend=default /v1/keys/a?backend=none /v1/keys/].each do |path|
          expect(reader.get(path)).to have_attributes(status: 403, detail: include("'backends'"))
        end
        expect(reader.get('/healthz').status).to eq(200)
      end
    end

    it 'are not those of a certificate whose name could be that of another caller' do
      ['user:root', 'local', "reader.example.com\n", "caf\u00e9", 'a/b'].each do |name|
        expect(client_of(name).get('/healthz')).to have_attributes(status: 403, detail: include('common name'))
      end
    end

    it 'are not those of a certificate whose name has the same bytes in another encoding' do
      chinese = OpenSSL::X509::Name.new([['CN', 'reader.example.com', OpenSSL::ASN1::BMPSTRING]])
      expect(client_of(chinese).get('/healthz')).to have_attributes(status: 403, detail: include('common name'))
    end

    it 'do not depend on the spelling of a path' do
      reader = client_of('reader.example.com')
      %w[/v1/keys/app1/../app2/a /v1/keys/app1/%2e%2e/app2/a /v1/keys//app2/a /v1/keys/app1%2f..%2fapp2
         /v1/keys/./app1/a].each { |path| expect(reader.get(path).status).to eq(400) }
      %w[/v1/keys/APP1/a /V1/keys/app1/a /v1/keys/app%32/a].each { |path| expect(reader.get(path).status).to eq(403) }
      expect(reader.get('/v1/keys/app%31/a').status).to eq(404)
    end

    it 'hide the documents of the estate behind their own API' do
      make_estate
      writer = client_of('writer.example.com')
      ['estate/nodes/web1', 'estate', 'estate/'].each do |name|
        expect(writer.get("/v1/keys/#{name}?global=true").status).to eq(403)
      end
      expect(writer.get('/v1/keys?global=true&recurse=true').status).to eq(403)
      expect(writer.put('/v1/keys/estate/rules/x?global=true', 'value' => 1).status).to eq(403)
      ['/v1/keys/?global=true&recurse=true', '/v1/keys/estate/?global=true&recurse=true'].each do |path|
        expect(service.client.delete(path).status).to eq(403)
      end
      expect(service.client.get('/v1/keys/estate?global=true').status).to eq(200)
    end

    it 'need a certificate of the named CA that is valid' do
      foreign = Certificates.new(Dir.mktmpdir('foreign', File.dirname(certificates.cacert)))
      clients = [client_of('reader.example.com', authority: foreign), client_of('reader.example.com', days: -1),
                 service.client('ssl', ca: certificates.cacert)]
      expect(clients.map { |each| refused?(each) }).to eq([true, true, true])
      expect(refused?(client_of('reader.example.com'))).to be(false)
    end

    # @return [Boolean] whether the service ends the connection without an answer
    def refused?(client)
      client.get('/healthz')
      false
    rescue OpenSSL::SSL::SSLError, SystemCallError, ServiceClient::Closed
      true
    end

    it 'end with the revocation of the certificate, once the service has read the list' do
      cert, key = certificates.issue(subject: 'reader.example.com', names: nil)
      reader = service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
      expect(reader.get('/healthz').status).to eq(200)
      certificates.revoke(cert)
      service.signal(:HUP)
      eventually(errors: RuntimeError) { reader.get('/healthz').status == 403 }
      expect(reader.get('/healthz').detail).to include('revoked')
      expect(client_of('reader.example.com').get('/healthz').status).to eq(200)
    end

    it 'follow a revocation list that the configuration names after SIGHUP' do
      service.configure(options.merge('server' => section.reject { |name, _| name == 'tls_crl' }))
      service.terminate
      service.start
      cert, key = certificates.issue(subject: 'reader.example.com', names: nil)
      reader = service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
      certificates.revoke(cert)
      expect(reader.get('/healthz').status).to eq(200)
      service.configure(options)
      service.signal(:HUP)
      eventually(errors: RuntimeError) { reader.get('/healthz').status == 403 }
    end

    it 'are read again after SIGHUP, and stay if the new ones are wrong' do
      reader = client_of('reader.example.com')
      expect(reader.get('/metrics').status).to eq(403)
      more = [{ 'certname' => 'reader.example.com', 'methods' => ['GET'], 'paths' => ['/**'] }]
      service.configure(options.merge('server' => section.merge('rights' => more)))
      service.signal(:HUP)
      eventually(errors: RuntimeError) { reader.get('/metrics').status == 200 }
      service.configure(options.merge('server' => section.merge('rights' => [{ 'certname' => 'x' }])))
      service.signal(:HUP)
      eventually(errors: RuntimeError) { service.log.include?('stay as they were') }
      expect(reader.get('/metrics').status).to eq(200)
    end
  end

  context 'on a Unix socket' do
    include_context 'with a service'
    let(:section) do
      { 'rights' => [{ 'user' => 'nobody', 'methods' => ['GET'], 'paths' => ['/v1/keys/app1/**'] }] }
    end

    it 'are those of the user of the other process' do
      client.put('/v1/keys/app1/a', 'value' => 1)
      File.chmod(0o755, service.folder)
      as_nobody do
        client.get('/v1/keys/app1/a').status == 200 && client.put('/v1/keys/app1/a', 'value' => 2).status == 403 &&
          client.get('/v1/keys/app2/a').status == 403
      end
    end
  end

  context 'on a loopback port' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'
    let(:local) { service.client('tcp') }

    before do
      make_estate
      client.put('/v1/keys/app1/a', 'value' => 'pl4nted-secret')
    end

    it 'allow reads, and no values of keys' do
      expect(local.get('/v1/nodes').status).to eq(200)
      expect(local.get('/v1/inspection_rules').status).to eq(200)
      expect(local.get('/v1/keys/app1/?values=false').data['keys']).to eq('a' => {})
      ['/v1/keys/app1/a', '/v1/keys/app1/', '/v1/keys?recurse=true', '/v1/keys/app1/a?version=-1'].each do |path|
        expect(local.get(path)).to have_attributes(status: 403, body: exclude_secret)
      end
      expect(local.put('/v1/keys/app1/a', 'value' => 1).status).to eq(403)
      expect(local.delete('/v1/inspection_rules').status).to eq(403)
    end

    it 'are not those of pages of other sites' do
      expect(local.get('/v1/nodes', 'Host' => 'evil.example').status).to eq(421)
      expect(local.get('/v1/nodes', 'Origin' => 'http://evil.example').status).to eq(403)
      expect(local.get('/v1/nodes', 'Host' => 'localhost').status).to eq(200)
    end

    def exclude_secret
      satisfy('has no value') { |body| !body.include?('pl4nted') }
    end
  end

  context 'on a loopback port with --local-write' do
    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

    it 'allow everything' do
      local = service.client('tcp')
      expect(local.put('/v1/keys/app1/a', 'value' => 1).status).to eq(201)
      expect(local.get('/v1/keys/app1/a').data['value']).to eq(1)
    end
  end

  it 'of a token are what its own list and that of its maker allow both, in the fewest words' do
    paths = %w[/** /v1/** /v1/keys/** /v1/keys /v1/keys/ /v1/keys/a /v1/keys/a/ /v1/keys/* /v1/keys/a* /v1/*/a
               /v1/keys/a/** /v1/keys/*/b /v1/keys/*b /*/keys/**]
    requests = %w[/ /v1 /v1/ /v1/keys /v1/keys/ /v1/keys/a /v1/keys/a/ /v1/keys/ab /v1/keys/a/b /v1/keys/x/b
                  /v1/nodes/a /x/keys/a /v1/keys/a/b/c]
    rights = paths.to_h { |path| [path, Simpkv::Server::RightEntries.of_token([entry(path)]).first] }
    allow = ->(right, request, below) { right.paths.any? { |path| path.cover?(request, below) } }
    wrong = paths.product(paths, requests, [true, false]).reject do |own, other, *asked|
      both = [own, other].all? { |path| allow.call(rights[path], *asked) }
      allow.call(rights[own].with(rights[other]), *asked) == both
    end
    expect(wrong).to eq([])
    common = %w[/v1/keys/a /v1/keys/** /v1/nodes /v1/keys/*b].map do |path|
      rights['/v1/keys/a*'].with(Simpkv::Server::RightEntries.of_token([entry(path)]).first).plain['paths']
    end
    expect(common).to eq([%w[/v1/keys/a], %w[/v1/keys/a*], [], ['/v1/keys/a* and /v1/keys/*b']])
  end

  def entry(path)
    { 'methods' => ['GET'], 'paths' => [path] }
  end

  # Such a right used to have no limit.
  %w[environments backends].each do |member|
    it "are wrong if one has #{member} without a value" do
      right = { 'user' => 'x', 'methods' => ['GET'], 'paths' => ['/'] }
      expect { Simpkv::Server::Rights.new([right, right.merge(member => nil)]) }
        .to raise_error(Simpkv::ConfigError, /\A'#{member}' of 'rights\[1\]' of 'server' must be a list of names/)
      expect { Simpkv::Server::Rights.new([right.merge('certname' => nil)]) }.not_to raise_error
    end
  end

  # Whoever could query reports would see their logs after an upgrade.
  it 'show details of reports only to those who may read their path, and all below it' do
    shown = lambda do |caller, paths, **options|
      right = { 'certname' => 'board', 'methods' => ['GET'], 'paths' => paths }
      Simpkv::Server::Rights.new([right], **options).report_details?(caller)
    end
    board, local, root = [[:certname, 'board'], [:local, nil], [:user, 'root', 0]]
                         .map { |caller| Simpkv::Server::Caller.new(*caller) }
    paths = %w[/pdb/query/** /v1/nodes/** /v1/report_details/web1/** /v1/report_details /v1/report_details/** /**]
    expect(paths.select { |path| shown.call(board, [path]) }).to eq(%w[/v1/report_details/** /**])
    options = [{}, { local_details: true }, { local_write: true }]
    expect(options.map { |each| shown.call(local, ['/**'], **each) }).to eq([false, true, true])
    expect(shown.call(root, ['/x'])).to be(true)
  end

  describe 'that are wrong' do
    include_context 'with a service'

    it 'keep the service from starting, with the reason' do
      { { 'rights' => [{ 'certname' => 'x' }] } => "'methods' of 'rights[0]'",
        { 'rights' => [{ 'methods' => ['GET'], 'paths' => ['/'] }] } => "either 'certname' or 'user'",
        { 'rights' => [{ 'user' => 'x', 'methods' => ['get'], 'paths' => ['/'] }] } => "'methods'",
        { 'rights' => [{ 'user' => 'x', 'methods' => ['GET'], 'paths' => ['v1'] }] } => "'paths'",
        { 'rights' => [{ 'user' => 'x', 'methods' => ['GET'], 'paths' => ['/v1/../x'] }] } => "'paths' of 'rights[0]'",
        { 'rights' => [{ 'user' => 'x', 'method' => ['GET'] }] } => "unknown member 'method'",
        { 'rights' => [{ 'user' => 'x', 'methods' => ['GET'], 'paths' => ['/'], 'backends' => 'x' }] } => "'backends'",
        { 'bind' => ['tcp://0.0.0.0:80'] } => 'without TLS', { 'bind' => ['tcp://localhost:80'] } => 'without TLS',
        { 'bind' => ['ssl://0.0.0.0:80'] } => "'tls_cert'", { 'bind' => ['http://x'] } => 'write unix:///PATH',
        { 'bin' => [] } => "did you mean 'bind'" }.each do |wrong, why|
        file = File.join(@root, 'wrong.yaml')
        File.write(file, { 'backends' => backends, 'server' => wrong }.to_yaml)
        expect(Service.failure('-c', file)).to match([include(why), 78])
      end
    end
  end
end
