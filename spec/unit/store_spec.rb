# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/file_store'
require_relative '../support/processes'

RSpec.describe Simpkv::Store do
  include Eventually
  include FileStoreHelp
  include Processes

  describe '#list with a block' do
    before { (1..600).each { |number| store.put("globals/f/k#{number}", "d#{number}") } }

    it "replaces each document by the block's result" do
      found = store.list('globals/f') { |name, document| [name, document] }
      expect(found[:keys].length).to eq(600)
      expect(found[:keys].values).to match_array((1..600).map { |number| ["k#{number}", "d#{number}"] })
      expect(found[:keys].keys).to all(be_frozen)
    end

    it 'gives the block no folders' do
      store.put('globals/f/g/k', 'd')
      names = []
      expect(store.list('globals/f') { |name, _| names << name }[:folders]).to eq(['g'])
      expect(names).not_to include('g')
    end

    it 'ends with the block, by an exception, break or throw, and leaves nothing open' do
      open_files = -> { Dir.children('/proc/self/fd').length }
      store.list('globals/f')
      before = open_files.call
      20.times do
        expect { store.list('globals/f') { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
        expect(store.list('globals/f') { |name, _| break name }).to start_with('k')
        expect(catch(:found) { store.list('globals/f') { |name, _| throw :found, name } }).to start_with('k')
      end
      expect(open_files.call).to be <= before
      expect(store.list('globals/f')[:keys].length).to eq(600)
    end

    it 'lets the block use the store, and close it' do
      found = store.list('globals/f') { |name, _| store.get("globals/f/#{name}").to_sym }
      expect(found[:keys]['k7']).to eq(:d7)
      other = open_store(root)
      expect(other.list('globals/f') { other.close }[:keys].length).to eq(600)
      expect { other.list('globals/f') }.to raise_error(Simpkv::InvalidError, /closed/)
    end
  end

  describe '#tree' do
    before { %w[k a/k a/b/c/k].each { |path| store.put("globals/t/#{path}", "d #{path}") } }

    let(:folders) { %w[a a/b a/b/c] }
    let(:documents) { { 'k' => 'd k', 'a/k' => 'd a/k', 'a/b/c/k' => 'd a/b/c/k' } }

    def sorted(found)
      found.merge(folders: found[:folders].sort)
    end

    it 'has all keys and folders below a folder, by their paths from there on' do
      expect(sorted(store.tree('globals/t'))).to eq(keys: documents, folders: folders, errors: {})
      expect(sorted(store.tree('/globals//t/a/b/'))).to eq(keys: { 'c/k' => 'd a/b/c/k' }, folders: ['c'], errors: {})
      expect(store.tree('')[:folders]).to match_array(%w[environments globals globals/t] +
                                                      folders.map { |folder| "globals/t/#{folder}" })
      expect(store.tree('globals/t')[:keys].keys).to all(be_frozen)
    end

    it 'returns names alone without values, also of unreadable keys, and does not call the block' do
      expect(sorted(store.tree('globals/t', values: false) { raise 'called' }))
        .to eq(keys: documents.transform_values { '' }, folders: folders, errors: {})
      quick = open_store(root, 'lock_timeout_seconds' => 0.1)
      with_lock('globals/t/a/k') do
        expect(quick.tree('globals/t')[:errors].keys).to eq(['a/k'])
        expect(quick.tree('globals/t', values: false)[:errors]).to eq({})
      end
    end

    it "replaces each document by the block's result, and ends with the block" do
      expect(store.tree('globals/t') { |path, document| [path, document] }[:keys])
        .to eq(documents.to_h { |path, document| [path, [path, document]] })
      expect { store.tree('globals/t') { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
      expect(store.tree('globals/t') { |path, _| break path }).to be_a(String)
    end

    it 'does not follow links to folders, which could lead upwards' do
      File.symlink('..', path('globals/t/a/up'))
      File.symlink('t/a', path('globals/in'))
      expect(store.tree('globals')[:folders]).to match_array(%w[in t t/a t/a/b t/a/b/c t/a/up])
      expect(store.tree('globals/in')[:keys].keys).to match_array(%w[k b/c/k])
    end

    it 'raises an error for a missing folder' do
      %w[globals/none globals/t/k].each do |folder|
        expect { store.tree(folder) }.to raise_error(Simpkv::NotFoundError, /\AKey folder '.*' not found\z/)
      end
      expect(store.tree('environments')).to eq(keys: {}, folders: [], errors: {})
    end
  end

  describe '.open' do
    it 'makes the root and its two folders with mode 0770 under any umask' do
      before = File.umask(0o077)
      store
      File.umask(before)
      expect(['', 'globals', 'environments'].map { |name| mode(name) }).to eq(%w[0770 0770 0770])
    end

    it 'names an unknown option' do
      expect { open_store(root, 'rot_path' => '/') }.to raise_error(Simpkv::InvalidError, /unknown option 'rot_path'/)
    end

    it 'refuses an unknown type, a missing and a relative root' do
      expect { described_class.open('fil', 'root_path' => root) }.to raise_error(Simpkv::InvalidError, /type 'fil'/)
      expect { described_class.open('file', {}) }.to raise_error(Simpkv::InvalidError, /'root_path'/)
      expect { open_store('relative') }.to raise_error(Simpkv::InvalidError, /absolute/)
      expect { open_store("/tmp/a\0b") }.to raise_error(Simpkv::InvalidError, /NUL byte/)
    end

    it 'refuses a timeout that is not a number, 0 or more, and an option that is no String' do
      [-1, '5', Float::NAN, true].each do |timeout|
        expect { open_store(root, 'lock_timeout_seconds' => timeout) }.to raise_error(Simpkv::ConfigError, /lock_time/)
      end
      expect { open_store(:root) }.to raise_error(Simpkv::ConfigError, /'root_path'.*Symbol/)
    end

    it 'accepts a fraction of a second, and an infinite timeout' do
      [0, 0.5, Rational(1, 3), Float::INFINITY].each do |timeout|
        other = open_store(root, 'lock_timeout_seconds' => timeout)
        expect(other.kind('globals')).to eq(:folder)
        other.close
      end
    end

    it 'does not change its options' do
      options = { 'root_path' => root, 'lock_timeout_seconds' => 1 }.freeze
      described_class.open('file', options).close
      expect(options.keys).to eq(%w[root_path lock_timeout_seconds])
    end

    it 'reports a root that cannot be used' do
      expect { open_store(File::NULL) }
        .to raise_error(Simpkv::UnavailableError, "Cannot access root path '/dev/null': Not a directory: set " \
                                                  "'root_path' to a folder that uid #{Process.euid} can make or use")
      expect { open_store('/dev/null/kv') }
        .to raise_error(Simpkv::UnavailableError, %r{\AUnable to create configured root path '/dev/null/kv': })
    end

    it 'lists keys if root_path ends in a slash (the list was always empty)' do
      other = open_store("#{root}//")
      other.put('globals/k', 'd')
      expect(other.list('globals')).to eq(keys: { 'k' => 'd' }, folders: [], errors: {})
      other.close
    end

    it 'follows a link at the root itself' do
      store
      File.symlink('root', File.join(scratch, 'link'))
      other = open_store(File.join(scratch, 'link'))
      other.put('globals/k', 'd')
      other.close
      expect(store.get('globals/k')).to eq('d')
    end
  end

  describe '#inspect' do
    it 'shows type and location' do
      expect(store.inspect).to eq("#<Simpkv::Store file #{root}>")
    end
  end

  describe '#close' do
    it 'is idempotent, and later calls raise' do
      expect([store.close, store.close]).to eq([nil, nil])
      %w[get kind delete deletetree list tree].each do |name|
        expect { store.public_send(name, 'globals/k') }.to raise_error(Simpkv::InvalidError, 'the store is closed')
      end
      expect { store.put('globals/k', 'd') }.to raise_error(Simpkv::InvalidError, 'the store is closed')
    end

    it 'lets a running call of another thread end as usual' do
      store.put('globals/k', 'd')
      reading = with_lock('globals/k') do
        thread = Thread.new { store.get('globals/k') }
        # The descriptors of the lock's holder and of the call.
        eventually { descriptors_of('self', path('globals/k')) == 2 }
        store.close
        thread
      end
      expect(reading.value).to eq('d')
    end
  end

  describe '#put and #get' do
    it 'stores any bytes, and returns them tagged UTF-8' do
      ['{"value":1,"metadata":{}}', '', "\0\xff", 'é€😀'.encode('UTF-16LE'), 'x' * 1_000_000].each do |document|
        store.put('environments/dev/a/b', document)
        found = store.get('environments/dev/a/b')
        expect([found.b == document.b, found.encoding]).to eq([true, Encoding::UTF_8])
        expect(File.binread(path('environments/dev/a/b'))).to eq(document.b)
      end
    end

    it 'returns whether it wrote' do
      expect(store.put('globals/k', '{"value":1}')).to be(true)
      expect(store.put('globals/k', '{"value":1}')).to be(false)
      expect(store.put('globals/k', '{ "value": 1, "metadata": {} }')).to be(false)
      expect(store.put('globals/k', '{"value":1.0}')).to be(true)
    end

    it 'does not touch the file of an identical value (it was rewritten)' do
      store.put('globals/k', '{"value":1}')
      before = File.stat(path('globals/k'))
      store.put('globals/k', '{"value":1}')
      after = File.stat(path('globals/k'))
      expect([after.ino, after.mtime]).to eq([before.ino, before.mtime])
    end

    it 'accepts a key that is frozen, of a subclass or in another encoding, and refuses other objects' do
      store.put('globals/é', 'd')
      expect(store.get('globals/é'.b.freeze)).to eq('d')
      expect { store.get(:globals) }.to raise_error(TypeError)
      expect { store.put('globals/k', nil) }.to raise_error(TypeError)
    end

    it 'refuses keys that leave their folder, hold NUL or are too long' do
      ['..', '../x', 'a/..', 'a/./b', "a\0b"].each do |key|
        expect { store.put(key, 'd') }.to raise_error(Simpkv::InvalidError)
      end
      expect { store.put('a' * 256, 'd') }.to raise_error(Simpkv::TooLargeError)
      expect(names_in('..')).to eq(['root'])
    end

    it 'refuses the names of its temporary files' do
      expect { store.put('globals/.skv~1', 'd') }.to raise_error(Simpkv::InvalidError, /\.skv~/)
    end

    it 'writes only a new key with :absent' do
      expect(store.put('globals/k', 'one', condition: :absent)).to be(true)
      expect { store.put('globals/k', 'one', condition: :absent) }.to raise_error(Simpkv::ExistsError)
    end

    it 'writes only in place of the expected document with :expect' do
      expect { store.put('globals/k', 'two', condition: :expect, expect: 'one') }.to raise_error(Simpkv::ConflictError)
      store.put('globals/k', 'one')
      expect(store.put('globals/k', 'two', condition: :expect, expect: 'one')).to be(true)
      expect { store.put('globals/k', 'three', condition: :expect, expect: 'one') }
        .to raise_error(Simpkv::ConflictError, %r{\AKey write to '.*globals/k' failed: [a-z ]+\z})
      expect(store.get('globals/k')).to eq('two')
    end

    it 'refuses an unknown condition and a missing expectation' do
      expect { store.put('globals/k', 'd', condition: :maybe) }.to raise_error(ArgumentError, /:absent/)
      expect { store.put('globals/k', 'd', condition: :expect) }.to raise_error(Simpkv::InvalidError)
    end

    it 'reports a missing key' do
      expect { store.get('globals/k') }.to raise_error(Simpkv::NotFoundError, "Key not found: '#{path('globals/k')}'")
    end
  end

  describe 'a key where a folder is expected, or the reverse (the backends differed silently)' do
    before { store.put('globals/k', 'd') && store.put('globals/f/k', 'd') }

    it 'is an error of put, get and delete' do
      expect { store.put('globals/k/x', 'd') }.to raise_error(Simpkv::IsKeyError, %r{'globals/k' is a key})
      %w[get delete].each do |name|
        expect { store.public_send(name, 'globals/f') }.to raise_error(Simpkv::IsFolderError, /Key specifies a folder/)
      end
      expect { store.put('globals/f', 'd') }.to raise_error(Simpkv::IsFolderError)
    end

    it 'is an error of deletetree and list' do
      expect { store.deletetree('globals/k') }.to raise_error(Simpkv::IsKeyError, /\AFolder delete of '.*' failed: /)
      expect { store.list('globals/k') }.to raise_error(Simpkv::NotFoundError, /\AKey folder '.*' not found\z/)
    end

    it 'is distinguished by kind' do
      kinds = %w[globals/k globals/f globals/f/k globals/k/x globals/x /].map { |name| store.kind(name) }
      expect(kinds).to eq([:key, :folder, :key, nil, nil, :folder])
      expect(%w[globals/k globals/f globals/x].map { |name| store.exist?(name) }).to eq([true, true, false])
    end
  end

  describe '#delete' do
    it 'returns whether the key existed, and keeps the folder' do
      store.put('globals/f/k', 'd')
      expect([store.delete('globals/f/k'), store.delete('globals/f/k'), store.delete('no/such/k')])
        .to eq([true, false, false])
      expect(store.kind('globals/f')).to eq(:folder)
    end
  end

  describe '#deletetree' do
    it 'deletes a folder with everything below it, and returns whether it existed' do
      20.times { |i| store.put("environments/dev/f#{i % 3}/g/k#{i}", 'd') }
      expect([store.deletetree('environments/dev'), store.deletetree('environments/dev')]).to eq([true, false])
      expect(names_in('environments')).to eq([])
    end

    it 'empties the two folders of the root, but keeps them, and refuses the root' do
      store.put('globals/f/k', 'd')
      expect(store.deletetree('globals')).to be(true)
      expect(names_in('.').sort).to eq(%w[environments globals])
      expect(names_in('globals')).to eq([])
      expect { store.deletetree('/') }.to raise_error(Simpkv::InvalidError)
    end
  end

  describe '#list' do
    it 'returns keys with their documents, and folders' do
      store.put('globals/a', 'one')
      store.put('globals/b/c', 'two')
      expect(store.list('globals')).to eq(keys: { 'a' => 'one' }, folders: ['b'], errors: {})
      expect(store.list('/')[:folders].sort).to eq(%w[environments globals])
    end

    it 'shows names that start with a dot (.hid existed and was never listed)' do
      store.put('globals/.hid', 'd')
      store.put('globals/.f/k', 'd')
      expect(store.list('globals')).to eq(keys: { '.hid' => 'd' }, folders: ['.f'], errors: {})
    end

    it 'shows names that no key could have, except for temporary files' do
      store
      File.write(path('globals/A b~é'), 'd')
      File.write(path('globals/.skv~0123456789abcdef'), 'half')
      expect(store.list('globals')[:keys]).to eq('A b~é' => 'd')
    end

    it 'reads several pages' do
      store
      documents = (1..1201).to_h { |i| ["k#{i}", "document #{i}" * 50] }
      documents.each { |name, document| File.write(path("globals/#{name}"), document) }
      expect(store.list('globals')[:keys]).to eq(documents)
    end

    it 'reports why a key cannot be read, and lists the others' do
      store.put('globals/a', 'd')
      store.put('globals/b', 'd')
      quick = open_store(root, 'lock_timeout_seconds' => 0.05)
      list = with_lock('globals/a') { quick.list('globals') }
      quick.close
      expect(list[:keys]).to eq('b' => 'd')
      expect(list[:errors]).to match('a' => %r{\ATimed out waiting for lock of key file '.*globals/a'\z})
    end
  end
end
