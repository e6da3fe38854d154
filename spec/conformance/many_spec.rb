# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'Many keys at once' do
  describe 'get_many' do
    it 'answers each key, or that it is not there, or why it cannot be read' do
      put('many/a', 1, { 'm' => 1 })
      put('many/b', 'two')
      store_raw('many/broken', 'no JSON')
      found = get_many(%w[many/a many/none many/broken many/b])
      expect(found['keys']).to eq('many/a' => { 'value' => 1, 'metadata' => { 'm' => 1 } },
                                  'many/b' => { 'value' => 'two' })
      expect(found['absent']).to eq(['many/none'])
      expect(found['errors'].keys).to eq(['many/broken'])
    end

    it 'answers by the names that it was asked for' do
      put('many/slashes', 1)
      expect(get_many(['/many//slashes/', 'many/slashes'])['keys'])
        .to eq('/many//slashes/' => { 'value' => 1 }, 'many/slashes' => { 'value' => 1 })
    end

    it 'answers nothing for no keys' do
      expect(get_many([])).to eq('keys' => {}, 'absent' => [], 'errors' => {})
    end

    it 'refuses a wrong key, by its name' do
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

    it 'replaces what is there' do
      put('put/c', 'old')
      put_many('put/c' => { 'value' => 'new' })
      expect(get('put/c')).to eq('value' => 'new')
    end

    it 'takes what get_many answers' do
      put_many('put/d' => { 'value' => 1 }, 'put/e' => { 'value' => { 'x' => nil }, 'metadata' => { 'm' => 1 } })
      found = get_many(%w[put/d put/e])['keys']
      deletetree('put')
      put_many(found)
      expect(get_many(%w[put/d put/e])['keys']).to eq(found)
    end

    it 'says which keys were not stored, and why, and stores the others' do
      put('put/key', 1)
      next if trait?(:shares_names)

      found = put_many('put/key/below' => { 'value' => 2 }, 'put/fine' => { 'value' => 3 })
      expect(found['stored']).to eq(['put/fine'])
      expect(found['errors'].keys).to eq(['put/key/below'])
      expect(get('put/fine')).to eq('value' => 3)
    end

    it 'stores nothing when a value is of a kind that cannot be stored' do
      expect do
        put_many('put/f' => { 'value' => 1 }, 'put/g' => { 'value' => Float::NAN })
      end.to raise_error(RuntimeError)
      expect(exists('put/f')).to be(false)
    end

    it 'stores more keys than fit into one batch' do
      entries = (1..1200).to_h { |number| ["put/many/k#{number}", { 'value' => number }] }
      expect(put_many(entries)['stored'].length).to eq(1200)
      expect(get_many(entries.keys)['keys']).to eq(entries)
    end
  end

  describe 'tree' do
    before do
      put('tree/a', 1, { 'm' => 1 })
      put('tree/b/c', 2)
      put('tree/b/d/e', 'three')
    end

    it 'answers all keys below a folder, by their paths' do
      expect(tree('tree')).to eq(
        'keys' => { 'a' => { 'value' => 1, 'metadata' => { 'm' => 1 } }, 'b/c' => { 'value' => 2 },
                    'b/d/e' => { 'value' => 'three' } },
        'folders' => %w[b b/d]
      )
    end

    it 'answers names only, if asked to' do
      store_raw('tree/broken', 'no JSON')
      expect(tree('tree', { 'values' => false })['keys'])
        .to eq('a' => {}, 'b/c' => {}, 'b/d/e' => {}, 'broken' => {})
    end

    it 'takes / for all of the environment' do
      expect(tree('/')['keys'].keys).to include('tree/a', 'tree/b/d/e')
    end

    it 'fails for a folder that is not there' do
      expect { tree('nowhere') }.to raise_error(RuntimeError, /tree with keydir='nowhere'/)
    end

    it 'names the key that cannot be read, or leaves it out' do
      store_raw('tree/b/broken', 'no JSON')
      expect { tree('tree') }.to raise_error(RuntimeError, %r{'tree/b/broken'})
      expect(tree('tree', { 'skip_undecodable' => true })['keys'].keys).to eq(%w[a b/c b/d/e])
    end
  end

  describe "the option 'sensitive'" do
    it 'wraps the values of all that is read, and not the metadata' do
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

    it 'refuses another word before anything is stored' do
      expect { get_or_create('wrap/c', 1, {}, { 'sensitive' => 'maybe' }) }
        .to raise_error(ArgumentError, %r{get_or_create with key='wrap/c': 'sensitive' .* must be true or false})
      expect(exists('wrap/c')).to be(false)
    end

    it 'does not wrap a Sensitive again' do
      put('wrap/b', Puppet::Pops::Types::PSensitiveType::Sensitive.new('s'))
      expect(get('wrap/b', { 'sensitive' => true })['value'].unwrap).to eq('s')
    end
  end
end
