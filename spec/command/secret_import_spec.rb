# frozen_string_literal: true

require 'openssl'
require_relative 'command_helper'

RSpec.describe 'simpkv secret import' do
  include_context 'with keys in files'

  pair = OpenSSL::PKey::RSA.new(2048)
  foreign = OpenSSL::PKey::RSA.new(2048)
  certificate = OpenSSL::X509::Certificate.new.tap do |made|
    made.subject = made.issuer = OpenSSL::X509::Name.parse('/CN=www.example.com')
    made.serial = 258
    made.not_before = Time.utc(2026)
    made.not_after = Time.utc(2036)
    made.public_key = pair.public_key
    made.sign(pair, 'SHA256')
  end

  # @return [Object] the outcome, of which nothing shows a private key
  def import(key, private_key, certificate)
    files = { 'private' => private_key, 'certificate' => certificate }.flat_map do |name, text|
      ["--#{name}", File.join(folder, name).tap { |file| File.write(file, text) }]
    end
    outcome = simpkv('secret', 'import', key, *files)
    outcome.tap { expect(outcome.out + outcome.err).not_to include('PRIVATE') }
  end

  it 'stores a certificate that is no CA, with its parts' do
    expect(import('web1/tls', pair.to_pem, certificate.to_pem)).to have_attributes(code: 0)
    expect(simpkv!('secret', 'web1/tls')).to eq(pair.to_pem)
    digest = OpenSSL::Digest.hexdigest('SHA256', certificate.to_der).upcase.scan(/../).join(':')
    { 'certificate' => certificate.to_pem, 'fingerprint' => digest, 'serial' => '0102',
      'not_before' => '2026-01-01T00:00:00Z', 'not_after' => '2036-01-01T00:00:00Z' }.each do |part, text|
      expect(simpkv!('secret', 'web1/tls', '--part', part)).to eq(text)
    end
  end

  {
    'of another certificate' => [foreign.to_pem, /the private key is not that of the certificate/],
    'that is garbage' => ['garbage', /expected a private key in PEM/],
    'with a passphrase' => [pair.to_pem(OpenSSL::Cipher.new('aes-256-cbc'), 'pl4nted'), /without a passphrase/]
  }.each do |what, (private_key, message)|
    it "refuses a private key #{what}, and stores nothing" do
      expect(import('web1/tls', private_key, certificate.to_pem)).to have_attributes(code: 64, err: message)
      expect(File.exist?(root)).to be(false)
    end
  end
end
