# frozen_string_literal: true

require_relative '../support/file_store'

RSpec.describe Simpkv::Store do
  include FileStoreHelp

  describe '#put_many' do
    it 'returns for each key whether it was written, or its error' do
      store.put('globals/there', '{"value":1}')
      found = store.put_many({ 'globals/new' => '{"value":1}', 'globals/there' => '{"value": 1}',
                               'globals' => 'x', 'globals/there/below' => 'x' })
      expect(found.keys).to eq(%w[globals/new globals/there globals globals/there/below])
      expect(found.values.first(2)).to eq([true, false])
      expect(found.values.last(2).map(&:class)).to eq([Simpkv::IsFolderError, Simpkv::IsKeyError])
      expect { store.put('globals/there/below', 'x') }
        .to raise_error(Simpkv::IsKeyError, found['globals/there/below'].message)
    end

    it 'writes only new keys with :absent' do
      store.put('globals/there', '{"value":1}')
      found = store.put_many({ 'globals/there' => '{"value":2}', 'globals/new' => '{"value":2}' }, condition: :absent)
      expect(found['globals/there']).to be_a(Simpkv::ExistsError)
      expect(store.get_many(%w[globals/there globals/new]).values).to eq(%w[{"value":1} {"value":2}])
    end

    it 'accepts any number of keys, and none' do
      many = (1..2500).to_h { |n| ["globals/m/k#{n}", 'é' * n] }
      expect(store.put_many(many)).to eq(many.transform_values { true })
      expect(store.get_many(many.keys)).to eq(many)
      large = (1..5).to_h { |n| ["globals/l/k#{n}", n.to_s * 3_000_000] }
      expect(store.put_many(large).values).to eq([true] * 5)
      expect(store.get_many(large.keys) == large).to be(true)
      expect([store.put_many({}), store.get_many([])]).to eq([{}, {}])
    end

    it 'stores nothing if one of them is not a String' do
      expect { store.put_many({ 'globals/a' => 'x', 'globals/b' => 1 }) }
        .to raise_error(TypeError, 'no implicit conversion of Integer into String')
      expect { store.put_many({ 'globals/a' => 'x', nil => 'x' }) }.to raise_error(TypeError)
      expect { store.put_many({ 'globals/a' => 'x' }, condition: :expect) }
        .to raise_error(ArgumentError, 'condition is :any or :absent')
      expect(store.kind('globals/a')).to be_nil
    end

    it 'is refused by a closed store' do
      store.close
      expect { store.put_many({ 'globals/a' => 'x' }) }.to raise_error(Simpkv::InvalidError, /closed/)
      expect { store.get_many([]) }.to raise_error(Simpkv::InvalidError, /closed/)
    end

    it 'accepts names in any encoding, and counts a repeated name once' do
      store.put_many({ "globals/\u00e9".b => 'x' })
      found = store.get_many(["globals/\u00e9", "globals/\u00e9", 'globals/none'])
      expect(found.keys).to eq(["globals/\u00e9", 'globals/none'])
      expect(found["globals/\u00e9"]).to eq('x')
      expect(found['globals/none']).to be_a(Simpkv::NotFoundError)
    end
  end
end
