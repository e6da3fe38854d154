# frozen_string_literal: true

require_relative '../support/file_store'

# Strings on their way through a binding.
RSpec.describe 'Strings of the native library' do
  include FileStoreHelp

  native = Simpkv::Native
  base = 'ou=é,dc=simp'

  calls = {
    'key_join' => ->(text) { native.key_join(text, text) },
    'dn_from_path' => ->(text) { native.dn_from_path(:plain, :key, base, text, "globals/#{text}") },
    'generate' => ->(text) { native.generate('a' => text) },
    'parse' => ->(text) { native.parse(%({"a":"#{text}"})).fetch('a') }
  }

  calls.each do |name, call|
    it "are UTF-8 when #{name} returns them" do
      found = call.call('é')
      expect([found.encoding, found.valid_encoding?]).to eq([Encoding::UTF_8, true])
      expect(found).to include('é').or match(/c3\\?a9|\\c3\\a9/i)
    end
  end

  it 'are UTF-8 when a store returns them, and in messages' do
    store.put('globals/é/ü', '"é"')
    store.put('globals/é/ö/k', '1')
    found = store.list('globals/é')
    expect(found).to eq(keys: { 'ü' => '"é"' }, folders: ['ö'], errors: {})
    message = begin
      store.get('globals/ñ')
    rescue Simpkv::NotFoundError => e
      e.message
    end
    texts = [store.get('globals/é/ü'), *found[:keys].to_a.flatten, *found[:folders], message]
    expect(texts.map(&:encoding)).to all(eq(Encoding::UTF_8))
    expect(message).to include('globals/ñ')
  end

  # In place of a copy, a binding might have been given, and have changed, the caller's own String.
  it 'keep their bytes and encoding when they are arguments, and are not frozen' do
    given = %w[globals/é d].flat_map { |text| [text.dup, text.b, text.dup.force_encoding('ISO-8859-1')] }
    before = given.map { |text| [text.dup, text.encoding] }
    given.each_slice(3) do |texts|
      texts.each { |text| store.put(given.first, text) && store.get(given.first) }
    end
    given.first(3).each { |key| [store.put(key, given.last), store.get(key), store.kind(key), store.delete(key)] }
    given.each { |text| [native.key_join(text, 'k'), native.document_same?(text, text)] }
    expect(given.map { |text| [text, text.encoding] }).to eq(before)
    expect(given.map(&:frozen?).uniq).to eq([false])
  end

  it 'may have any length, and hold any byte' do
    bytes = (0..255).to_a.pack('C*')
    ['', "\0", bytes, bytes * 300].each do |document|
      store.put('globals/k', document)
      expect(store.get('globals/k').b).to eq(document.b)
      expect(store.list('globals')[:keys]['k'].b).to eq(document.b)
    end
  end
end
