# frozen_string_literal: true

require_relative '../../../../spec/support/audit_file'
require_relative 'server_helper'

RSpec.describe 'The API of keys' do
  shared_examples 'keys' do
    let(:path) { '/v1/keys/app1/token' }

    it 'stores, returns and deletes a value with its metadata' do
      stored = client.put(path, 'value' => { 'é' => [1, 2.5, nil] }, 'metadata' => { 'owner' => 'dba' })
      expect(stored).to have_attributes(status: 201, headers: include('location', 'etag'))
      expect(stored.headers).not_to include('content-type')
      found = client.get(path)
      expect(found).to have_attributes(
        status: 200, data: { 'value' => { 'é' => [1, 2.5, nil] }, 'metadata' => { 'owner' => 'dba' } }
      )
      expect(found.headers['etag']).to eq(stored.headers['etag'])
      expect(store.get('environments/production/app1/token'))
        .to eq('{"value":{"é":[1,2.5,null]},"metadata":{"owner":"dba"}}')
      expect(client.put(path, 'value' => 'x').status).to eq(204)
      expect(client.delete(path)).to have_attributes(status: 204, body: '')
      expect([client.get(path), client.delete(path)].map(&:status)).to eq([404, 404])
    end

    it 'keeps environments and global keys apart' do
      client.put("#{path}?environment=dev", 'value' => 1)
      client.put("#{path}?global=true", 'value' => 2)
      expect(client.get(path).status).to eq(404)
      expect(client.get("#{path}?environment=dev").data['value']).to eq(1)
      expect(client.get("#{path}?global=true").data['value']).to eq(2)
      expect(client.get("#{path}?global=true&environment=dev").status).to eq(400)
      expect(client.get("#{path}?environment=..%2fdev").status).to eq(400)
    end

    it 'stores only a new key, or only in place of a known document' do
      first = client.put(path, { 'value' => 1 }, 'If-None-Match' => '*')
      expect(first.status).to eq(201)
      expect(client.put(path, { 'value' => 2 }, 'If-None-Match' => '*').status).to eq(412)

      tag = first.headers['etag']
      expect(client.get(path, 'If-None-Match' => tag)).to have_attributes(status: 304, body: '')
      expect(client.put(path, { 'value' => 3 }, 'If-Match' => tag).status).to eq(204)
      expect(client.put(path, { 'value' => 4 }, 'If-Match' => tag).status).to eq(412)
      expect(client.delete(path, 'If-Match' => tag).status).to eq(412)
      expect(client.get(path).data['value']).to eq(3)
      expect(client.delete(path, 'If-Match' => client.get(path).headers['etag']).status).to eq(204)
      expect(client.put(path, { 'value' => 5 }, 'If-Match' => '*').status).to eq(412)
      expect(client.put(path, { 'value' => 5 }, 'If-Match' => 'x').status).to eq(400)
    end

    it 'ignores no condition' do
      tag = client.put(path, 'value' => 1).headers['etag']
      expect(client.delete(path, 'If-None-Match' => '*').status).to eq(412)
      expect(client.delete(path, 'If-None-Match' => "W/#{tag}").status).to eq(412)
      expect(client.put(path, { 'value' => 2 }, 'If-Match' => "W/#{tag}").status).to eq(412)
      expect(client.put(path, { 'value' => 2 }, 'If-None-Match' => "W/#{tag}").status).to eq(412)
      expect(client.delete('/v1/keys/app1/?recurse=true', 'If-Match' => tag).status).to eq(412)
      expect(client.delete('/v1/inspection_rules', 'If-Match' => tag).status).to eq(412)
      expect(client.put('/v1/nodes/web1/record', {}, 'If-None-Match' => '*').status).to eq(412)
      expect(client.get(path, 'If-None-Match' => "\"other\", W/#{tag}").status).to eq(304)
      expect(client.put(path, { 'value' => 2 }, 'If-Match' => "\"other\", #{tag}").status).to eq(204)
    end

    it 'names the stored key in the header Location' do
      stored = client.put("#{path}?environment=dev", 'value' => 1)
      expect(stored.headers['location']).to eq("http://localhost#{path}?environment=dev")
      proxied = client.put("#{path}2", { 'value' => 1 }, 'X-Forwarded-Host' => 'evil.example')
      expect(proxied.headers['location']).to eq("http://localhost#{path}2")
      odd = client.put("#{path}3", { 'value' => 1 }, 'Host' => "a b\xff")
      expect(odd.headers['location']).to eq("http://localhost#{path}3")
    end

    it 'takes each parameter once' do
      client.put(path, 'value' => 1)
      %w[environment=dev&environment=production version=0&version=-1 global=true&global=false version[]=0 %ff=1
         version].each { |query| expect(client.get("#{path}?#{query}").status).to eq(400) }
    end

    it 'takes an escaped slash for one between names, as generated clients send it' do
      expect(client.put('/v1/keys/app1%2Ftoken', 'value' => 1)) # It was 400.
        .to have_attributes(status: 201, headers: include('location' => "http://localhost#{path}"))
      expect(client.get(path).data).to eq(client.get('/v1/keys/app1%2ftoken').data)
      expect(client.get('/v1/keys/app1%2F').data).to include('keys' => { 'token' => include('value' => 1) })
      expect(client.delete('/v1/keys/app1%2Ftoken').status).to eq(204)
    end

    it 'names the methods of a key if a request has another' do
      expect(client.post(path, 'value' => 1))
        .to have_attributes(status: 405, headers: include('allow' => 'get, head, put, delete'))
    end

    it 'lets one of many writers store a new key' do
      statuses = Array.new(8) do |number|
        Thread.new { service.client.put(path, { 'value' => number }, 'If-None-Match' => '*').status }
      end.map(&:value)
      expect(statuses.tally).to eq(201 => 1, 412 => 7)
    end

    it 'keeps earlier values and expires values' do
      client.put(path, 'value' => 'old', 'history' => 2)
      client.put(path, 'value' => 'new', 'history' => 2, 'expires_after' => '90d')
      expect(client.get(path).data).to include('value' => 'new', 'expires' => String, 'stored_at' => String)
      expect(client.get("#{path}?version=-1").data['value']).to eq('old')
      expect(client.get("#{path}?version=-2").status).to eq(404)
      client.put(path, 'value' => 'gone', 'expires' => '2126-01-01T00:00:00Z')
      expire(path.delete_prefix('/v1/keys/'))
      expect(client.get(path)).to have_attributes(status: 404, detail: include('expired at 2020-01-01'))
      expect(client.get("#{path}?expired=true").data['value']).to eq('gone')
      expect(client.put(path, { 'value' => 'again' }, 'If-None-Match' => '*').status).to eq(201)
    end

    it 'carries bytes and Sensitive values' do
      client.put(path, 'value' => 'AP8=', 'encoding' => 'base64')
      expect(client.get(path).data).to eq('value' => 'AP8=', 'encoding' => 'base64', 'metadata' => {})
      client.put(path, 'value' => 's3cret', 'sensitive' => true)
      expect(client.get(path).data).to eq('value' => 's3cret', 'sensitive' => true, 'metadata' => {})
      client.put(path, 'value' => 'AP8=', 'encoding' => 'base64', 'sensitive' => true)
      expect(client.get(path).data)
        .to eq('value' => 'AP8=', 'encoding' => 'base64', 'sensitive' => true, 'metadata' => {})
      plain = { '__ptype' => 'Sensitive', '__pvalue' => 'a hash that looks like one' }
      client.put(path, 'value' => plain)
      expect(client.get(path).data).to eq('value' => plain, 'metadata' => {})
      # It used to be stored, and no manifest could read it.
      expect(client.put(path, 'value' => [{ '__ptype' => 'Deferred' }], 'sensitive' => true))
        .to have_attributes(status: 400, detail: include("no Hash may have a key '__ptype'"))
    end

    it 'lists a folder, and a tree' do
      client.put('/v1/keys/app1/a', 'value' => 1)
      client.put('/v1/keys/app1/sub/b', 'value' => 2)
      one = { 'value' => 1, 'metadata' => {} }
      expect(client.get('/v1/keys/app1').data).to eq('keys' => { 'a' => one }, 'folders' => ['sub'])
      expect(client.get('/v1/keys/app1/?values=false').data).to eq('keys' => { 'a' => {} }, 'folders' => ['sub'])
      expect(client.get('/v1/keys?recurse=true&values=false').data)
        .to eq('keys' => { 'app1/a' => {}, 'app1/sub/b' => {} }, 'folders' => %w[app1 app1/sub])
      expect(client.get('/v1/keys/app2/')).to have_attributes(status: 404, detail: include("'app2'"))
      expect(client.get('/v1/keys?environment=dev')).to have_attributes(status: 404, detail: include('no keys in dev'))
      expect([404, 409]).to include(client.delete('/v1/keys/app1').status)
      expect(client.delete('/v1/keys/app1/').status).to eq(400)
      expect(client.delete('/v1/keys/app1/?recurse=true').status).to eq(204)
      expect(client.get('/v1/keys/app1/').status).to eq(404)
    end

    it 'lists a page, of which expired keys are left out' do
      %w[a b c d].each { |name| client.put("/v1/keys/app1/#{name}", 'value' => 1) }
      client.put('/v1/keys/app1/sub/e', 'value' => 1)
      expire('app1/b')
      page = ->(query) { client.get("/v1/keys/app1/?values=false&#{query}").data }
      expect(page.call('limit=3')).to eq('keys' => { 'a' => {} }, 'folders' => %w[sub], 'next' => 'b',
                                         'total' => { 'keys' => 4, 'folders' => 1 })
      expect(page.call('limit=2&offset=3')).to eq('keys' => { 'c' => {}, 'd' => {} }, 'folders' => [],
                                                  'total' => { 'keys' => 4, 'folders' => 1 })
      expect(page.call('limit=9&expired=true')['keys']).to include('b' => { 'expired' => true })
      expect(client.get('/v1/keys/app1/?limit=2&offset=1').data['keys']).to match('a' => include('value' => 1))
    end

    # By an offset, the key after one that was deleted was on no page.
    it 'lists each name on one page while keys are stored and deleted between the pages' do
      %w[s1/x s2/x a b c d e f].each { |name| client.put("/v1/keys/app1/#{name}", 'value' => 1) }
      changes = [[], %w[delete a], %w[put aa], %w[delete b], []].each
      pages = []
      until pages.any? && pages.last['next'].nil?
        marker = pages.any? ? "&#{URI.encode_www_form(marker: pages.last['next'])}" : ''
        pages << client.get("/v1/keys/app1/?values=false&limit=2#{marker}").data
        change(*changes.next)
      end
      expect(pages.flat_map { |page| [*page['folders'], *page['keys'].keys] }).to eq(%w[s1 s2 a b c d e f])
      expect(pages.map { |page| page['next'] }).to eq(['s2/', 'b', 'd', nil])
      expect(client.get('/v1/keys/app1/?values=false&limit=2&marker=s1/').data).to include('folders' => %w[s2])
      expect(client.get('/v1/keys/app1/?marker=a&offset=1')).to have_attributes(status: 400, detail: include('marker'))
    end

    def change(operation = nil, name = nil)
      client.delete("/v1/keys/app1/#{name}") if operation == 'delete'
      client.put("/v1/keys/app1/#{name}", 'value' => 1) if operation == 'put'
    end

    it 'answers several operations as if each came alone' do
      tag = client.put('/v1/keys/app1/a', 'value' => 1).headers['etag']
      client.put('/v1/keys/app1/b', 'value' => 2)
      operations = [{ 'op' => 'get', 'key' => 'app1/a' }, { 'op' => 'get', 'key' => 'app1/none' },
                    { 'op' => 'put', 'key' => 'app1/new', 'body' => { 'value' => 3 }, 'if_none_match' => '*' },
                    { 'op' => 'put', 'key' => 'app1/b', 'body' => { 'value' => 4 }, 'if_match' => tag },
                    { 'op' => 'put', 'key' => 'app1/c', 'body' => { 'values' => 4 } },
                    { 'op' => 'get', 'key' => 'app1/../b' }, { 'op' => 'get', 'key' => 'app1%2Fa' },
                    { 'op' => 'delete', 'key' => 'app1' }]
      results = client.post('/v1/keys:batch', 'operations' => operations).data['results']
      expect(results.transform_values { |result| result['status'] })
        .to include('app1/a' => 200, 'app1/none' => 404, 'app1/new' => 201, 'app1/b' => 412, 'app1/c' => 400,
                    'app1/../b' => 400, 'app1%2Fa' => 400, 'app1' => be_between(404, 409))
      expect(results['app1/a']).to eq('status' => 200, 'etag' => tag, 'body' => { 'value' => 1, 'metadata' => {} })
      expect(results['app1/c']['problem']['detail']).to include("unknown member 'values'")
      gone = client.post('/v1/keys:batch?environment=dev', 'operations' => [{ 'op' => 'delete', 'key' => 'app1/a' }])
      expect(gone.data['results']['app1/a']['status']).to eq(404)
      one = [{ 'op' => 'delete', 'key' => 'app1/a', 'if_match' => tag }]
      expect(client.post('/v1/keys:batch', 'operations' => one).data['results']).to eq('app1/a' => { 'status' => 204 })
      expect(client.get('/v1/keys/app1?values=false').data['keys'].keys).to eq(%w[b new])
    end

    it 'refuses a batch that is wrong, and does nothing of it' do
      good = { 'op' => 'put', 'key' => 'app1/x', 'body' => { 'value' => 1 } }
      { [good, 1] => 'operations[1]: it must be an object', [good, { 'op' => 'list' }] => 'operations[1].op',
        [good, { 'op' => 'get', 'key' => 'a/' }] => 'operations[1].key', [good, good] => "'app1/x' is in several",
        [good, { 'op' => 'get', 'key' => 'a', 'if_match' => '*' }] => "unknown member 'if_match'",
        [good, { 'op' => 'put', 'key' => 'a' }] => 'operations[1].body', [good] * 501 => 'at most 500',
        [good, { 'op' => 'delete', 'key' => 'a', 'if_match' => 1 }] => 'operations[1].if_match' }.each do |list, why|
        expect(client.post('/v1/keys:batch', 'operations' => list))
          .to have_attributes(status: 400, detail: include(why))
      end
      expect(client.post('/v1/keys:batch', { 'operations' => [good] }, 'If-Match' => '*').status).to eq(412)
      expect(client.get('/v1/keys:batch').status).to eq(405)
      expect(client.get('/v1/keys/app1/x').status).to eq(404)
    end

    it 'refuses a body that is wrong, and says which member' do
      { { 'value' => nil } => 'value', { 'values' => 1 } => "unknown member 'values'", '{' => 'not a JSON document',
        { 'value' => 1, 'metadata' => 1 } => 'metadata', { 'value' => 'é', 'encoding' => 'base64' } => 'base64',
        { 'value' => 1, 'expires' => 'soon' } => 'expires', { 'value' => 1, 'expires_after' => 0 } => 'expires_after',
        { 'value' => 1, 'expires' => '2020-01-01T00:00:00Z' } => 'expires: 2020-01-01T00:00:00Z is past',
        { 'value' => 1, 'history' => 101 } => 'history',
        { 'value' => 1, 'encoding' => 'rot13' } => 'encoding' }.each do |body, why|
        expect(client.put(path, body)).to have_attributes(status: 400, detail: include(why))
      end
      expect(client.get(path).status).to eq(404)
    end

    it 'refuses a path that could be read in two ways' do
      %w[/v1/keys/a/../b /v1/keys/a/%2e%2e/b /v1/keys//a /v1/keys/a//b /v1/keys/a%252fb /v1/keys/a%00 /v1/keys/a%ff
         /v1/keys/./a /v1/keys/a%5cb /v1/keys/a%zz /v1/keys/%252e%252e/x /v1/keys/a%2f%2fb /v1/keys/%2fa
         /v1/keys/a%2F..%2Fb /v1/keys/a%2f%2e%2e%2Fb /v1/keys/a%2f./b /v1/keys%2fa /v1/keys/%2f /v1%2Fkeys/a
         /v1/%6beys/a%2fb /v1/nodes/a%2fb /V1/keys/a].each do |tricky|
        expect([tricky, client.get(tricky).status]).to eq([tricky, tricky.start_with?('/V1') ? 404 : 400])
      end
      expect(client.put("/v1/keys/#{'a' * 5000}", 'value' => 1).status).to eq(400)
    end
  end

  context 'in files' do
    include_context 'with a service for all examples'
    it_behaves_like 'keys'
  end

  context 'in files that are damaged, full or audited' do
    include AuditFile

    include_context 'with a service'

    it 'fails a list if a key cannot be read' do
      store.put('globals/app1/torn', '{"value":')
      expect(client.get('/v1/keys/app1/?global=true')).to have_attributes(status: 500, detail: include('torn'))
      ['', '?recurse=true', 'torn', 'torn?values=false'].each do |rest|
        found = client.get("/v1/keys/app1/#{rest}#{rest.include?('?') ? '&' : '?'}global=true").data
        expect(found).to include('status' => 500, 'key' => 'globals/app1/torn')
      end
    end

    it 'answers 507 if the disk is full, and keeps what is stored' do
      on_small_disk do |folder, fill|
        Simpkv::Store.open('file', 'root_path' => File.join(folder, 'store'))
        small = { 'default' => backends['default'].merge('root_path' => File.join(folder, 'store')) }
        service.configure(options.merge('backends' => small))
        service.terminate
        service.start
        client.put('/v1/keys/a', 'value' => 'old')
        fill.call
        expect(client.put('/v1/keys/a', 'value' => 'x' * 100_000))
          .to have_attributes(status: 507, detail: include('No space left on device'))
        expect(client.get('/v1/keys/a').data['value']).to eq('old')
      ensure
        service.terminate
      end
    end

    it 'names the caller in the audit log' do
      audit = File.join(Dir.mktmpdir('audit'), 'log')
      audited = backends['default'].merge('audit' => { 'to' => audit })
      service.configure(options.merge('backends' => { 'default' => audited }))
      service.terminate
      service.start
      client.put('/v1/keys/a', 'value' => 'pl4nted-in-a-body')
      line = JSON.parse(File.readlines(audit).last)
      expect(line).to include('operation' => 'put', 'node' => 'user:root', 'key' => 'a')
      expect(service.log + File.read(audit)).not_to include('pl4nted')
    ensure
      FileUtils.rm_rf(File.dirname(audit))
    end
  end

  Directories.each_server do |server, tags|
    context "in a directory of #{server}", **tags do
      include_context 'with a directory', server
      include_context 'with a service for all examples'
      let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
      let(:store) { open_store }
      it_behaves_like 'keys'
    end
  end
end
