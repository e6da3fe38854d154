# frozen_string_literal: true

require_relative 'types_helper'
require_relative '../support/key_file'

RSpec.describe 'Keys as resources in an encrypted backend' do
  include_context 'with keys as resources'
  include KeyFile

  let(:mode) { 'all' }
  let(:backend) do
    { 'type' => 'file', 'id' => 'types', 'root_path' => root, 'encryption_keys' => write_keys('a'), 'encrypt' => mode }
  end
  let(:manifest) do
    <<~PUPPET
      simpkv_folder { 'k': purge => true }
      simpkv_key {
        'k/plain':    value => 'public';
        'k/secret':   value => Sensitive('pl4nted');
        'k/nested':   value => { 'a' => [Sensitive('pl4nted')] };
        'k/metadata': value => 'public', metadata => Sensitive({ 'a' => 'pl4nted' });
      }
    PUPPET
  end

  # @return [Hash{String => String}] the documents as they are stored
  def raws
    store.list('environments/production/k')[:keys]
  end

  it 'are encrypted, compared and purged' do
    apply!(manifest)
    before = raws
    expect([before.length, before.values]).to match([4, all(include('"encoding":"jwe"'))])
    apply!(manifest)
    expect(raws).to eq(before)
    apply!(manifest.sub(/^ *'k.plain'.*\n/, '').sub('pl4nted', 'changed'))
    expect(raws.keys).to match_array(%w[secret nested metadata])
    expect(raws.reject { |name, raw| raw == before[name] }.keys).to eq(['secret'])
  end

  it 'are managed beside one under an unknown encryption key, which a purge cannot remove (they were skipped)' do
    apply!("simpkv_key { 'k/foreign': value => 1 }")
    write_options('default' => backend.merge('encryption_keys' => write_keys('b')))
    apply("simpkv_folder { 'k': purge => true } simpkv_key { 'k/managed': value => 'rotated' }")
    expect([failed, changed]).to eq([key_resources('k:unnamed-1'), key_resources('k/managed')])
    expect(raws.keys).to match_array(%w[foreign managed])
  end

  context 'with encrypt: sensitive' do
    let(:mode) { 'sensitive' }

    it 'are encrypted if there is a Sensitive in value or metadata' do
      apply!(manifest)
      expect(raws.reject { |_, raw| raw.include?('"encoding":"jwe"') }.keys).to eq(['plain'])
    end
  end
end
