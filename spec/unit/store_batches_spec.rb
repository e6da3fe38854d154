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

    it 'writes keys with more slashes than they need under their names' do
      quick = open_store(root, 'lock_timeout_seconds' => 1)
      expect(quick.put_many({ '//globals///a//b/' => '{"value":1}' }).values).to eq([true])
      expect(quick.get('globals/a/b')).to eq('{"value":1}')
      quick.close
    end

    it 'writes only new keys with :absent' do
      store.put('globals/there', '{"value":1}')
      found = store.put_many({ 'globals/there' => '{"value":2}', 'globals/new' => '{"value":2}' }, condition: :absent)
      expect(found['globals/there']).to be_a(Simpkv::ExistsError)
      expect(store.get_many(%w[globals/there globals/new]).values).to eq(%w[{"value":1} {"value":2}])
    end

    it 'writes with :expect only in place of the expected documents, and new keys where it expects none' do
      store.put_many({ 'globals/a' => '{"value":1}', 'globals/b' => '{"value":1}', 'globals/c' => '{"value":1}' })
      found = store.put_many(%w[a b c gone new].to_h { |name| ["globals/#{name}", '{"value":2}'] },
                             condition: :expect,
                             expect: { 'globals/a' => '{"value":1}', 'globals/b' => '{"value": 1}', 'globals/c' => nil,
                                       'globals/gone' => '{"value":1}', 'globals/new' => nil, 'globals/other' => 'x' })
      expect(found.values.map { |result| result.is_a?(Simpkv::Error) ? result.class : result })
        .to eq([true, Simpkv::ConflictError, Simpkv::ExistsError, Simpkv::ConflictError, true])
      { 'b' => '{"value": 1}', 'gone' => 'x' }.each do |name, expected|
        expect { store.put("globals/#{name}", '{"value":2}', condition: :expect, expect: expected) }
          .to raise_error(Simpkv::ConflictError, found["globals/#{name}"].message)
      end
      expect(store.list('globals')[:keys])
        .to eq('a' => '{"value":2}', 'b' => '{"value":1}', 'c' => '{"value":1}', 'new' => '{"value":2}')
    end

    it 'accepts any number of expected documents' do
      olds = (1..1200).to_h { |n| ["globals/m/k#{n}", 'é' * n] }
      expect(store.put_many(olds, condition: :expect, expect: olds.transform_values { nil }).values.uniq).to eq([true])
      news = olds.transform_values { |old| old * 2 }
      expect(store.put_many(news, condition: :expect, expect: olds).values.uniq).to eq([true])
      expect(store.get_many(news.keys)).to eq(news)
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
      expect { store.put_many({ 'globals/a' => 'x' }, condition: :expect, expect: { 'globals/a' => 5 }) }
        .to raise_error(TypeError)
      expect(store.kind('globals/a')).to be_nil
    end

    it 'refuses another condition, and expected documents that do not fit it' do
      {
        { condition: :new } => 'condition is :any or :absent or :expect',
        { condition: :expect } => 'expect comes with the condition :expect, and only then',
        { expect: { 'globals/a' => 'x' } } => 'expect comes with the condition :expect, and only then',
        { condition: :expect, expect: { 'globals/b' => 'x' } } =>
          "expect lacks 'globals/a': give the document that must be stored now, or nil if the key must not exist"
      }.each do |options, message|
        expect { store.put_many({ 'globals/a' => 'x' }, **options) }.to raise_error(ArgumentError, message)
      end
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
