# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Many keys at once', directories: Conformance::ON_JRUBY do
  let(:returning) { { 'errors' => 'return' } }

  describe 'get_many' do
    it 'returns each key, missing keys and the errors of unreadable keys if the option errors is return' do
      put('many/a', 1, { 'm' => 1 })
      put('many/b', 'two')
      store_raw('many/broken', 'no JSON')
      found = get_many(%w[many/a many/none many/broken many/b], returning)
      expect(found['keys']).to eq('many/a' => { 'value' => 1, 'metadata' => { 'm' => 1 } },
                                  'many/b' => { 'value' => 'two' })
      expect(found['absent']).to eq(['many/none'])
      expect(found['errors'].keys).to eq(['many/broken'])
    end

    # The result contained the error, and the caller could ignore it.
    it 'fails for an unreadable key and names it, or with softfail warns and returns undef' do
      put('many/a', 1)
      store_raw('many/broken', 'no JSON')
      why = failure { get('many/broken') }
      message = "simpkv Error for simpkv::get_many with keys='many/a', 'many/broken': 1 of 2 keys not read: " \
                "'many/broken': #{why}"
      expect { get_many(%w[many/a many/broken]) }.to raise_error(RuntimeError, message)
      expect(get_many(%w[many/a many/broken], { 'softfail' => true })).to be_nil
      expect(world.warnings).to eq([message])
    end

    it 'does not fail for missing keys' do
      expect(get_many(%w[many/none])).to eq('keys' => {}, 'absent' => ['many/none'], 'errors' => {})
    end

    it 'names ten keys that failed, and counts the others' do
      names = (1..12).map { |number| "many/k#{number}" }
      names.each { |name| store_raw(name, 'no JSON') }
      expect { get_many(names) }.to raise_error(RuntimeError) { |error|
        expect(error.message).to include("and 9 more: 12 of 12 keys not read: 'many/k1': ").and end_with('; and 2 more')
        expect(error.message.scan(%r{'many/k\d+': }).length).to eq(10)
      }
    end

    it 'returns keys by the names that were requested' do
      put('many/slashes', 1)
      expect(get_many(['/many//slashes/', 'many/slashes'])['keys'])
        .to eq('/many//slashes/' => { 'value' => 1 }, 'many/slashes' => { 'value' => 1 })
    end

    it 'returns no keys if none are requested' do
      expect(get_many([])).to eq('keys' => {}, 'absent' => [], 'errors' => {})
    end

    it 'refuses an invalid key and names it' do
      expect { get_many(['fine', '../x']) }.to raise_error(ArgumentError, %r{\.\./x})
    end
  end

  describe 'put_many' do
    it 'stores each key' do
      expect(put_many('put/a' => { 'value' => 1, 'metadata' => { 'm' => 1 } }, 'put/deep/b' => { 'value' => 'two' }))
        .to eq('stored' => %w[put/a put/deep/b], 'errors' => {})
      expect(get('put/a')).to eq('value' => 1, 'metadata' => { 'm' => 1 })
      expect(get('put/deep/b')).to eq('value' => 'two')
    end

    it 'replaces stored keys' do
      put('put/c', 'old')
      put_many('put/c' => { 'value' => 'new' })
      expect(get('put/c')).to eq('value' => 'new')
    end

    it 'accepts the result of get_many' do
      put_many('put/d' => { 'value' => 1 }, 'put/e' => { 'value' => { 'x' => nil }, 'metadata' => { 'm' => 1 } })
      found = get_many(%w[put/d put/e])['keys']
      deletetree('put')
      put_many(found)
      expect(get_many(%w[put/d put/e])['keys']).to eq(found)
    end

    # On a full disk, the result had one of two keys in `errors`, and the catalog was applied.
    it 'fails for a key that was not stored, names it, and stores the others' do
      entries = { '/' => { 'value' => 1 }, 'put/fine' => { 'value' => 2 } }
      message = "simpkv Error for simpkv::put_many with keys='/', 'put/fine': 1 of 2 keys not stored: '/': " \
                "#{failure { put('/', 1) }}"
      expect { put_many(entries) }.to raise_error(RuntimeError, message)
      expect(get('put/fine')).to eq('value' => 2)
      expect(put_many(entries, { 'softfail' => true })).to be_nil
      expect(world.warnings).to eq([message])
    end

    it "refuses another value of 'errors' before anything is stored" do
      expect { put_many({ 'put/i' => { 'value' => 1 } }, { 'errors' => 'ignore' }) }
        .to raise_error(ArgumentError, /'errors' in simpkv configuration must be a String, fail or return/)
      expect(exists('put/i')).to be(false)
    end

    it 'returns the error of each key that was not stored, and stores the others, if the option errors is return' do
      put('put/key', 1)
      next if trait?(:shares_names)

      found = put_many({ 'put/key/below' => { 'value' => 2 }, 'put/fine' => { 'value' => 3 } }, returning)
      expect(found['stored']).to eq(['put/fine'])
      expect(found['errors'].keys).to eq(['put/key/below'])
      expect(get('put/fine')).to eq('value' => 3)
    end

    it 'stores nothing if a value is of a type that cannot be stored' do
      expect { put_many('put/f' => { 'value' => 1 }, 'put/g' => { 'value' => [Float::NAN] }) }
        .to raise_error(RuntimeError, %r{keys='put/f', 'put/g': .*Key 'put/g': cannot encode value\[0\]: NaN})
      expect(exists('put/f')).to be(false)
    end

    it 'stores nothing if a key is given twice, in two spellings' do
      expect { put_many('put/h' => { 'value' => 1 }, '/put//h' => { 'value' => 2 }) }
        .to raise_error(RuntimeError, %r{'put/h' and '/put//h' are the same key: give it once})
      expect(exists('put/h')).to be(false)
    end

    it 'creates missing folders at any depth' do
      entries = (1..60).to_h { |number| ["put/f#{number % 20}/g/h#{number % 3}/k#{number}", { 'value' => number }] }
      entries['put/f1/k'] = entries['put/k'] = { 'value' => 0 }
      expect(put_many(entries)).to eq('stored' => entries.keys, 'errors' => {})
      expect(tree('put')['keys']).to eq(entries.transform_keys { |key| key.delete_prefix('put/') })
      expect(tree('put/f1')['folders']).to eq(%w[g g/h0 g/h1 g/h2])
    end

    it 'stores more keys than fit into one batch' do
      entries = (1..1200).to_h { |number| ["put/many/k#{number}", { 'value' => number }] }
      expect(put_many(entries)['stored'].length).to eq(1200)
      expect(get_many(entries.keys)['keys']).to eq(entries)
    end
  end

  it 'returns the same error for each key as a single get' do
    put('words/key', 1)
    store_raw('words/broken', 'no JSON')
    found = get_many(%w[/ words words/broken words/key], returning)
    expect(found['keys'].keys).to eq(['words/key'])
    expect(found['errors']).to eq(%w[/ words words/broken].to_h { |key| [key, failure { get(key) }] })
  end

  it 'returns the same error for each key that was not stored as a single put' do
    expect(put_many({ '/' => { 'value' => 1 }, 'words/fine' => { 'value' => 2 } }, returning))
      .to eq('stored' => ['words/fine'], 'errors' => { '/' => failure { put('/', 1) } })
  end

  # Returns the message of the error without the name of the function, or nil if there is no error.
  def failure
    yield
    nil
  rescue RuntimeError => e
    e.message.sub(/\A.*? with key='[^']*': /, '')
  end

  describe 'tree' do
    before do
      put('tree/a', 1, { 'm' => 1 })
      put('tree/b/c', 2)
      put('tree/b/d/e', 'three')
    end

    it 'returns all keys below a folder, by their paths' do
      expect(tree('tree')).to eq(
        'keys' => { 'a' => { 'value' => 1, 'metadata' => { 'm' => 1 } }, 'b/c' => { 'value' => 2 },
                    'b/d/e' => { 'value' => 'three' } },
        'folders' => %w[b b/d]
      )
    end

    it 'returns names only if the option values is false' do
      store_raw('tree/broken', 'no JSON')
      expect(tree('tree', { 'values' => false })['keys'])
        .to eq('a' => {}, 'b/c' => {}, 'b/d/e' => {}, 'broken' => {})
    end

    it 'returns the whole environment for /' do
      expect(tree('/')['keys'].keys).to include('tree/a', 'tree/b/d/e')
    end

    it 'fails for a missing folder' do
      expect { tree('nowhere') }.to raise_error(RuntimeError, /tree with keydir='nowhere'/)
    end

    it 'names the unreadable key, or omits it' do
      store_raw('tree/b/broken', 'no JSON')
      expect { tree('tree') }.to raise_error(RuntimeError, %r{'tree/b/broken'})
      expect(tree('tree', { 'skip_undecodable' => true })['keys'].keys).to eq(%w[a b/c b/d/e])
      expect(world.warnings).to match([%r{\Asimpkv::tree leaves out key 'tree/b/broken': }])
    end

    it 'has a key and a folder of the same name, if the backend allows both' do
      next unless trait?(:shares_names)

      put('tree/b', 'beside')
      found = tree('tree')
      expect(found['keys']).to include('b' => { 'value' => 'beside' }, 'b/c' => { 'value' => 2 })
      expect(found['folders']).to eq(%w[b b/d])
    end

    it 'includes folders without keys' do
      delete('tree/b/d/e')
      expect(tree('tree')).to include('folders' => %w[b b/d])
      expect(tree('tree/b/d')).to eq('keys' => {}, 'folders' => [])
    end

    it 'returns the global keys if the option global is true' do
      put('tree/a', 'global', {}, { 'global' => true })
      expect(tree('/', { 'global' => true })).to eq('keys' => { 'tree/a' => { 'value' => 'global' } },
                                                    'folders' => ['tree'])
    end
  end

  describe "the option 'sensitive'" do
    it 'wraps all values that are read, but not the metadata' do
      put('wrap/a', 'secret', { 'm' => 1 })
      on = { 'sensitive' => true }
      all = [get('wrap/a', on), list('wrap', on)['keys']['a'], tree('wrap', on)['keys']['a'],
             get_many(['wrap/a'], on)['keys']['wrap/a'], get_or_create('wrap/a', {}, on) { |_| 1 }]
      all.each do |found|
        expect(found['value']).to be_a(Puppet::Pops::Types::PSensitiveType::Sensitive)
        expect(found['value'].unwrap).to eq('secret')
        expect(found['metadata']).to eq('m' => 1)
      end
    end

    it 'refuses another value before anything is stored' do
      expect { get_or_create('wrap/c', 1, {}, { 'sensitive' => 'maybe' }) }
        .to raise_error(ArgumentError, %r{get_or_create with key='wrap/c': 'sensitive' .* must be true or false})
      expect(exists('wrap/c')).to be(false)
    end

    it 'returns values that can be stored again' do
      bytes = Puppet::Pops::Types::PBinaryType::Binary.from_binary_string("\xff\x00".b)
      put('wrap/d', bytes)
      wrapped = get('wrap/d', { 'sensitive' => true })['value']
      put('wrap/e', wrapped)
      put_many('wrap/f' => { 'value' => wrapped })
      expect(%w[wrap/e wrap/f].map { |key| get(key)['value'].unwrap.binary_buffer }).to eq(["\xff\x00".b] * 2)
    end

    it 'does not wrap a Sensitive again' do
      put('wrap/b', Puppet::Pops::Types::PSensitiveType::Sensitive.new('s'))
      expect(get('wrap/b', { 'sensitive' => true })['value'].unwrap).to eq('s')
    end
  end
end
