# frozen_string_literal: true

require 'time'
require_relative '../support/ldap_store'

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Keys in a directory, #{server} #{layout}", **tags do
    include_context 'with a directory', server, layout: layout, limits: true

    def document(value)
      Simpkv::Codec.encode(value)
    end

    def value(document)
      Simpkv::Codec.decode(document)[:value]
    end

    it 'have the DNs that the documentation gives' do
      store.put('environments/production/app1/key1', document(1))
      store.put('globals/g', document(2))
      found = directory.search(DirectoryServer::BASE_DN, '(objectClass=simpkvEntry)')
      expect(found).to include(
        *if layout == 'plain'
           ["simpkvKey=key1,ou=app1,ou=production,ou=environments,ou=#{id},ou=instances,#{DirectoryServer::BASE_DN}",
            "simpkvKey=g,ou=globals,ou=#{id},ou=instances,#{DirectoryServer::BASE_DN}"]
         else
           hex = id.unpack1('H*')
           ["simpkvHexId=6b657931,simpkvHexId=61707031,ou=production,ou=environments,simpkvHexId=#{hex},ou=instances," +
             DirectoryServer::BASE_DN, "simpkvHexId=67,ou=globals,simpkvHexId=#{hex},ou=instances,#{DirectoryServer::BASE_DN}"]
         end
      )
    end

    it 'are found by the attributes of the schema' do
      store.put('environments/production/app1/key1', document(1))
      entry = directory.entry(dn('environments/production/app1/key1'), '*')
      folder = directory.entry(dn('environments/production/app1', :folder), '*')
      expect(entry['objectClass'] - ['top']).to eq(['simpkvEntry'])
      expect(entry['simpkvJsonValue']).to eq([document(1)])
      if layout == 'plain'
        expect(entry['simpkvKey']).to eq(['key1'])
        expect(folder['objectClass'] - ['top']).to eq(['organizationalUnit'])
      else
        expect(entry.values_at('simpkvId', 'simpkvHexId')).to eq([['key1'], ['6b657931']])
        expect(folder['objectClass'] - ['top']).to eq(['simpkvFolder'])
        expect(folder['simpkvId']).to eq(['app1'])
      end
    end

    # @return [Integer] the requests that the server logs while the block runs
    def requests
      before = directory.log.length
      yield
      directory.log[before..].scan(/ (?:SRCH|ADD|MOD|DEL) (?:base|dn)/).length
    end

    # On 389-DS a put searches for the DN of the key, and quotes it in a filter (docs/adr/0054).
    it 'with an equal value take one request of a put, whatever their names' do
      ['k', 'a(b)*', 'back\\slash', 'a, b+c"d;e=f<g>', '#1', "gr\u00fc\u00df", 'e ' * 50].each do |name|
        key = "globals/#{name.strip}"
        store.put(key, '{"value":1}')
        expect([name, requests { expect(store.put(key, '{"value":1}')).to be(false) }]).to eq([name, 1])
      end
    end

    it 'are described by the times and identities of their entries, and so are folders' do
      before = Time.now.utc - 1
      store.put('globals/facts/key', document('hush'))
      user = DirectoryServer::USER_DN.delete(' ')
      facts = store.stat('globals/facts/key', document: true)
      expect(facts).to include('kind' => 'key', 'size' => document('hush').bytesize, 'encrypted' => false)
      expect(store.stat('globals/facts', count: true)).to include('kind' => 'folder', 'keys' => 1, 'folders' => 0)
      [facts, store.stat('globals/facts'), store.stat('globals')].each do |each|
        expect(each.values_at('created_by', 'modified_by').map { |dn| dn.delete(' ') }).to all(eq(user))
        expect(each.values_at('created_at', 'modified_at').map { |time| Time.iso8601(time) })
          .to all(be_between(before.floor, Time.now + 1))
      end
      expect { store.stat('globals/facts/none') }.to raise_error(Simpkv::NotFoundError, %r{'globals/facts/none'})
    end

    # Both hung forever.
    it 'appear in a list of 1,201 keys, and a document of 1.4 MB is read' do
      1201.times { |n| store.put("globals/hosts/h#{n}", document('n' => n)) }
      found = store.list('globals/hosts')
      expect(found[:keys].keys).to match_array((0...1201).map { |n| "h#{n}" })
      expect(value(found[:keys]['h1200'])).to eq('n' => 1200)
      [70_000, 1_400_000].each do |size|
        store.put('globals/big', document('x' * size))
        expect(value(store.get('globals/big')).length).to eq(size)
      end
    end

    # 389-DS takes 2 MiB at once by default: the old document must not be sent along with the new one.
    it 'hold a binary value of 1 MB, which is put, changed and read' do
      first, second = Array.new(2) { |n| Random.new(n).bytes(1 << 20) }
      [first, second].each do |bytes|
        expect(document(bytes).length).to be > 1_390_000
        expect([store.put('globals/binary', document(bytes)), store.put('globals/binary', document(bytes))])
          .to eq([true, false])
        expect(value(store.get('globals/binary')) == bytes).to be(true)
        expect(value(store.list('globals')[:keys]['binary']) == bytes).to be(true)
      end
    end

    it 'are refused if a request is larger than the limit of the server, with a message that names its setting' do
      size, setting = { Slapd => [17_000_000, 'SockbufMaxIncomingAuth'], Ds389 => [2_200_000, 'nsslapd-maxbersize'] }
                      .fetch(server)
      store.put('globals/big', document(1))
      expect { store.put('globals/big', document('x' * size)) }.to raise_error(Simpkv::TooLargeError) { |error|
        expect(error.message).to include(directory.uri, setting)
      }
      expect(store.get('globals/big')).to eq(document(1))
    end

    # The error had the stored entry.
    it 'do not appear in errors, nor do values that cannot be stored' do
      ["\xff hush-hush", ''].each do |impossible|
        expect { store.put('globals/k', impossible) }.to raise_error(Simpkv::Error) { |error|
          expect(error.message).not_to include('hush')
        }
      end
      expect(store.kind('globals/k')).to be_nil
    end

    # The command in the name ran.
    it 'have hostile names, which are not interpreted' do
      marker = File.join(directory.folder, 'ran')
      hostile = ["z$(touch #{marker})", "`touch #{marker}`;x".tr('/', '_'), 'a,ou=globals', '*)(objectClass=*', 'a+b=c',
                 '"q"\\5c', '#1', ' edge '].map { |name| name.tr('/', '_') }
      hostile.each do |name|
        other = open_store('id' => "#{id} #{name}".strip, 'fold_case' => true)
        other.put("globals/#{name}/#{name}", document(name))
        expect(value(other.get("globals/#{name}/#{name}"))).to eq(name)
        expect(other.kind('globals/objectClass')).to be_nil
      end
      expect(File.exist?(marker)).to be(false)
    end

    # exists answered false, so that a password would be generated anew.
    it 'are the same however the base DN is spelled' do
      store.put('globals/a/k', document(1))
      ['OU=simpkv, O=puppet , dc=simp', 'ou=SIMPKV,o=Puppet,dc=simp'].each do |spelled|
        other = open_store('base_dn' => spelled)
        expect(other.kind('globals/a/k')).to eq(:key)
        expect(other.list('globals/a')[:keys].keys).to eq(['k'])
        expect(other.list('globals')[:folders]).to eq(['a'])
        expect(other.put('globals/a/k', document(1))).to be(false)
      end
    end

    # put failed with error 32, from a cache of folders.
    it 'are stored with their folders, also if another client has just removed these' do
      3.times do |round|
        store.put('environments/dev/a/b/k', document(round))
        directory.delete_tree(dn(round.zero? ? 'environments/dev/a/b' : 'environments/dev', :folder))
        expect(store.kind('environments/dev/a/b/k')).to be_nil
      end
      store.put('environments/dev/a/b/k', document(1))
      directory.delete_tree(id_dn)
      store.put('environments/dev/a/b/k', document(1))
      expect(value(store.get('environments/dev/a/b/k'))).to eq(1)
    end

    def id_dn
      dn('globals', :folder).sub(/\Aou=globals,/, '')
    end

    # The key vanished from lists.
    it 'may hold text that looks like an entry' do
      text = "\ndn: x\nobjectClass: organizationalUnit\nsimpkvJsonValue: {}\n\n"
      store.put('globals/ldif/k', document(text))
      found = store.list('globals/ldif')
      expect([value(found[:keys]['k']), found[:folders]]).to eq([text, []])
    end

    # dev and Dev shared their keys.
    it 'refuse an environment with capital letters, unless fold_case is set' do
      store.put('environments/dev/k', document(1))
      %i[get kind delete deletetree list].each do |call|
        expect { store.public_send(call, 'environments/Dev/k') }.to raise_error(Simpkv::InvalidError, /Dev.*fold_case/)
      end
      expect { store.put('environments/Dev/k', document(2)) }.to raise_error(Simpkv::InvalidError, /Dev.*fold_case/)
      expect(open_store('fold_case' => true).get('environments/Dev/k')).to eq(document(1))
    end

    if layout == 'plain'
      it 'refuse an id with capital letters, unless fold_case is set' do
        expect { open_store('id' => 'Site').kind('globals/k') }.to raise_error(Simpkv::InvalidError, /Site.*fold_case/)
        expect(open_store('id' => 'Site', 'fold_case' => true).kind('globals/k')).to be_nil
      end
    else
      it 'differ by case' do
        store.put('globals/Key', document('upper'))
        store.put('globals/key', document('lower'))
        store.put('globals/F/k', document(1))
        expect([store.get('globals/Key'), store.get('globals/key')]).to eq([document('upper'), document('lower')])
        expect(store.list('globals')[:keys].keys).to contain_exactly('Key', 'key')
        expect(store.kind('globals/f')).to be_nil
        expect(open_store('id' => id.upcase).kind('globals/key')).to be_nil
      end
    end

    it 'are not written by a put of an equal value: no modification, no new modifyTimestamp or entryCSN' do
      store.put('globals/k', '{"value":{"a":1.0},"metadata":{}}')
      changes = -> { directory.log.scan(' MOD dn=').length }
      state = -> { [changes.call, directory.entry(dn('globals/k'), 'modifyTimestamp', 'entryCSN', 'simpkvJsonValue')] }
      before = state.call
      expect(store.put('globals/k', '{"value":{"a":1.0},"metadata":{}}')).to be(false)
      expect(store.put('globals/k', '{ "value": {"a": 1.00} }')).to be(false)
      expect(state.call).to eq(before)
      expect(store.put('globals/k', '{"value":{"a":1},"metadata":{}}')).to be(true)
      expect(changes.call).to eq(before.first + 1)
    end

    it 'are written under conditions' do
      expect(store.put('globals/c', document(1), condition: :absent)).to be(true)
      expect { store.put('globals/c', document(2), condition: :absent) }.to raise_error(Simpkv::ExistsError)
      expect { store.put('globals/c', document(2), condition: :expect, expect: document(9)) }
        .to raise_error(Simpkv::ConflictError)
      expect(store.put('globals/c', document(2), condition: :expect, expect: document(1))).to be(true)
      expect { store.put('globals/d', document(2), condition: :expect, expect: document(1)) }
        .to raise_error(Simpkv::ConflictError)
      expect(store.get('globals/c')).to eq(document(2))
    end

    # 389-DS may replace one value twice (docs/adr/0013): only increments that it loses itself are missing.
    it 'count every increment of many threads' do
      directory.audit if server == Ds389
      store.put('globals/count', document(0))
      step = lambda do
        stored = store.get('globals/count')
        store.put('globals/count', document(value(stored) + 1), condition: :expect, expect: stored)
      rescue Simpkv::ConflictError
        retry
      end
      Array.new(6) { Thread.new { 10.times { step.call } } }.each(&:join)
      twice = server == Ds389 ? directory.replaced_twice.fetch(dn('globals/count'), 0) : 0
      expect(value(store.get('globals/count')) + twice).to eq(60)
    end

    it 'are stored by many threads, each with folders of its own, over at most pool_size connections' do
      before = directory.accepted
      errors = Array.new(16) do |n|
        Thread.new do
          other = open_store('pool_size' => 4, 'admin_dn' => DirectoryServer::USER_DN.sub('cn', 'CN'))
          20.times { |k| other.put("environments/dev/shared/t#{k}/k#{n}", document(n)) }
          nil
        rescue StandardError => e
          e
        end
      end.map(&:value).compact
      expect(errors).to eq([])
      expect((0...20).map { |k| store.list("environments/dev/shared/t#{k}")[:keys].length }).to all(eq(16))
      expect(directory.accepted - before).to be <= 5
    end

    # In the hex layout the two would be one entry.
    it 'do not share names with folders in the hex layout, nor if strict_paths is set' do
      strict = open_store('strict_paths' => layout == 'plain')
      strict.put('globals/n/below', document(1))
      expect { strict.put('globals/n', document(1)) }.to raise_error(Simpkv::IsFolderError)
      strict.put('globals/m', document(1))
      expect { strict.put('globals/m/below', document(2)) }.to raise_error(Simpkv::IsKeyError)
    end

    it 'are listed by their names, with the documents of some' do
      %w[a b sub/x].each { |name| store.put("environments/dev/some/#{name}", document(name)) }
      found = store.list('environments/dev/some', chosen: ->(names) { names[:keys].keys.max(1) })
      expect(found).to eq(keys: { 'a' => '', 'b' => document('b') }, folders: ['sub'], errors: {})
    end

    it 'are deleted with their folder, at any number and depth' do
      300.times { |n| store.put("environments/dev/t/#{n % 7}/#{n % 11}/k#{n}", document(n)) }
      store.put('environments/dev/tt', document(1))
      expect(store.deletetree('environments/dev/t')).to be(true)
      expect(store.deletetree('environments/dev/t')).to be(false)
      expect(store.list('environments/dev')).to eq(keys: { 'tt' => document(1) }, folders: [], errors: {})
    end

    it 'appear in a list under their names, also if another program has written them' do
      store.put('globals/odd/plain', document(1))
      name = layout == 'plain' ? 'simpkvKey=Über Name' : "simpkvHexId=#{'Über Name'.unpack1('H*')}"
      more = layout == 'plain' ? '' : 'simpkvId: x'
      directory.add("dn:: #{["#{name},#{dn('globals/odd', :folder)}"].pack('m0')}\nobjectClass: simpkvEntry\n" \
                    "simpkvJsonValue: {\"value\":2}\n#{more}\n")
      expect(store.list('globals/odd')[:keys].keys).to contain_exactly('plain', 'Über Name')
    end
  end
end
