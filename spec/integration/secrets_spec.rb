# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'

RSpec.describe 'A secret in a directory', :once do
  include_context 'with slapd'

  let(:backend) { directory.options('type' => 'ldap', 'id' => id) }
  let!(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }

  after { world.close }

  def secret(options = {})
    world.fresh_catalog.call('simpkv::secret', 'app1/db', options).unwrap
  end

  it 'is read, and so are its forms, while the server of write_uri is down; what is missing is an error' do
    made = [secret, secret('format' => 'ssha'), secret('format' => 'hex')]
    dead = { 'backends' => { 'default' => backend.merge('write_uri' => 'ldap://127.0.0.1:1', 'retries' => 0) } }
    world.hiera = dead
    expect([secret, secret('format' => 'ssha'), secret('format' => 'hex')]).to eq(made)
    expect { secret('format' => 'sha512-crypt') }.to raise_error(RuntimeError, /127\.0\.0\.1:1/)
    expect { world.call('simpkv::secret', 'app1/new') }.to raise_error(RuntimeError, /127\.0\.0\.1:1/)
  end

  it 'has the forms of its value, also if another client puts a value between the two reads of a call' do
    made = secret
    store.put('environments/production/app1/db', Simpkv::Codec.encode('of another client'))
    expect(secret).to eq('of another client')
    expect(secret('format' => 'hex')).to eq('of another client'.unpack1('H*'))
    expect(made).not_to eq(secret)
  end

  # The seed of the document: a compare-and-swap alone would give the loser of a race on 389-DS a form of its own.
  it 'has one form, whoever makes it: the document says which' do
    secret
    document = store.get('environments/production/app1/db')
    request = Simpkv::Secrets::Request.new('format' => 'yescrypt', 'cost' => 1)
    documents = Array.new(2) { Simpkv::Secrets::Entry.new(document).completed(request) }
    expect(documents.uniq.length).to eq(1)
    expect(secret('format' => 'yescrypt', 'cost' => 1)).to eq(Simpkv::Secrets::Entry.new(documents[0]).text_for(request))
  end
end
