# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/faulty_proxy'
require_relative '../support/ldap_store'

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Conditional deletions and new folders in a directory, #{server} #{layout}", **tags do
    include Eventually

    include_context 'with a directory', server, layout: layout
    include_context 'with proxies'

    # Adds an entry with a document to a folder that exists, under a name that no key can have.
    def add_foreign(folder, name, document)
      rdn = directory.layout == 'plain' ? "simpkvKey=#{name}" : "simpkvHexId=#{name.unpack1('H*')}"
      id = directory.layout == 'plain' ? '' : "simpkvId:: #{[name].pack('m0')}\n"
      directory.add("dn:: #{["#{rdn},#{dn(folder, :folder)}"].pack('m0')}\nobjectClass: simpkvEntry\n" \
                    "simpkvJsonValue: #{document}\n#{id}")
    end

    describe 'delete with an expected document' do
      it 'deletes only a key that has that document' do
        store.put('globals/k', '{"value":1}')
        expect(store.delete('globals/k', expect: '{"value":2}')).to be(false)
        expect(store.delete('globals/k', expect: '{"value": 1}')).to be(false)
        expect(store.get('globals/k')).to eq('{"value":1}')
        expect(store.delete('globals/k', expect: '{"value":1}')).to be(true)
        expect(store.delete('globals/k', expect: '{"value":1}')).to be(false)
        expect(store.kind('globals')).to eq(:folder)
      end

      it 'counts each byte, also where the server compares less' do
        store.put('globals/spaces', '{"value":"a  b"}')
        expect(store.delete('globals/spaces', expect: '{"value":"a b"}')).to be(false)
        expect(store.delete('globals/spaces', expect: '{"value":"A  b"}')).to be(false)
        expect(store.delete('globals/spaces', expect: '{"value":"a  b"}')).to be(true)
      end

      it 'deletes a name that no key can have' do
        store.create_folder('globals/foreign')
        add_foreign('globals/foreign', 'Foo Bär', 'no JSON')
        path = "globals/foreign/#{store.list('globals/foreign')[:keys].keys.first}"
        expect(store.delete(path, expect: 'other')).to be(false)
        expect(store.delete(path, expect: 'no JSON')).to be(true)
        expect(store.list('globals/foreign')[:keys]).to eq({})
      end

      it 'refuses a folder' do
        store.create_folder('globals/folder')
        expect { store.delete('globals/folder', expect: 'x') }.to raise_error(Simpkv::IsFolderError)
      end

      it 'lets one of several deleters succeed, for each of 20 keys' do
        others = Array.new(3) { open_apart }
        20.times { |n| store.put("globals/race/k#{n}", "{\"value\":#{n}}") }
        deleted = others.map do |other|
          Thread.new { Array.new(20) { |n| other.delete("globals/race/k#{n}", expect: "{\"value\":#{n}}") } }
        end
        expect(deleted.map(&:value).transpose.map { |each| each.count(true) }).to all(eq(1))
        expect(store.list('globals/race')[:keys]).to eq({})
      end

      it 'never deletes the document of a writer that was faster' do
        other = open_apart
        writer = Thread.new { (1..200).each { |n| other.put('globals/contested', "{\"value\":#{n}}") } }
        deleted = 0
        while writer.alive?
          document = store.get('globals/contested', required: false)
          deleted += 1 if document && document != '{"value":200}' && store.delete('globals/contested', expect: document)
        end
        writer.join
        expect(deleted).to be > 0
        expect(store.get('globals/contested')).to eq('{"value":200}')
      end
    end

    # The proxy holds the last byte of the deletion while another client writes. On a busy machine, the write may come
    # too late. On 389-DS a read follows the deletion (docs/adr/0054).
    it 'keeps what another client puts between the read and the deletion', :once do
      proxy = new_proxy
      far = open_behind(proxy).tap { |behind| behind.exist?('globals') }
      store.put('globals/k', '{"value":1}')
      bytes = -(server == Ds389 ? proxy.traffic { far.get('globals/k') }[:up] : 0)
      bytes += proxy.traffic { far.delete('globals/k', expect: '{"value":1}') }[:up]
      refused = (1..50).find do
        store.put('globals/k', '{"value":1}')
        proxy.arm(:delay, :up, bytes - 1)
        writer = Thread.new { eventually { !proxy.armed? } && store.put('globals/k', '{"value":2}') }
        result = far.delete('globals/k', expect: '{"value":1}')
        writer.join
        expect(store.get('globals/k')).to eq('{"value":2}')
        !result
      end
      expect(refused).not_to be_nil
    end

    describe 'create_folder' do
      it 'makes the folder and those above it, and returns whether it was missing' do
        expect(store.create_folder('environments/new/a/b')).to be(true)
        expect(store.create_folder('environments/new/a/b')).to be(false)
        expect(store.create_folder('environments/new/a')).to be(false)
        expect(store.list('environments/new/a/b')).to eq(keys: {}, folders: [], errors: {})
        store.put('environments/new/a/b/k', '{"value":1}')
        expect(store.list('environments/new/a/b')[:keys]).to eq('k' => '{"value":1}')
        expect(store.deletetree('environments/new')).to be(true)
        expect(store.kind('environments/new')).to be_nil
      end

      it 'makes an environment, and the folder of the global keys exists always' do
        expect(store.create_folder('globals')).to be(false)
        expect(store.create_folder('environments')).to be(false)
        expect(store.create_folder('')).to be(false)
        expect(store.create_folder('environments/dev')).to be(true)
        expect(store.list('environments')[:folders]).to eq(['dev'])
      end

      it 'keeps a folder that has become empty' do
        store.create_folder('globals/empty')
        store.put('globals/empty/k', '{"value":1}')
        store.delete('globals/empty/k')
        expect(store.kind('globals/empty')).to eq(:folder)
      end

      it 'makes one entry, which is the same as that of a put' do
        described = ->(path) { store.directory.read_entry(dn(path, :folder), %w[objectClass]) }
        store.create_folder('globals/made')
        store.put('globals/put/k', '{"value":1}')
        expect(described['globals/made'].values.map(&:sort)).to eq(described['globals/put'].values.map(&:sort))
      end

      it 'refuses the name of a key, and a key on the way, as a put does' do
        strict = open_store('strict_paths' => layout == 'plain')
        strict.put('globals/key', '{"value":1}')
        expect { strict.create_folder('globals/key') }.to raise_error(Simpkv::IsKeyError, /a key/)
        expect { strict.create_folder('globals/key/below') }.to raise_error(Simpkv::IsKeyError, /a key/)
        expect { strict.create_folder('globals/key/far/below') }.to raise_error(Simpkv::IsKeyError, /a key/)
      end

      if layout == 'plain'
        it 'makes a folder beside the key of that name' do
          store.put('globals/twin', '{"value":1}')
          expect(store.create_folder('globals/twin')).to be(true)
          expect(store.create_folder('globals/twin')).to be(false)
          expect(store.get('globals/twin')).to eq('{"value":1}')
        end
      end

      it 'lets one of several clients make each of 20 folders' do
        others = Array.new(3) { open_apart }
        made = others.map do |other|
          Thread.new { Array.new(20) { |n| other.create_folder("globals/made/f#{n}/g") } }
        end
        expect(made.map(&:value).transpose.map { |each| each.count(true) }).to all(eq(1))
      end

      it 'refuses an environment that the layout cannot tell from another one' do
        expect { store.create_folder('environments/Dev') }.to raise_error(Simpkv::InvalidError, /capital letters/)
      end
    end

    describe 'delete_folder' do
      it 'deletes an empty folder, and returns whether it existed' do
        store.create_folder('environments/new/a')
        expect([store.delete_folder('environments/new/a'), store.delete_folder('environments/new/a')])
          .to eq([true, false])
        expect([store.delete_folder('environments/new'), store.delete_folder('globals/no/such')]).to eq([true, false])
        expect(store.kind('environments/new')).to be_nil
      end

      it 'refuses a folder with a key or a folder in it, and names one of them' do
        store.put('globals/a/b/k', '{"value":1}')
        expect { store.delete_folder('globals/a/b') }
          .to raise_error(Simpkv::ConflictError, /it is not empty, the key 'k' is in it: delete its contents first/)
        expect { store.delete_folder('globals/a') }.to raise_error(Simpkv::ConflictError, /the folder 'b' is in it/)
        expect(store.get('globals/a/b/k')).to eq('{"value":1}')
      end

      it 'names the entry of another program by its DN' do
        store.create_folder('globals/other')
        entry = "cn=other,#{dn('globals/other', :folder)}"
        directory.add("dn: #{entry}\nobjectClass: applicationProcess\ncn: other\n")
        expect { store.delete_folder('globals/other') }
          .to raise_error(Simpkv::ConflictError, /the entry '#{Regexp.escape(entry)}' is in it/i)
        expect(store.deletetree('globals/other')).to be(true)
      end

      it 'refuses a key, and the folders that every store has' do
        store.put('globals/k', '{"value":1}')
        expect { store.delete_folder('globals/k') }.to raise_error(Simpkv::IsKeyError, /it is a key, not a folder/)
        expect { store.delete_folder('globals') }.to raise_error(Simpkv::InvalidError, /every store has it/)
      end

      it 'loses no key of another client' do
        other = open_apart
        writer = Thread.new do
          Array.new(50) do |n|
            other.put("globals/f/k#{n}", '{"value":1}')
            [other.get("globals/f/k#{n}"), other.delete("globals/f/k#{n}")]
          end
        end
        while writer.alive?
          begin
            store.delete_folder('globals/f')
          rescue Simpkv::ConflictError
            nil
          end
        end
        expect(writer.value).to all(eq(['{"value":1}', true]))
      end
    end
  end
end
