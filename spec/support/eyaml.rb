# frozen_string_literal: true

require 'openssl'

# Encrypts with the gem hiera-eyaml, as its users do, with keys of its own.
class EyamlKeys
  # @return [String] the file of the private key
  attr_reader :private_key
  # @return [String] the file of the certificate
  attr_reader :certificate

  # @param folder [String] for the files of the keys
  def initialize(folder)
    require 'hiera/backend/eyaml'
    require 'hiera/backend/eyaml/options'
    require 'hiera/backend/eyaml/encryptors/pkcs7'
    @private_key = File.join(folder, 'private_key.pkcs7.pem')
    @certificate = File.join(folder, 'public_key.pkcs7.pem')
    make
  end

  # @param text [String]
  # @return [String] `ENC[PKCS7,...]`
  def encrypt(text)
    encryptor = Hiera::Backend::Eyaml::Encryptors::Pkcs7
    Hiera::Backend::Eyaml::Options.set('pkcs7_public_key' => @certificate)
    "ENC[PKCS7,#{encryptor.encode(encryptor.encrypt(text))}]"
  end

  private

  def make
    key = OpenSSL::PKey::RSA.new(2048)
    certificate = OpenSSL::X509::Certificate.new
    certificate.not_before = Time.now
    certificate.not_after = Time.now + 3600
    certificate.public_key = key.public_key
    certificate.sign(key, OpenSSL::Digest.new('SHA256'))
    File.write(@private_key, key.to_pem)
    File.write(@certificate, certificate.to_pem)
  end
end
