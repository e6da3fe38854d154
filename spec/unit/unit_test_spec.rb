# frozen_string_literal: true

require_relative '../spec_helper'
require 'simpkv/config/site_file'
require 'tmpdir'

# The rules for a process that runs the unit tests of a module, which has not loaded the kit.
RSpec.describe Simpkv::UnitTest do
  def options(backend)
    { 'backend' => 'site', 'backends' => { 'site' => { 'id' => 'x' }.merge(backend) } }
  end

  def file(root)
    options('type' => 'file', 'root_path' => root)
  end

  def ldap(*uris)
    options({ 'type' => 'ldap' }.merge(%w[ldap_uri write_uri].zip(uris).to_h.compact))
  end

  describe '.running?' do
    before { allow(described_class).to receive(:running?).and_call_original }

    # Specs of other files may have loaded both, and their hooks need them afterwards.
    def without_support
      RSpec::Mocks.with_temporary_scope do
        hide_const('Puppet::Test::TestHelper')
        hide_const('RSpec::Puppet')
        yield
      end
    end

    it 'is true if somebody has loaded the support for unit tests of Puppet, rspec-puppet, or the kit' do
      without_support do
        expect(described_class.running?).to be(false)
        allow(described_class).to receive(:kit).and_return(Object.new)
        expect(described_class.running?).to be(true)
      end
      %w[Puppet::Test::TestHelper RSpec::Puppet].each do |name|
        without_support { stub_const(name, Module.new) && expect(described_class.running?).to(be(true)) }
      end
    end
  end

  it 'leaves everything as it is in production' do
    production = ldap('ldaps://ldap1.example.com')
    expect(described_class.redirect(production)).to equal(production)
  end

  describe 'in a unit test without the kit' do
    before { allow(described_class).to receive(:running?).and_return(true) }

    def refused(place)
      raise_error(Simpkv::ConfigError, %r{\A'#{Regexp.escape(place)}' of backend 'site' is not .*'simpkv/rspec'})
    end

    it 'accepts a folder below a temporary one, and below the one of the module' do
      [Dir.tmpdir, '/tmp', '/var/tmp', '/dev/shm', Dir.pwd].each do |folder|
        accepted = file("#{folder}/some/store")
        expect(described_class.redirect(accepted)).to equal(accepted)
      end
    end

    it 'refuses any other folder, also behind a link or dots' do
      Dir.mktmpdir do |folder|
        File.symlink('/srv', "#{folder}/link")
        ['/srv/simpkv', '/tmp', '/tmpfoo/x', "#{folder}/link/simpkv",
         "#{folder}/none/../../../srv/simpkv"].each do |root|
          expect { described_class.redirect(file(root)) }.to refused(root)
        end
      end
    end

    it 'leaves a folder that nobody can make to the backend, which says why' do
      [__FILE__, '/dev/null', '/proc'].each do |above|
        impossible = file("#{above}/simpkv")
        expect(described_class.redirect(impossible)).to equal(impossible)
      end
    end

    it 'takes no folder for temporary because the tests run in /' do
      allow(Dir).to receive(:pwd).and_return('/')
      expect { described_class.redirect(file('/srv/simpkv')) }.to refused('/srv/simpkv')
    end

    it 'accepts servers behind a temporary socket, or on a port of its own of this host' do
      ['ldapi://%2Ftmp%2Fx%2Fldapi', 'ldap://localhost:10389', 'ldaps://127.0.0.1:10636/',
       'ldap://[::1]:3890'].each do |uri|
        expect { described_class.redirect(ldap(uri, uri)) }.not_to raise_error
      end
    end

    it 'refuses any other server, also beside accepted ones' do
      ['ldaps://ldap1.example.com:636', 'ldap://localhost:389', 'ldaps://[::1]:636', 'ldapi:///',
       'ldapi://%2Frun%2Fslapd%2Fldapi', 'ldap://localhost.example.com:10389', 'ldap://127.0.0.1:3890@example.com',
       'ldap://192.0.2.1:10389'].each do |uri|
        own = 'ldap://localhost:10389'
        expect { described_class.redirect(ldap(uri)) }.to refused(uri)
        expect { described_class.redirect(ldap(own, uri)) }.to refused(uri)
        expect { described_class.redirect(ldap([own, uri])) }.to refused(uri)
      end
    end

    # The port 0389 was none of the host's own server.
    it 'refuses a server of production in any spelling' do
      { 'ldap://localhost' => 'ldap://localhost:389', 'ldap://localhost:0389' => 'ldap://localhost:389',
        'LDAPS://[0:0::1]/' => 'ldaps://[::1]:636' }.each do |uri, named|
        expect { described_class.redirect(ldap(uri)) }.to refused(named)
      end
    end

    it 'leaves malformed options to those who say what is wrong with them, and third-party plugins alone' do
      plugin = options('type' => 'consul', 'url' => 'https://consul.example.com')
      [file(7), file(nil), ldap(nil), ldap('http://ldap1.example.com'), plugin].each do |each|
        expect(described_class.redirect(each)).to equal(each)
      end
    end

    it 'finds a file of the site only in a temporary folder, and never the one of the machine' do
      Dir.mktmpdir do |folder|
        file = File.join(folder, 'simpkv.yaml')
        File.write(file, "backends: {}\n")
        stub_const('Simpkv::SiteFile::DEFAULT', file)
        expect(Simpkv::SiteFile.find(['/nonexistent'])).to be_nil
        expect(Simpkv::SiteFile.find([folder])).to eq(file)
      end
      allow(ENV).to receive(:fetch).with('SIMPKV_CONFIG', nil).and_return('/srv/simpkv.yaml')
      expect { Simpkv::SiteFile.find([]) }
        .to raise_error(Simpkv::ConfigError, %r{'/srv/simpkv.yaml' is not a temporary})
    end

    it 'makes no default store below a vardir that is not temporary' do
      expect { Simpkv::DefaultRoot.new('x', ['/var/lib/puppet']) }
        .to raise_error(Simpkv::ConfigError, %r{the vardir '/var/lib/puppet' is not a temporary place})
    end
  end
end
