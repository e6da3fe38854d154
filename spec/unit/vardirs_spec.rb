# frozen_string_literal: true

require 'tmpdir'
require 'fileutils'
require 'simpkv/backend/vardirs'

RSpec.describe Simpkv::Vardirs do
  let(:dir) { Dir.mktmpdir('simpkv-vardirs') }

  before do
    files = { server: File.join(dir, 'conf.d/*.conf'), puppet: File.join(dir, 'puppet.conf') }
    stub_const('Simpkv::Vardirs::CONFIGURATIONS', [files])
    Dir.mkdir(File.join(dir, 'conf.d'))
  end

  after { FileUtils.remove_entry(dir) }

  def puppetserver(text)
    File.write(File.join(dir, 'conf.d/puppetserver.conf'), text)
  end

  def puppet(text)
    File.write(File.join(dir, 'puppet.conf'), text)
  end

  defaults = %w[/opt/puppetlabs/server/data/puppetserver /var/lib/puppetserver]

  it 'are the defaults of the packages without configuration' do
    expect(described_class.server).to eq(defaults)
  end

  ['server-var-dir: /srv/puppet', 'master-var-dir = "/srv/puppet"', 'jruby-puppet.server-var-dir=/srv/puppet',
   'jruby-puppet: { "server-var-dir": "/srv/puppet", x: 1 }', 'server-var-dir : /srv/puppet # ours'].each do |line|
    it "is the one in puppetserver.conf: #{line}" do
      puppetserver("# server-var-dir: /no\n// master-var-dir: /no\njruby-puppet: {\n  #{line}\n}\n")
      puppet("[server]\nvardir = /other\n")
      expect(described_class.server).to eq(['/srv/puppet'])
    end
  end

  it 'is the one of the section server or master in puppet.conf if puppetserver.conf names none' do
    puppetserver("jruby-puppet: {\n}\n")
    %w[server master].each do |section|
      puppet("[main]\nvardir = /main\n[#{section}]\nssldir = /ssl\n  vardir = /srv/puppet # ours\n[agent]\nvardir=/a\n")
      expect(described_class.server).to eq(['/srv/puppet'])
    end
  end

  it "ignores paths with Puppet's variables" do
    puppet("[server]\nvardir = $confdir/var\n")
    expect(described_class.server).to eq(defaults)
  end

  it "includes those of the agent, the server's first" do
    expect(described_class.all).to start_with(*defaults).and include('/opt/puppetlabs/puppet/cache')
  end
end
