# frozen_string_literal: true

require_relative 'conformance_helper'

Conformance.describe 'simpkv::secret' do
  # @return [String] the secret that the function returns in a Sensitive
  def plain(key, options = {})
    returned = secret(key, options)
    expect(returned).to be_a(Puppet::Pops::Types::PSensitiveType::Sensitive)
    returned.unwrap
  end

  # @return [Hash] what the metadata have of a secret
  def about(key)
    get(key)['metadata']['simpkv::secret'].unwrap
  end

  it 'makes a password of 24 characters at the first call, and returns it from then on' do
    made = plain('app1/db')
    expect(made).to match(/\A[A-Za-z0-9]{24}\z/)
    world.fresh_catalog
    expect(plain('app1/db')).to eq(made)
    expect(plain('app1/other')).not_to eq(made)
  end

  it 'stores an ordinary key, whose value and metadata are Sensitive' do
    made = plain('app1/db')
    expect(get('app1/db')['value'].unwrap).to eq(made)
    expect(get('app1/db')['metadata'].values).to all(be_a(Puppet::Pops::Types::PSensitiveType::Sensitive))
    expect(about('app1/db')).to include('kind' => 'password', 'forms' => {})
  end

  it 'makes a form once' do
    hash = plain('app1/db', { 'format' => 'sha512-crypt', 'cost' => 1000 })
    made = plain('app1/db')
    expect(made.crypt(hash)).to eq(hash)
    world.fresh_catalog
    expect(plain('app1/db', { 'format' => 'sha512-crypt', 'cost' => 1000 })).to eq(hash)
    expect(plain('app1/db', { 'format' => 'ssha' })).to start_with('{SSHA}')
    expect(about('app1/db')['forms'].keys).to match_array(%w[sha512-crypt:1000 ssha])
    expect(plain('app1/db')).to eq(made)
  end

  it 'makes the forms of another secret anew, whoever has stored it' do
    plain('app1/db', { 'format' => 'ssha' })
    put('app1/db', 'entered by hand', get('app1/db')['metadata'])
    expect(plain('app1/db')).to eq('entered by hand')
    salt = plain('app1/db', { 'format' => 'ssha' }).delete_prefix('{SSHA}').unpack1('m').byteslice(20..-1)
    digest = Digest::SHA1.digest("entered by hand#{salt}")
    expect(plain('app1/db', { 'format' => 'ssha' })).to eq("{SSHA}#{[digest + salt].pack('m0')}")
  end

  it 'takes a text that put has stored, and keeps its metadata' do
    put('app1/db', 'old', { 'owner' => 'dba' })
    expect(plain('app1/db')).to eq('old')
    expect(plain('app1/db', { 'format' => 'hex' })).to eq('6f6c64')
    expect(plain('app1/db', { 'format' => 'ssha' })).to start_with('{SSHA}')
    expect(get('app1/db')).to include('value' => 'old', 'metadata' => include('owner' => 'dba'))
  end

  it 'takes the password of simplib::passgen' do
    put('gen_passwd/app1', { 'password' => 'of passgen', 'salt' => 'x' }, { 'complexity' => 0 })
    expect(plain('gen_passwd/app1')).to eq('of passgen')
    expect(plain('gen_passwd/app1', { 'format' => 'ssha' })).to start_with('{SSHA}')
    expect(get('gen_passwd/app1')['value']).to eq('password' => 'of passgen', 'salt' => 'x')
  end

  it 'makes bytes, and returns them as a Binary, or as text' do
    made = plain('app1/bytes', { 'kind' => 'bytes', 'length' => 40 })
    expect(made).to be_a(Puppet::Pops::Types::PBinaryType::Binary)
    expect(made.binary_buffer.bytesize).to eq(40)
    expect(plain('app1/bytes', { 'format' => 'hex' })).to eq(made.binary_buffer.unpack1('H*'))
    expect(plain('app1/bytes', { 'format' => 'base64' })).to eq([made.binary_buffer].pack('m0'))
  end

  it 'makes another secret when it has expired, and keeps the earlier one' do
    made = plain('app1/db', { 'format' => 'ssha', 'expires_after' => 1 })
    document = stored_bytes('app1/db').sub(/"expires":"\d+/, '"expires":"2001')
    store_raw('app1/db', document)
    world.fresh_catalog
    another = plain('app1/db', { 'format' => 'ssha' })
    expect(another).not_to eq(made)
    expect(plain('app1/db', { 'format' => 'ssha', 'version' => -1 })).to eq(made)
  end

  {
    { 'format' => 'md5' } => /'format': expected /,
    { 'length' => 5 } => /minimum_bits/,
    { 'kind' => 'certificate' } => /'kind': expected /,
    { 'kind' => 'bytes', 'words' => 3 } => /unknown option 'words' of kind 'bytes'/,
    { 'format' => 'yescrypt', 'part' => 'public' } => /exclude each other/,
    { 'cost' => 5 } => /'cost' is for a 'format'/,
    { 'format' => 5 } => /'format': expected a text/
  }.each do |options, why|
    it "refuses #{options}, and stores nothing" do
      expect { secret('app1/db', options.merge('softfail' => true)) }.to raise_error(ArgumentError, why) { |error|
        expect(error.message).to include("simpkv::secret with key='app1/db': ")
      }
      expect(exists('app1/db')).to be(false)
    end
  end

  it 'refuses another kind, a part that the secret lacks, and a value that is no secret' do
    made = plain('app1/db')
    put('app1/list', [1, 2])
    { ['app1/db', { 'kind' => 'ssh-ed25519' }] => /of the kind 'password', not 'ssh-ed25519'/,
      ['app1/db', { 'part' => 'public' }] => /no part 'public': it has 'private'/,
      ['app1/list', {}] => /its value is no secret/ }.each do |(key, options), why|
      expect { secret(key, options) }.to raise_error(RuntimeError, why)
    end
    expect(plain('app1/db')).to eq(made)
  end
end
