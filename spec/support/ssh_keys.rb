# frozen_string_literal: true

# Public keys of SSH, made of a seed. Nobody has their private keys.
module SshKeys
  ED25519 = 'ssh-ed25519'
  SECURITY_KEY = 'sk-ssh-ed25519@openssh.com'
  ECDSA = 'ecdsa-sha2-nistp256'
  CERTIFICATE = 'ssh-ed25519-cert-v01@openssh.com'

  # The module sshkeys_core does not know it.
  UNMANAGED = 'sk-ssh-ed25519-cert-v01@openssh.com'

  # @param type [String] one of the above
  # @param seed [Integer] different ones make different keys
  # @return [String] the type and the key, as they stand in a line
  def self.text(type = ED25519, seed = 1)
    bytes = Random.new(seed).bytes(64)
    fields = { ED25519 => [bytes[0, 32]], SECURITY_KEY => [bytes[0, 32], 'ssh:'],
               ECDSA => ['nistp256', "\x04#{bytes}"] }.fetch(type) { [bytes[0, 32], bytes[32, 32]] }
    "#{type} #{data(type, *fields)}"
  end

  # @return [String] fields, each with its length, in base64
  def self.data(*fields)
    [fields.map { |field| [field.bytesize, field.b].pack('Na*') }.join].pack('m0')
  end

  # @return [Hash{String => Object}] the value of the stored document of a key
  def self.value(text, comment = '', options = [])
    type, key = text.split
    { 'type' => type, 'key' => key, 'options' => options, 'comment' => comment }
  end
end
