# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv/config/site_check'
require 'tmpdir'
require 'yaml'

RSpec.describe Simpkv::SiteFile do
  let(:folder) { Dir.mktmpdir('site') }
  let(:default) { File.join(folder, 'etc/simpkv.yaml') }
  let(:confdirs) { %w[first second].map { |name| File.join(folder, name) } }

  before do
    FileUtils.mkdir_p([File.dirname(default), *confdirs])
    stub_const('Simpkv::SiteFile::DEFAULT', default)
    @variable = ENV.delete('SIMPKV_CONFIG')
  end

  after do
    ENV['SIMPKV_CONFIG'] = @variable
    FileUtils.remove_entry(folder)
  end

  def write(file, text = "backends: {}\n")
    File.write(file, text)
    file
  end

  describe '.find' do
    it 'prefers the file of SIMPKV_CONFIG, also if that does not exist' do
      write(default)
      ENV['SIMPKV_CONFIG'] = '/nothing.yaml'
      expect(described_class.find(confdirs)).to eq('/nothing.yaml')
    end

    it 'finds the default file, else simpkv.yaml in the first confdir that has one' do
      expect(described_class.find(confdirs)).to be_nil
      second = write(File.join(confdirs.last, 'simpkv.yaml'))
      expect(described_class.find(confdirs)).to eq(second)
      first = write(File.join(confdirs.first, 'simpkv.yaml'))
      expect(described_class.find(confdirs)).to eq(first)
      write(default)
      expect(described_class.find(confdirs)).to eq(default)
    end

    it "looks into the confdirs of Puppet's own packages and of Debian's, and for users into their own" do
      allow(Process).to receive(:euid).and_return(0)
      stub_const('Simpkv::SiteFile::CONFDIRS', confdirs)
      second = write(File.join(confdirs.last, 'simpkv.yaml'))
      expect(described_class.find).to eq(second)
      File.delete(second)

      allow(Process).to receive(:euid).and_return(1000)
      allow(Dir).to receive(:home).and_return(folder)
      FileUtils.mkdir_p(File.join(folder, '.puppetlabs/etc/puppet'))
      own = write(File.join(folder, '.puppetlabs/etc/puppet/simpkv.yaml'))
      expect(described_class.find).to eq(own)
    end

    it 'refuses an empty SIMPKV_CONFIG' do
      ENV['SIMPKV_CONFIG'] = ''
      expect { described_class.find(confdirs) }.to raise_error(Simpkv::ConfigError, /SIMPKV_CONFIG is empty/)
    end
  end

  describe '.load' do
    # A message that had the name in it as a word did not get it.
    it 'names the file in each error of the options, once' do
      allow(described_class).to receive_messages(find: 'option', read: {})
      errors = [Simpkv::ConfigError.new('unknown option'), Simpkv::ConfigError.new('none').naming('option')]
      messages = errors.map do |error|
        described_class.load([]) { raise error }
      rescue Simpkv::ConfigError => e
        e.message
      end
      expect(messages).to eq(['option: unknown option', 'option: none'])
    end
  end

  describe '.read' do
    it 'reads options, alone or as Hiera has them' do
      options = { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x' } }, 'estate' => { 'reports' => 3 } }
      [options, { 'simpkv::options' => options, 'a::b' => 1 }].each do |data|
        expect(described_class.read(write(default, data.to_yaml))).to eq(options)
      end
    end

    # The second section used to replace the first one, with its rights and revocation lists.
    it 'refuses a name that is there twice, except in a file of Hiera' do
      twice = "backends: {}\nserver: {tls_crl: /a}\nserver: {bind: []}\n"
      file = write(default, twice)
      expect { described_class.read(file) }
        .to raise_error(Simpkv::ConfigError, /\A#{file}: it has the same name twice in the Hash in line 1\z/)
      hiera = "a::b: 1\na::b: 2\nsimpkv::options: {backends: {}}\n"
      expect(described_class.read(write(default, hiera))).to eq('backends' => {})
      own = "estate: {}\nestate: {}\nsimpkv::options: {backends: {}}\n"
      expect { described_class.read(write(default, own)) }.to raise_error(Simpkv::ConfigError, /the same name twice/)
    end

    it 'names the file and the line of a mistake, and quotes nothing' do
      file = write(default, "backends:\n  pl4nted: [\n")
      expect { described_class.read(file) }
        .to raise_error(Simpkv::ConfigError, /\A#{file}: it is neither YAML nor JSON: see line \d+\z/)
    end
  end
end

RSpec.describe Simpkv::SiteCheck do
  default = { 'type' => 'file', 'id' => 'site' }

  def check(site)
    described_class.check(site.to_yaml, 'a.yaml', %w[file ldap own])
  end

  it 'accepts backends of all types, and needs no default backend' do
    check('backends' => { 'a' => default, 'b' => { 'type' => 'own', 'id' => 'b', 'any' => 1 } }, 'softfail' => true)
  end

  backends = { 'backends' => { 'default' => default } }
  { { 'backend' => 'a' } => /\Aa.yaml: there is neither 'simpkv::options' nor 'backends'/,
    backends.merge('backend' => 'b') => /No simpkv backend 'b'/,
    { 'backends' => { 'default' => default, 'b' => { 'type' => 'nix', 'id' => 'a' } } } => /plugin 'nix' not available/,
    { 'backends' => { 'default' => default, 'b' => default.merge('id' => 'b', 'root_pth' => '/a') } } =>
      /\Aa.yaml: Unknown option 'root_pth' of simpkv backend 'b': did you mean 'root_path'\?\z/,
    backends.merge('sofftail' => true) => /Unknown option 'sofftail'/,
    backends.merge('softfail' => 'pl4nted') => /'softfail' .*must be true or false/ }
    .each do |site, message|
    it "refuses #{site}, and shows no value" do
      expect { check(site) }.to raise_error(Simpkv::ConfigError) { |error|
        expect(error.message).to match(message)
        expect(error.message).not_to include('pl4nted')
      }
    end
  end
end
