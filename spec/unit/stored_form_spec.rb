# frozen_string_literal: true

require_relative '../support/key_file'

RSpec.describe Simpkv::StoredForm do
  include KeyFile

  def facts(document)
    described_class.facts(document)
  end

  it 'tells times and the number of versions of a plain document' do
    document = '{"value":"c","metadata":{},"stored_at":"2026-11-23T15:00:00Z","expires":"2126-11-23T15:00:00Z",' \
               '"history":[{"value":"b"},{"value":"a"}]}'
    expect(facts(document)).to eq('size' => document.bytesize, 'encrypted' => false, 'versions' => 3,
                                  'stored_at' => '2026-11-23T15:00:00Z', 'expires' => '2126-11-23T15:00:00Z')
    expect(facts('{"value":1,"expires":"2016-11-23T15:00:00Z"}')).to include('expired' => true, 'versions' => 1)
    expect(facts('{"value":1}')).to eq('size' => 11, 'encrypted' => false, 'versions' => 1)
  end

  it 'tells the key of an encrypted document, and nothing inside it' do
    document = keyring.encrypt('file/default', 'globals/k', '{"value":"hush","expires":"2016-11-23T15:00:00Z"}')
    expect(facts(document)).to eq('size' => document.bytesize, 'encrypted' => true, 'encryption_key' => 'a')
  end

  it 'says that a document is damaged' do
    ['', 'hush', '{"metadata":{}}', '{"value":1,"expires":5}', '{"protected":"hush","tag":1}', "\xff"].each do |text|
      expect(facts(text)).to eq('size' => text.bytesize, 'damaged' => true)
    end
  end

  # The API and the command asked the same two questions of a document in two places.
  describe '.check' do
    def wrong(document)
      described_class.check(document)
      nil
    rescue Simpkv::MalformedError => e
      e.message
    end

    it 'refuses what functions cannot read, for the reason that .fault has' do
      torn = ['{"value":', '{"metadata":{}}', '{"value":"x","encoding":"base64","metadata":5}']
      expect(torn.map { |text| wrong(text) }).to all(match(/Failed to deserialize/))
      expect(torn.map { |text| described_class.fault(text) }).to all(match(/its document is corrupt \(\d+ bytes\)/))
      ['"history":[1]', '"histor\\u0079":5', '"expires":5'].each do |member|
        document = %({"value":"x",#{member}})
        expect([wrong(document), described_class.fault(document)]).to all(match(/'(history|expires)' is not a/))
      end
    end

    it 'accepts a sound document, and an encrypted one, of which it reads nothing' do
      encrypted = keyring.encrypt('file/default', 'globals/k', '{"value":"hush","history":5}')
      documents = ['{"value":1}', '{"value":1,"history":[{"value":0}]}', encrypted]
      expect(documents.map { |document| wrong(document) }).to all(be_nil)
    end
  end
end
