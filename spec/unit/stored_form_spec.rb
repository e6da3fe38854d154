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
end
