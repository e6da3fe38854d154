# frozen_string_literal: true

require 'openssl'

# A private certificate authority. It writes its own certificate, and those that it signs, to files in a folder. Their
# keys are on an elliptic curve, unless they should be of RSA, as those of Puppet's CA are: OpenSSL needs a fifth of a
# second to find the primes of one.
class Certificates
  DAY = 86_400
  private_constant :DAY

  # @param folder [String] the folder for the files
  # @param name [String] the common name of the authority
  # @param rsa [Boolean] whether its keys are of RSA
  def initialize(folder, name: 'simpkv test CA', rsa: false)
    @folder = folder
    @rsa = rsa
    @authority = make(name, nil, authority: true)
    @count = 0
    @cacert = write('ca.pem', @authority.first.to_pem)
  end

  # @return [String] the file with the authority's certificate
  attr_reader :cacert

  # @param host [String] the address of the server
  # @param days [Numeric] the days for which the certificate is valid from now on; negative for an expired one
  # @param subject [String, OpenSSL::X509::Name] the common name of the certificate, or its whole name
  # @param names [String, nil] the alternative names in OpenSSL's notation; nil for none
  # @param rsa [Boolean] whether its key is of RSA
  # @return [Array(String, String)] the files of a certificate and its key
  def issue(host = '127.0.0.1', days: 1, subject: "simpkv test #{host}", names: "IP:#{host}", rsa: @rsa)
    name = "cert-#{@count += 1}"
    certificate, key = make(subject, names, days: days, rsa: rsa)
    [write("#{name}.pem", certificate.to_pem), write("#{name}-key.pem", key.to_pem)]
  end

  # @param certificates [Array<String>] the files of certificates that are revoked
  # @return [String] the file with the authority's revocation list
  def revoke(*certificates)
    list = OpenSSL::X509::CRL.new
    list.version = 1
    list.issuer = @authority.first.subject
    list.last_update = Time.now - DAY
    list.next_update = Time.now + DAY
    certificates.each { |file| list.add_revoked(revoked(file)) }
    list.sign(@authority.last, OpenSSL::Digest.new('SHA256'))
    write('crl.pem', list.to_pem)
  end

  private

  def revoked(file)
    revoked = OpenSSL::X509::Revoked.new
    revoked.serial = OpenSSL::X509::Certificate.new(File.read(file)).serial
    revoked.time = Time.now - 60
    revoked
  end

  def write(name, pem)
    file = File.join(@folder, name)
    File.write(file, pem, perm: 0o600)
    file
  end

  # rubocop:disable-next Metrics/AbcSize -- one field after another
  def make(subject, names, days: 1, authority: false, rsa: @rsa)
    key = rsa ? OpenSSL::PKey::RSA.new(2048) : OpenSSL::PKey::EC.generate('prime256v1')
    certificate = OpenSSL::X509::Certificate.new
    certificate.version = 2
    certificate.serial = OpenSSL::BN.rand(64)
    certificate.subject = subject.is_a?(String) ? OpenSSL::X509::Name.new([['CN', subject]]) : subject
    certificate.issuer = authority ? certificate.subject : @authority.first.subject
    certificate.not_before = Time.now - (10 * DAY)
    certificate.not_after = Time.now + (days * DAY)
    certificate.public_key = key
    extensions(names, authority).each { |extension| certificate.add_extension(extension) }
    certificate.sign(authority ? key : @authority.last, OpenSSL::Digest.new('SHA256'))
    [certificate, key]
  end

  def extensions(names, authority)
    factory = OpenSSL::X509::ExtensionFactory.new
    wanted = if authority
               [['basicConstraints', 'CA:TRUE', true], ['keyUsage', 'keyCertSign, cRLSign', true]]
             else
               [['basicConstraints', 'CA:FALSE', true], *([['subjectAltName', names, false]] if names)]
             end
    wanted.map { |extension| factory.create_extension(*extension) }
  end
end
