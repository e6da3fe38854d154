# frozen_string_literal: true

require 'json'
require_relative 'scratch'

# A file of keys (a JWK Set) for each example.
module KeyFile
  # Runs the example with `key_file` and `keyring`, and cleans up.
  def self.included(group)
    group.let(:key_folder) { Scratch.make('simpkv-keys') }
    group.let(:key_file) { File.join(key_folder, 'keys') }
    group.let(:keyring) { write_keys('a') && Simpkv::Native::Keyring.new(key_file) }
    group.after { FileUtils.rm_rf(key_folder) }
  end

  # @return [Hash{String => String}] a new JWK
  def self.jwk(kid)
    { 'kty' => 'oct', 'alg' => 'A256GCM', 'kid' => kid,
      'k' => [Random.bytes(32)].pack('m0').tr('+/', '-_').delete('=') }
  end

  # Replaces a file. The first key encrypts.
  # @return [String] its path
  def self.write(file, jwks, mode = 0o600)
    replace(file, JSON.generate('keys' => jwks), mode)
  end

  # @return [String] the path of the file
  def self.replace(file, text, mode = 0o600)
    File.write("#{file}.new", text)
    File.chmod(mode, "#{file}.new")
    File.rename("#{file}.new", file)
    file
  end

  # @param kid [String]
  # @return [Hash{String => String}] a JWK, the same for the same name
  def jwk(kid)
    @jwks ||= {}
    @jwks[kid] ||= KeyFile.jwk(kid)
  end

  # Replaces the file. The first key encrypts.
  # @return [String] its path
  def write_keys(*kids, mode: 0o600)
    KeyFile.write(key_file, kids.map { |kid| jwk(kid) }, mode)
  end

  # @return [String] the path of the file
  def replace_keys(text, mode = 0o600)
    KeyFile.replace(key_file, text, mode)
  end
end
