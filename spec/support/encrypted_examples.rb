# frozen_string_literal: true

require_relative 'key_file'

# The behaviour of an encrypted store over `below`, whose backend is `backend`.
RSpec.shared_examples 'an encrypted store' do
  include KeyFile

  let(:encrypted) { open_encrypted }

  def open_encrypted(**options, &canonical)
    Simpkv::EncryptedStore.new(below, keyring, backend, **options, &canonical)
  end

  def document(value, encoding = nil)
    Simpkv::Codec.encode(value, {}, encoding)
  end

  def kid(key)
    encrypted.state(below.get(key))
  end

  secret = 'pl4nted-in-a-store'

  it 'stores no value, and returns it as it was' do
    expect(encrypted.put('globals/k', document(secret))).to be(true)
    expect(encrypted.get('globals/k')).to eq(document(secret))
    expect(encrypted.get('globals/k', latest: true)).to eq(document(secret))
    expect(JSON.parse(below.get('globals/k'))).to match('value' => /\AeyJ[\w.-]+\z/, 'encoding' => 'jwe')
  end

  it 'writes nothing for an equal value, as the store below' do
    encrypted.put('globals/k', '{"value":1.0}')
    raw = below.get('globals/k')
    expect([encrypted.put('globals/k', '{"value":1.0}'), encrypted.put('globals/k', '{"value":1.00}')])
      .to eq([false, false])
    expect(below.get('globals/k')).to eq(raw)
    expect(encrypted.put('globals/k', '{"value":2}')).to be(true)
  end

  it 'stores a new key only, if it must be absent' do
    expect(encrypted.put('globals/k', document(1), condition: :absent, non_unique: true)).to be(true)
    expect { encrypted.put('globals/k', document(1), condition: :absent) }.to raise_error(Simpkv::ExistsError)
  end

  it 'stores in place of an expected plain document' do
    expect { encrypted.put('globals/k', document(2), condition: :expect, expect: document(1)) }
      .to raise_error(Simpkv::ConflictError, "Key write to 'globals/k' failed: there is no such key")
    encrypted.put('globals/k', document(1))
    expect { encrypted.put('globals/k', document(2), condition: :expect, expect: "#{document(1)} ") }
      .to raise_error(Simpkv::ConflictError, /failed: the stored document is not the expected one/)
    expect(encrypted.put('globals/k', document(1), condition: :expect, expect: document(1))).to be(false)
    expect(encrypted.put('globals/k', document(2), condition: :expect, expect: document(1))).to be(true)
    expect(encrypted.get('globals/k')).to eq(document(2))
  end

  it 'deletes a key, or one with an expected plain document' do
    encrypted.put('globals/k', document(1))
    expect(encrypted.delete('globals/k', expect: document(2))).to be(false)
    expect(encrypted.delete('globals/k', expect: document(1))).to be(true)
    expect(encrypted.delete('globals/k', expect: document(1))).to be(false)
    encrypted.put('globals/k', document(1))
    expect([encrypted.delete('globals/k'), encrypted.exist?('globals/k')]).to eq([true, false])
  end

  it 'puts many, and writes those that differ' do
    documents = { 'globals/a' => document(1), 'globals/b' => document(2), 'globals/c/d' => document(3) }
    expect(encrypted.put_many(documents)).to eq(documents.transform_values { true })
    raws = below.get_many(documents.keys)
    changed = documents.merge('globals/b' => document(9), 'globals/e' => document(4))
    expect(encrypted.put_many(changed))
      .to eq('globals/a' => false, 'globals/b' => true, 'globals/c/d' => false, 'globals/e' => true)
    expect(encrypted.get_many(changed.keys)).to eq(changed)
    expect(below.get_many(%w[globals/a globals/c/d])).to eq(raws.slice('globals/a', 'globals/c/d'))
  end

  it 'puts many with conditions, each with an outcome of its own' do
    encrypted.put_many({ 'globals/a' => document(1), 'globals/b' => document(2), 'globals/s' => document(5) })
    documents = %w[a b n m].to_h { |name| ["globals/#{name}", document(7)] }.merge('globals/s' => document(5))
    expect = { 'globals/a' => document(1), 'globals/b' => document(1), 'globals/n' => nil, 'globals/m' => document(1),
               'globals/s' => document(5) }
    outcomes = encrypted.put_many(documents, condition: :expect, expect: expect)
    expect(outcomes.transform_values { |outcome| outcome.is_a?(Simpkv::Error) ? outcome.class : outcome })
      .to eq('globals/a' => true, 'globals/b' => Simpkv::ConflictError, 'globals/n' => true,
             'globals/m' => Simpkv::ConflictError, 'globals/s' => false)
    absent = encrypted.put_many({ 'globals/a' => document(8), 'globals/z' => document(8) }, condition: :absent)
    expect([absent['globals/a'].class, absent['globals/z']]).to eq([Simpkv::ExistsError, true])
    expect { encrypted.put_many({ 'globals/a' => document(1) }, condition: :expect, expect: {}) }
      .to raise_error(ArgumentError, /expect lacks 'globals.a'/)
    expect { encrypted.put_many({ 'globals/a' => nil }) }.to raise_error(TypeError)
  end

  it 'lists plain documents, which a block may replace' do
    encrypted.put_many({ 'globals/f/a' => document(1), 'globals/f/b' => document('é'), 'globals/f/g/c' => document(3) })
    below.put('globals/f/plain', document(4))
    keys = { 'a' => document(1), 'b' => document('é'), 'plain' => document(4) }
    expect(encrypted.list('globals/f')).to eq(keys: keys, folders: ['g'], errors: {})
    expect(encrypted.list('globals/f')[:keys]['b'].encoding).to be(Encoding::UTF_8)
    expect(encrypted.list('globals/f') { |name, plain| [name, plain] }[:keys]).to eq(keys.to_h { |k, v| [k, [k, v]] })
    tree = encrypted.tree('globals')
    expect(tree[:keys]).to eq(keys.transform_keys { |name| "f/#{name}" }.merge('f/g/c' => document(3)))
    expect(encrypted.tree('globals') { |name, plain| plain + name }[:keys]['f/g/c']).to eq("#{document(3)}f/g/c")
    expect(encrypted.tree('globals', values: false)[:keys].keys).to match_array(tree[:keys].keys)
    expect(encrypted.list('globals/none', required: false)).to eq(keys: {}, folders: [], errors: {})
    expect { encrypted.list('globals/none') }.to raise_error(Simpkv::NotFoundError)
  end

  it 'refuses documents that were copied or damaged, and returns the others' do
    encrypted.put_many({ 'globals/f/a' => document(secret), 'globals/f/b' => document(2) })
    below.put('globals/f/b', below.get('globals/f/a'))
    below.put('globals/f/c', below.get('globals/f/a').sub('"jwe"', '"jwf"'))
    expect { encrypted.get('globals/f/b') }
      .to raise_error(Simpkv::MalformedError, %r{\Acannot decrypt 'globals/f/b': .* for 'globals/f/a' of the backend})
    many = encrypted.get_many(%w[globals/f/a globals/f/b globals/f/c globals/f/none])
    expect(many.values.map(&:class))
      .to eq([String, Simpkv::MalformedError, Simpkv::MalformedError, Simpkv::NotFoundError])
    listed = encrypted.list('globals/f')
    expect([listed[:keys], listed[:errors].keys]).to match([{ 'a' => document(secret) }, contain_exactly('b', 'c')])
    expect(encrypted.tree('globals')[:errors].keys).to contain_exactly('f/b', 'f/c')
    expect { encrypted.list('globals/f', partial: false) }.to raise_error(Simpkv::Error, /\AKey 'b': cannot decrypt/)
    messages = listed[:errors].values + many.values.grep(Simpkv::Error).map(&:full_message)
    expect(messages.join).not_to match(/#{secret}|eyJ/)
  end

  it 'replaces a document that cannot be decrypted, unless the put has a condition' do
    encrypted.put('globals/k', document(1))
    below.put('globals/k', below.get('globals/k').sub('"jwe"', '"jwf"'))
    expect { encrypted.put('globals/k', document(2), condition: :expect, expect: document(1)) }
      .to raise_error(Simpkv::MalformedError)
    expect([encrypted.put('globals/k', document(1)), encrypted.get('globals/k')]).to eq([true, document(1)])
  end

  # A compiler whose file of keys or whose options are older stored its own document in place.
  it 'does not replace a document of a key that it lacks, and says which (it replaced it)' do
    encrypted.put('globals/k', document(1))
    raw = below.get('globals/k')
    write_keys('b')
    [open_encrypted, open_encrypted(mode: :none)].each do |store|
      lacking = [Simpkv::DeniedError, %r{'globals/k': .*encrypted with the key 'a', which is not in #{key_file}}]
      expect { store.put('globals/k', document(2)) }.to raise_error(*lacking)
      outcomes = store.put_many({ 'globals/k' => document(2), 'globals/n' => document(3) })
      expect(outcomes.transform_values(&:class)).to match('globals/k' => lacking.first, 'globals/n' => be_truthy)
      expect(outcomes['globals/k'].message).to match(lacking.last)
    end
    expect(below.get('globals/k')).to eq(raw)
  end

  it 'is not replaced by plain documents of a store without keys (they were stored in the clear)' do
    encrypted.put('globals/k', document(1))
    raw = below.get('globals/k')
    damaged = raw.sub('"jwe"', '"jwf"')
    below.put('globals/damaged', damaged, keep_encrypted: false)
    refused = [Simpkv::DeniedError, /globals.k' failed: it is encrypted: set 'encryption_keys' of the backend/]
    expect { below.put('globals/k', document(2)) }
      .to raise_error(*refused) { |error| expect(error.fault).to be(:encryption_keys) }
    expect { below.put('globals/k', document(2), condition: :expect, expect: raw) }.to raise_error(*refused)
    outcomes = below.put_many(%w[k damaged new].to_h { |name| ["globals/#{name}", document(2)] })
    expect(outcomes.transform_values(&:class))
      .to eq('globals/k' => Simpkv::DeniedError, 'globals/damaged' => Simpkv::DeniedError, 'globals/new' => TrueClass)
    expect(outcomes['globals/k'].message).to match(refused.last)
    expect(below.get_many(%w[globals/k globals/damaged]).values).to eq([raw, damaged])
    expect([below.put('globals/k', damaged), below.put('globals/k', document(2), keep_encrypted: false)])
      .to eq([true, true])
  end

  it 'reads documents of all keys, and leaves unchanged ones under their key' do
    encrypted.put('globals/k', document(1))
    write_keys('b', 'a')
    expect([encrypted.get('globals/k'), encrypted.put('globals/k', document(1)), kid('globals/k')])
      .to eq([document(1), false, 'a'])
    expect([encrypted.put('globals/k', document(2)), kid('globals/k')]).to eq([true, 'b'])
    write_keys('c')
    expect { encrypted.get('globals/k') }
      .to raise_error(Simpkv::DeniedError, /the key 'b', which is not in #{key_file}/)
  end

  it 'renews documents of old keys and plain ones, and makes them plain again' do
    encrypted.put('globals/old', document(1))
    below.put('globals/plain', document(2))
    write_keys('b', 'a')
    encrypted.put('globals/new', document(3))
    keys = %w[globals/old globals/plain globals/new globals/none]
    expect(keys.map { |key| encrypted.renew(key) }).to eq(%i[renewed renewed unchanged missing])
    expect(keys.first(3).map { |key| [kid(key), encrypted.get(key)] })
      .to eq([['b', document(1)], ['b', document(2)], ['b', document(3)]])
    expect(keys.map { |key| encrypted.renew(key, decrypt: true) }).to eq(%i[renewed renewed renewed missing])
    expect(below.get_many(keys.first(3)).values).to eq([document(1), document(2), document(3)])
    expect(encrypted.renew('globals/old', decrypt: true)).to be(:unchanged)
    expect(keys.first(3).map { |key| kid(key) }).to eq(%i[plain plain plain])
  end

  it 'does not lose the document of another writer when it renews' do
    below.put('globals/k', document(0))
    writer = Thread.new { (1..50).each { |number| encrypted.put('globals/k', document(number)) } }
    100.times { |round| encrypted.renew('globals/k', decrypt: round.odd?) }
    writer.join
    expect(encrypted.get('globals/k')).to eq(document(50))
  end

  it 'reads plain documents, unless it may only read encrypted ones' do
    below.put('globals/f/plain', document(1))
    encrypted.put('globals/f/k', document(2))
    expect(encrypted.get('globals/f/plain')).to eq(document(1))
    only = open_encrypted(encrypted_only: true)
    expect { only.get('globals/f/plain') }
      .to raise_error(Simpkv::MalformedError, %r{'globals/f/plain' is not encrypted, which 'encrypted_only' requires})
    listed = only.list('globals/f')
    expect(listed[:keys]).to eq('k' => document(2))
    expect(listed[:errors]).to match('plain' => /is not encrypted, which 'encrypted_only' requires.* 'simpkv rekey'/)
    expect([only.put('globals/f/plain', document(1)), only.get('globals/f/plain')]).to eq([true, document(1)])
  end

  it 'encrypts only documents with a Sensitive on request' do
    some = open_encrypted(mode: :sensitive)
    rich = document({ '__ptype' => 'Sensitive', '__pvalue' => secret }, 'pcore')
    some.put_many({ 'globals/rich' => rich, 'globals/plain' => document('x') })
    some.put('globals/rich2', rich)
    expect(%w[globals/rich globals/rich2 globals/plain].map { |key| kid(key) }).to eq(['a', 'a', :plain])
    expect(some.get_many(%w[globals/rich globals/plain]).values).to eq([rich, document('x')])
    expect([some.put('globals/plain', document('x')), some.put('globals/rich', rich)]).to eq([false, false])
    some.put('globals/rich', document('now public'))
    below.put('globals/rich2', rich, keep_encrypted: false)
    expect(%w[globals/rich2 globals/plain].map { |key| some.renew(key) }).to eq(%i[renewed unchanged])
    expect([kid('globals/rich'), kid('globals/rich2')]).to eq([:plain, 'a'])
  end

  it 'finds each form in which a document may hold a Sensitive' do
    [[{ '__ptype' => 'Sensitive', '__pvalue' => 1 }], { 'a' => { '__pvalue' => 1, '__ptype' => 'Sensitive' } }]
      .each { |value| expect(Simpkv::EncryptedStore).to be_sensitive(document(value, 'pcore')) }
    expect(Simpkv::EncryptedStore).to be_sensitive(%({"value":{"__ptype" :\n"Sensitive"}}))
    expect(Simpkv::EncryptedStore).to be_sensitive('{"value":{"__\u0070type":"\u0053ensitive"}}'.b)
    expect(Simpkv::EncryptedStore).not_to be_sensitive(document('Sensitive'))
    expect(Simpkv::EncryptedStore).not_to be_sensitive("\xFF".b)
  end

  it 'fails as long as the file of keys cannot be used, even for plain documents of a list' do
    encrypted.put('globals/f/k', document(1))
    write_keys('a', mode: 0o666)
    [-> { encrypted.get('globals/f/k') }, -> { encrypted.put('globals/f/k', document(1)) },
     -> { encrypted.put_many({ 'globals/f/k' => document(1) }) }, -> { encrypted.get_many(['globals/f/k']) },
     -> { encrypted.list('globals/f') }, -> { encrypted.tree('globals') }, -> { encrypted.renew('globals/f/k') }]
      .each { |call| expect(&call).to raise_error(Simpkv::DeniedError, /has the mode 0666/) }
    expect([encrypted.exist?('globals/f/k'), encrypted.kind('globals/f')]).to eq([true, :folder])
  end

  # Runs the block before each first write of the store below.
  def before_writing(below, &block)
    %i[put put_many delete].each do |operation|
      below.define_singleton_method(operation) do |*arguments, **more|
        singleton_class.send(:remove_method, operation)
        block.call
        public_send(operation, *arguments, **more)
      end
    end
  end

  it 'replaces and deletes an expected document that is encrypted again meanwhile (it reported a conflict)' do
    encrypted.put('globals/k', document(0))
    expecting = { condition: :expect, expect: { 'globals/k' => document(1) } }
    [->(store) { store.put('globals/k', document(2), condition: :expect, expect: document(1)) },
     ->(store) { store.put_many({ 'globals/k' => document(2) }, **expecting) },
     ->(store) { store.delete('globals/k', expect: document(1)) }].each_with_index do |write, index|
      encrypted.delete('globals/k')
      write_keys("k#{index}")
      encrypted.put('globals/k', document(1))
      write_keys("k#{index}n", "k#{index}")
      other = Simpkv::EncryptedStore.new(below.dup, keyring, backend)
      before_writing(below) { other.renew('globals/k') }
      expect([true, { 'globals/k' => true }]).to include(write.call(encrypted))
      below.singleton_methods(false).each { |name| below.singleton_class.send(:remove_method, name) }
    end
    expect(encrypted.exist?('globals/k')).to be(false)
  end

  it 'is bound to its backend' do
    encrypted.put('globals/k', document(1))
    other = Simpkv::EncryptedStore.new(below, keyring, 'file/other')
    expect { other.get('globals/k') }
      .to raise_error(Simpkv::MalformedError, %r{of the backend '#{backend}'.*file/other})
  end

  it 'shows its place and no key' do
    expect(encrypted.inspect).to start_with("#<Simpkv::EncryptedStore #{backend} #<Simpkv::Store ")
    expect(encrypted.inspect).not_to include(jwk('a')['k'])
  end
end
