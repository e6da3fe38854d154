# frozen_string_literal: true

require 'etc'
require 'simpkv/server'
require_relative '../../../../spec/support/audit_file'
require_relative 'server_helper'

RSpec.describe 'The API of keys without their values' do
  let(:path) { '/v1/keys/app1/token' }

  shared_examples 'descriptions' do
    it 'describes a key with its times, metadata and versions' do
      client.put(path, 'value' => 'AP8=', 'encoding' => 'base64', 'history' => 5)
      client.put(path, 'value' => 'pl4nted', 'sensitive' => true, 'metadata' => { 'owner' => 'dba' },
                       'history' => 5, 'expires_after' => '90d')
      found = client.get("#{path}?values=false")
      expect(found.data).to match(
        'metadata' => { 'owner' => 'dba' }, 'sensitive' => true, 'stored_at' => String, 'expires' => String,
        'versions' => [{ 'version' => 0, 'stored_at' => String, 'expires' => String, 'sensitive' => true },
                       { 'version' => -1, 'stored_at' => String, 'encoding' => 'base64' }],
        'backend' => 'default', 'audit' => 'none', **modification
      )
      expect(Time.iso8601(found.data['modified_at'])).to be_within(120).of(Time.now)
      expect(found.headers['etag']).to eq(client.get(path).headers['etag'])
      expect(client.get("#{path}?values=false&version=-1").data).to include('encoding' => 'base64', 'metadata' => {})
      expect(client.get("#{path}?values=false&version=-2").status).to eq(404)
      expect(client.get("#{path}?values=false", 'If-None-Match' => found.headers['etag']).status).to eq(304)
    end

    it 'says that a key has expired' do
      client.put(path, 'value' => 1)
      expire('app1/token')
      expect(client.get("#{path}?values=false").status).to eq(404)
      expect(client.get("#{path}?values=false&expired=true").data).to include('expired' => true)
      expect(client.get('/v1/keys/app1/?values=false&expired=true').data)
        .to eq('keys' => { 'token' => { 'expired' => true } }, 'folders' => [])
    end

    it 'makes an earlier value the current one, with its type and its metadata' do
      typed = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
      first = JSON.generate('value' => { 'a' => typed }, 'encoding' => 'pcore', 'metadata' => { 'n' => 1 })
      store.put('environments/production/app1/token', first)
      client.put(path, 'value' => 'new', 'history' => 2)
      tag = client.get("#{path}?values=false").headers['etag']
      restored = client.put(path, { 'version' => -1 }, 'If-Match' => tag)
      expect(restored).to have_attributes(status: 204, body: '')
      expect(restored.headers['etag']).to eq(client.get(path).headers['etag'])
      stored = JSON.parse(store.get('environments/production/app1/token'))
      expect(stored).to include('value' => { 'a' => typed }, 'encoding' => 'pcore', 'metadata' => { 'n' => 1 })
      expect(stored['history'].map { |each| each['value'] }).to eq(['new'])
      expect(client.put(path, { 'version' => -1 }, 'If-Match' => tag).status).to eq(412)
      expect(client.get(path).data['value']).to eq('a' => 'pl4nted')
    end

    it 'restores no version that there is not, and none without a time of a key that has expired' do
      expect(client.put(path, 'version' => -1).status).to eq(404)
      client.put(path, 'value' => 1)
      # The message had no folder.
      [{ 'version' => -1 }, { 'metadata' => {} }].each do |body|
        expect(client.put('/v1/keys/app1/new', body))
          .to have_attributes(status: 404, detail: include("there is no key 'app1/new'"))
      end
      expect(client.put(path, 'version' => -1)).to have_attributes(status: 404, detail: include('no version -1'))
      wrong = [{ 'version' => 0 }, { 'version' => 'x' }, { 'version' => -1, 'value' => 2 }, { 'version' => -101 }]
      expect(wrong.map { |body| client.put(path, body).status }).to all(eq(400))
      client.put(path, 'value' => 2, 'history' => 1)
      past = client.put(path, 'version' => -1, 'expires' => '2020-01-01T00:00:00Z')
      expect(past).to have_attributes(status: 400, detail: include('is past'))
      expire('app1/token')
      expect(client.put(path, 'version' => -1)).to have_attributes(status: 400, detail: include('expired'))
      expect(client.put(path, { 'version' => -1, 'expires_after' => '1d' }, 'If-None-Match' => '*').status).to eq(201)
      expect(client.get(path).data).to include('value' => 1, 'expires' => String)
    end

    it 'lists a part of a folder, with the number of all names' do
      %w[b/x a/x].each { |key| client.put("/v1/keys/#{key}", 'value' => 1) }
      %w[z1 y2 x1].each { |key| client.put("/v1/keys/#{key}", 'value' => 1) }
      page = ->(query) { client.get("/v1/keys/?values=false&#{query}").data }
      expect(page.call('limit=3')).to eq('folders' => %w[a b], 'keys' => { 'x1' => {} }, 'next' => 'x1',
                                         'total' => { 'keys' => 3, 'folders' => 2 })
      expect(page.call('limit=3&offset=3')).to include('folders' => [], 'keys' => { 'y2' => {}, 'z1' => {} })
      expect(page.call('filter=1&limit=1')).to include('keys' => { 'x1' => {} },
                                                       'total' => { 'keys' => 2, 'folders' => 0 })
      expect(page.call('filter=A')).to eq('folders' => ['a'], 'keys' => {})
      expect(page.call('recurse=true&limit=1')['total']).to eq('keys' => 5, 'folders' => 2)
      # A page of names reads the documents of its own keys only, so that it takes all names.
      client.put('/v1/keys/y1', 'value' => 1)
      expire('y1')
      names = ->(query) { page.call("expired=true&errors=return&#{query}") }
      expect(names.call('limit=3')).to eq('folders' => %w[a b], 'keys' => { 'x1' => {} }, 'errors' => {},
                                          'next' => 'x1', 'total' => { 'keys' => 4, 'folders' => 2 })
      expect(names.call('limit=2&offset=3')['keys']).to eq('y1' => { 'expired' => true }, 'y2' => {})
      expect(names.call('limit=5&offset=9').values_at('keys', 'folders')).to eq([{}, []])
      expect(names.call('limit=1&offset=1&filter=1')['keys']).to eq('y1' => { 'expired' => true })
      %w[limit=0 limit=x offset=-1 errors=yes].each do |query|
        expect(client.get("/v1/keys/?values=false&#{query}").status).to eq(400)
      end
    end

    it 'names backends, and the environments that have keys' do
      client.put("#{path}?environment=dev", 'value' => 1)
      expect(client.get('/v1/backends').data['backends']).to match([{ 'name' => 'default', 'default' => true,
                                                                      'type' => backends['default']['type'] }])
      expect(client.get('/v1/backends/default').data).to include('environments' => include('dev'))
      expect(client.get('/v1/backends/other').status).to eq(404)
    end
  end

  context 'in files' do
    include AuditFile

    include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'
    it_behaves_like 'descriptions'

    let(:modification) do
      { 'modified_at' => String, 'owner' => Etc.getpwuid(Process.euid).name, 'encrypted' => false,
        'size' => a_value > 100 }
    end
    let(:local) { service.client('tcp') }

    it 'describes a key to callers who may not see values, without metadata and without a digest of the value' do
      client.put(path, 'value' => '4711', 'metadata' => { 'pin' => '4711', 'b' => 1 })
      found = local.get("#{path}?values=false")
      expect(found.data).to include('metadata_names' => %w[b pin], 'versions' => [{ 'version' => 0 }])
      expect(found.data).to include('modified_at').and(satisfy { |facts| !facts.key?('size') })
      expect(found.headers).not_to include('etag')
      expect(found.body).not_to include('4711')
      tag = client.get(path).headers['etag']
      expect(local.get("#{path}?values=false", 'If-None-Match' => tag).status).to eq(200)
      expect(local.get(path, 'If-None-Match' => tag).status).to eq(403)
      expect(local.put(path, 'version' => -1).status).to eq(403)
    end

    it 'hides secrets in metadata: by their name, Sensitive ones, and former passwords of simplib::passgen' do
      sensitive = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
      store.put('environments/production/app1/token',
                JSON.generate('value' => 1, 'encoding' => 'pcore',
                              'metadata' => { 'a' => [sensitive], 'db_password' => 'pl4nted', 'owner' => 'dba',
                                              'b' => Simpkv::RichData.object('Hash', [1, 2, 'api_key', 'pl4nted',
                                                                                      sensitive, 3]) }))
      found = client.get("#{path}?values=false")
      expect(found.data).to include('metadata' => { 'a' => ['[redacted]'], 'db_password' => '[redacted]',
                                                    'owner' => 'dba', 'b' => include(
                                                      '__pvalue' => [1, 2, 'api_key', '[redacted]', '[redacted]', 3]
                                                    ) },
                                    'metadata_hidden' => true, 'puppet_types' => %w[Hash Sensitive])
      client.put('/v1/keys/gen_passwd/x', 'value' => { 'password' => 'pl4nted', 'salt' => 'x' },
                                          'metadata' => { 'complexity' => 0, 'history' => [%w[pl4nted salt]] })
      passgen = client.get('/v1/keys/gen_passwd/x?values=false')
      expect(passgen.data['metadata']).to eq('complexity' => 0, 'history' => '[redacted]')
      expect(found.body + passgen.body).not_to include('pl4nted')
    end

    it 'lists keys that cannot be read as such, if the caller wants that' do
      client.put('/v1/keys/app1/a', 'value' => 1)
      # Of these, all but the first looked healthy.
      broken = { 'soon' => '{"value":1,"expires":"soon"}', 'torn' => 'pl4nted', 'empty' => '', 'other' => '[]',
                 'history' => '{"value":1,"history":[5]}' }
      broken.each { |name, document| store.put("environments/production/app1/#{name}", document) }
      expect(client.get('/v1/keys/app1/?values=false').status).to eq(500)
      ['', '&expired=true&limit=9', '&expired=true', '&limit=9'].each do |query|
        found = client.get("/v1/keys/app1/?values=false&errors=return#{query}")
        expect(found.data).to include('keys' => { 'a' => {} }, 'errors' => broken.transform_values { be_a(String) })
        expect(found.data['total']).to eq('keys' => 6, 'folders' => 0) if query.include?('limit')
        expect(found.body).not_to include('pl4nted')
      end
    end

    # Only DELETE without a condition knew such a key.
    it 'describes a key that cannot be read to a caller who wants errors, with a tag to delete it by' do
      store.put('environments/production/app1/token', 'pl4nted')
      expect(client.get("#{path}?values=false")).to have_attributes(status: 500, detail: include('not a JSON'))
      found = client.get("#{path}?values=false&errors=return")
      expect(found.data).to match('error' => include('not a JSON'), 'backend' => 'default', 'audit' => 'none',
                                  'modified_at' => String, 'owner' => String, 'size' => 7)
      expect(found.headers['allow']).to include('delete')
      expect(local.get("#{path}?values=false&errors=return").headers).not_to include('etag')
      expect(client.delete(path, 'If-Match' => '"x"').status).to eq(412)
      expect(client.delete(path, 'If-Match' => found.headers['etag']).status).to eq(204)
    end

    it 'has an operation of its own in the audit log, and refuses a value before it reads' do
      audited = backends['default'].merge('audit' => audit(reads: true))
      service.configure(options.merge('backends' => { 'default' => audited }))
      service.terminate
      service.start
      client.put(path, 'value' => 1)
      expect(client.get("#{path}?values=false").data['audit']).to eq('reads')
      client.get(path)
      service.client('tcp').get(path)
      expect(operations.grep(%r{production:app1/token}))
        .to eq(['get production:app1/token absent', 'put production:app1/token written',
                'describe production:app1/token found', 'stat production:app1/token found',
                'get production:app1/token found'])
    end
  end

  Directories.each_server do |server, tags|
    context "in a directory of #{server}", **tags do
      include_context 'with a directory', server
      include_context 'with a service'
      let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      let(:store) { open_store }
      let(:modification) do
        dn = directory.options['admin_dn']
        { 'created_at' => String, 'created_by' => dn, 'modified_at' => String, 'modified_by' => dn,
          'encrypted' => false, 'size' => a_value > 100 }
      end
      it_behaves_like 'descriptions'
    end
  end
end

RSpec.describe Simpkv::Server::Api::KeyDescription do
  # It read the document once for each version: with 650 kB of metadata, a page took 6 s.
  it 'reads the document as often for 100 versions as for none' do
    documents = [100, 0].map do |number|
      JSON.generate('value' => 'new', 'metadata' => (1..500).to_h { |each| ["name#{each}", [each]] },
                    'history' => Array.new(number) { |each| { 'value' => "old #{each}", 'metadata' => {} } })
    end
    reads = Hash.new(0)
    allow(Simpkv::Native).to receive(:parse).and_wrap_original do |parse, text|
      reads[text] += 1
      parse.call(text)
    end
    names = Simpkv::Estate::SecretNames::USUAL
    described = documents.map { |document| described_class.new(document, 0, names, metadata: true).to_h }
    expect(described.map { |each| each['versions'].length }).to eq([101, 1])
    expect(reads.values_at(*documents)).to eq([2, 2])
  end
end
