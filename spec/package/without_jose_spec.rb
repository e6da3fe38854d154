# frozen_string_literal: true

require_relative '../support/packages'

RSpec.describe 'A build without libjose' do
  around { |example| Dir.mktmpdir('simpkv-jose') { |folder| (@folder = folder) && example.run } }

  # Stores and reads a key, reads an encrypted document's kid, and prints why there are no keys.
  def script
    <<~RUBY
      Gem.use_paths('#{@folder}', ['#{@folder}'])
      require 'simpkv'
      store = Simpkv::Store.open('file', 'root_path' => '#{@folder}/kv')
      store.put('globals/k', '{"value":1}')
      raise 'another value' unless store.list('globals')[:keys] == { 'k' => '{"value":1}' }
      raise 'encrypted' if Simpkv::Native::Keyring.kid_of(store.get('globals/k'))
      begin
        Simpkv::Native::Keyring.new('/etc/passwd')
      rescue Simpkv::InvalidError => e
        puts e.message
      end
    RUBY
  end

  it 'has everything but encryption, and says what to install (MRI)' do
    output, success = Packages.without_header('jose') do |path|
      Packages.install(['gem'], :ruby, @folder, environment: { 'PATH' => path })
    end
    expect(success).to be(true), output
    expect(Packages.run('ruby', '-e', script))
      .to eq("'encryption_keys' needs a simpkv that is built with libjose: install libjose-dev (on EL " \
             "libjose-devel), and build simpkv again\n")
    extension = Dir["#{@folder}/gems/*/lib/simpkv/simpkv_ext.so"].first
    expect(Packages.run('ldd', extension)).not_to match(/libjose|libcrypto/)
  end

  it 'is made by configure if libjose is missing, which it says, or on request' do
    core = File.join(Packages.unpack(@folder), 'ext/core')
    said = Packages.without_header('jose') do |path|
      Packages.run('./configure', folder: core, environment: { 'PATH' => path })
    end
    expect(said).to include("libjose is missing: the option 'encryption_keys' will be refused. To have it, install " \
                            'libjose-dev')
    without = Packages.run('make', '--dry-run', folder: core)
    expect(without.scan(/-DSKV_WITHOUT_JOSE|-ljose/).uniq).to eq(['-DSKV_WITHOUT_JOSE'])
    expect(Packages.run('./configure', '--without-jose', folder: core)).not_to include('libjose')
    expect(Packages.run('make', '--dry-run', folder: core)).to eq(without)
    Packages.run('./configure', folder: core)
    with = Packages.run('make', '--dry-run', folder: core)
    expect(with.scan(/-DSKV_WITHOUT_JOSE|-ljose/).uniq).to eq(['-ljose'])
  end
end
