# frozen_string_literal: true

require 'open3'
require_relative '../support/key_file'
require_relative '../support/processes'

# The C tests in ext/core/test/crypt have the damaged documents and the malformed files.
RSpec.describe 'Simpkv::Native::Keyring' do
  include KeyFile
  include Processes

  keyring_class = Simpkv::Native::Keyring
  plain = '{"value":"geheim é","metadata":{}}'
  place = ['file/default', 'environments/production/app/password'].freeze

  def jwe_of(document)
    JSON.parse(document).fetch('value')
  end

  # Runs the command jose.
  # @return [String] its output
  def jose(input, *arguments)
    output, status = Open3.capture2('jose', *arguments, stdin_data: input, binmode: true)
    raise "jose #{arguments.first(2).join(' ')} failed" unless status.success?

    output
  end

  it 'encrypts a document, and decrypts it' do
    encrypted = keyring.encrypt(*place, plain)
    expect(encrypted.encoding).to be(Encoding::UTF_8)
    expect(JSON.parse(encrypted)).to match('encoding' => 'jwe', 'value' => /\AeyJhbGciOiJkaXIi[\w-]+\.\.[\w.-]+\z/)
    decrypted = keyring.decrypt(*place, encrypted)
    expect([decrypted, decrypted.encoding]).to eq([plain, Encoding::UTF_8])
  end

  it 'takes documents of any bytes and sizes, with a GVL or without' do
    ['', "\xFF\x00".b, 'x' * 8192, 'x' * 8193, Random.bytes(1_000_000)].each do |document|
      expect(keyring.decrypt(*place, keyring.encrypt(*place, document)).b).to eq(document.b)
    end
  end

  it 'returns nil for a plain document' do
    [plain, '', 'x', "\xFF".b].each { |document| expect(keyring.decrypt(*place, document)).to be_nil }
  end

  it 'knows the names of its keys, and that of the key of a document' do
    write_keys('b', 'a')
    expect(keyring_class.new(key_file).kids).to eq(%w[b a])
    expect(keyring_class.kid_of(keyring.encrypt(*place, plain))).to eq('a')
    expect(keyring_class.kid_of(plain)).to be_nil
    expect { keyring_class.kid_of(keyring.encrypt(*place, plain)[0..-2]) }
      .to raise_error(Simpkv::MalformedError, 'its encrypted document is damaged or truncated')
  end

  it 'refuses a document of another place, and says which' do
    encrypted = keyring.encrypt(*place, plain)
    expect { keyring.decrypt('ldap/other', place.last, encrypted) }
      .to raise_error(Simpkv::MalformedError, "cannot decrypt '#{place.last}': its document was encrypted for " \
                                              "'#{place.last}' of the backend 'file/default', and copied or moved " \
                                              "here ('ldap/other'): store the value again")
    expect { keyring.decrypt(place.first, 'globals/x', encrypted) }.to raise_error(Simpkv::MalformedError)
  end

  it 'reads a changed file again, and names a key that it lacks' do
    encrypted = keyring.encrypt(*place, plain)
    write_keys('b', 'a')
    expect([keyring.decrypt(*place, encrypted), keyring.kids]).to eq([plain, %w[b a]])
    write_keys('b')
    expect { keyring.decrypt(*place, encrypted) }
      .to raise_error(Simpkv::DeniedError, "cannot decrypt '#{place.last}': it was encrypted with the key 'a', which " \
                                           "is not in #{key_file}, the file of 'encryption_keys': bring the newest " \
                                           'file to this machine, or restore the key from a backup')
  end

  it 'fails as long as the file cannot be used' do
    encrypted = keyring.encrypt(*place, plain)
    write_keys('a', mode: 0o644)
    expect { keyring.encrypt(*place, plain) }.to raise_error(Simpkv::DeniedError, /has the mode 0644.*chmod g-w,o= /)
    expect { keyring.kids }.to raise_error(Simpkv::DeniedError)
    File.delete(key_file)
    expect { keyring.decrypt(*place, encrypted) }.to raise_error(Simpkv::InvalidError, /does not exist: copy it/)
    write_keys('a')
    expect(keyring.decrypt(*place, encrypted)).to eq(plain)
  end

  it 'refuses a file that it cannot use, and shows nothing of a key' do
    replace_keys(JSON.generate('keys' => [jwk('a').merge('alg' => 'HS256')]))
    expect { keyring_class.new(key_file) }
      .to raise_error(Simpkv::InvalidError, "the file of 'encryption_keys', #{key_file}, key 1 ('a') has another alg " \
                                            'than "A256GCM"')
    replace_keys(JSON.generate('keys' => [jwk('a').merge('k' => "#{jwk('a')['k']}=")]))
    expect { keyring_class.new(key_file) }.to raise_error(Simpkv::InvalidError) { |error|
      expect(error.full_message).not_to include(jwk('a')['k'][0, 10])
    }
    expect { keyring_class.new('keys') }.to raise_error(Simpkv::InvalidError, /absolute path/)
    expect { keyring_class.new(nil) }.to raise_error(TypeError, 'no implicit conversion of nil into String')
  end

  it 'refuses arguments that are no Strings, and paths that are not UTF-8' do
    expect { keyring.encrypt(*place, nil) }.to raise_error(TypeError, 'no implicit conversion of nil into String')
    expect { keyring.decrypt(1, place.last, plain) }.to raise_error(TypeError)
    expect { keyring.encrypt(place.first, "globals/\xFF", plain) }.to raise_error(Simpkv::InvalidError, /not UTF-8/)
  end

  it 'refuses to work without keys, and to read them twice' do
    empty = keyring_class.allocate
    expect { empty.kids }.to raise_error(Simpkv::InvalidError, 'no keys are read')
    expect { empty.encrypt(*place, plain) }.to raise_error(Simpkv::InvalidError, 'no keys are read')
    expect { keyring.dup.kids }.to raise_error(Simpkv::InvalidError, 'no keys are read')
    expect { keyring.send(:initialize, key_file) }.to raise_error(Simpkv::InvalidError, 'the keys are read already')
  end

  it 'serves several threads while its file changes, and survives those that are killed' do
    shared = keyring
    documents = [plain, 'x' * 20_000]
    use = proc { documents.map { |each| shared.decrypt(*place, shared.encrypt(*place, each)) } }
    killed = Array.new(2) { Thread.new { loop(&use) } }
    threads = Array.new(4) { Thread.new { Array.new(100, &use) } }
    50.times { |round| write_keys(*(round.even? ? %w[b a] : %w[a b])) }
    expect(threads.flat_map(&:value).uniq).to eq([documents])
    killed.each(&:kill).each(&:join)
  end

  it 'serves a forked process', needs: :fork do
    encrypted = keyring.encrypt(*place, plain)
    keyring.kids
    expect_success_of(child { keyring.decrypt(*place, encrypted) == plain && write_keys('b') && keyring.kids == ['b'] })
  end

  it 'exchanges documents with the command jose', :tools, :once do
    jwk_file = File.join(key_folder, 'jwk')
    File.write(jwk_file, JSON.generate(jwk('a')))
    encrypted = keyring.encrypt(*place, plain)
    decrypted = jose(jwe_of(encrypted), 'jwe', 'dec', '-i-', '-k', jwk_file)
    expect(decrypted.force_encoding('UTF-8')).to eq(plain)

    header = { 'alg' => 'dir', 'enc' => 'A256GCM', 'kid' => 'a', 'backend' => place[0], 'path' => place[1] }
    jwe = jose(plain, 'jwe', 'enc', '-i', JSON.generate('protected' => header), '-I-', '-k', jwk_file, '-c')
    theirs = JSON.generate('value' => jwe, 'encoding' => 'jwe')
    expect(keyring.decrypt(*place, theirs)).to eq(plain)
  end

  it 'reads a set of keys that the command jose has made', :tools, :once do
    templates = %w[k0 k1].map { |kid| { 'alg' => 'A256GCM', 'kid' => kid } }
    { { 'keys' => templates } => %w[k0 k1], templates.first => ['k0'] }.each do |template, kids|
      replace_keys(jose('', 'jwk', 'gen', '-s', '-i', JSON.generate(template)))
      expect(keyring_class.new(key_file).kids).to eq(kids)
    end
  end
end
