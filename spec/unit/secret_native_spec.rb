# frozen_string_literal: true

require 'digest'
require 'json'
require 'openssl'

# ext/core/test/secret has vectors, statistics and messages; this is what bindings do.
RSpec.describe 'Simpkv::Native, of secrets' do
  native = Simpkv::Native

  def make(request)
    made = Simpkv::Native.secret_make(JSON.generate(request))
    expect(made.encoding).to eq(Encoding::UTF_8)
    JSON.parse(made)
  end

  def form(secret, request)
    Simpkv::Native.secret_form(secret, JSON.generate(request))
  end

  it 'makes a password, words, and bytes, each time others' do
    passwords = Array.new(2) { make({ 'at_least' => { 'digits' => 2 } }).fetch('value') }
    expect(passwords).to all(match(/\A[0-9A-Za-z]{24}\z/).and(match(/\d.*\d/)))
    expect(passwords.uniq.length).to eq(2)
    expect(make({ 'words' => 8, 'separator' => ' ' }).fetch('value').split.length).to eq(8)
    bytes = make({ 'kind' => 'bytes', 'length' => 40 })
    expect(bytes.fetch('value').unpack1('m0').bytesize).to eq(40)
    expect(bytes).to include('encoding' => 'base64', 'parts' => {})
  end

  it 'makes forms, and tells which have a random salt' do
    expect(form('pässword', { 'format' => 'plain' })).to eq(['pässword', false])
    expect(form("a\0\xFF".b, { 'format' => 'base64' })).to eq(['YQD/', false])
    expect(form('password', { 'format' => 'mysql_native_password' }))
      .to eq(['*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19', false])
    forms = Array.new(2) { form('pl4nted', { 'format' => 'ssha' }) }
    expect(forms.map(&:last)).to eq([true, true])
    expect(forms.map(&:first).uniq.length).to eq(2)
    expect(forms.first.first.encoding).to eq(Encoding::UTF_8)
  end

  it 'makes a form of SCRAM whose keys OpenSSL computes from its salt' do
    text = form('pl4nted secret', { 'format' => 'scram-sha-256', 'cost' => 5000 }).first
    parts = text.match(/\ASCRAM-SHA-256\$5000:(.+)\$(.+):(.+)\z/).captures
    salt, stored, server = parts.map { |part| part.unpack1('m0') }
    salted = OpenSSL::PKCS5.pbkdf2_hmac('pl4nted secret', salt, 5000, 32, 'SHA256')
    client_key, server_key = ['Client Key', 'Server Key'].map { |name| OpenSSL::HMAC.digest('SHA256', salted, name) }
    expect([stored, server]).to eq([Digest::SHA256.digest(client_key), server_key])
  end

  it 'makes a CA and a list of what it revokes, and reads its certificate' do
    ca = make({ 'kind' => 'x509', 'ca' => true, 'subject' => { 'CN' => 'Exämple CA' } })
    certificate = ca.fetch('parts').fetch('certificate')
    facts = JSON.parse(native.secret_certificate(certificate, ca.fetch('value')))
    expect(facts).to eq({ 'ca' => true, 'subject' => 'CN=Exämple CA' }
      .merge(ca['parts'].slice('serial', 'fingerprint', 'not_before', 'not_after')))
    list = native.secret_crl(JSON.generate('issuer' => { 'certificate' => certificate, 'private' => ca.fetch('value') },
                                           'number' => 1, 'revoked' => [{ 'serial' => '01', 'at' => 1 }]))
    expect(list).to start_with("-----BEGIN X509 CRL-----\n").and(end_with("\n-----END X509 CRL-----\n"))
    expect { native.secret_crl('{}') }.to raise_error(Simpkv::InvalidError, /option 'number': expected an integer/)
    expect { native.secret_certificate('', '') }.to raise_error(Simpkv::InvalidError, 'expected a certificate in PEM')
  end

  it 'raises InvalidError for a request, without a part of the secret' do
    expect { native.secret_make('{"length":13}') }.to raise_error(Simpkv::InvalidError, /expected 14 or more/)
    expect { native.secret_make('[]') }.to raise_error(Simpkv::InvalidError, 'the request is no object')
    ["pl4nted\0secret", 'pl4nted' * 20].each do |secret|
      expect { form(secret, { 'format' => 'bcrypt' }) }
        .to raise_error(Simpkv::InvalidError) { |error| expect(error.message).not_to include('pl4nted') }
    end
  end

  it 'raises TypeError for what is no String' do
    expect { native.secret_make(nil) }.to raise_error(TypeError)
    expect { native.secret_crl({}) }.to raise_error(TypeError)
    expect { native.secret_certificate(nil, '') }.to raise_error(TypeError)
    expect { native.secret_certificate('', nil) }.to raise_error(TypeError)
    expect { native.secret_form(1, '{}') }.to raise_error(TypeError)
    expect { native.secret_form('x', { 'format' => 'plain' }) }.to raise_error(TypeError)
  end

  # A form takes a second or more.
  it 'lets other threads run meanwhile' do
    formed = Thread.new { form('pl4nted', { 'format' => 'bcrypt', 'cost' => 14 }) }
    rounds = 0
    rounds += 1 while formed.alive? && !formed.join(0.001)
    expect(formed.value.first).to start_with('$2b$14$')
    expect(rounds).to be > 10
  end
end
