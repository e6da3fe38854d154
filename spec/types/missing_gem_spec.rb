# frozen_string_literal: true

require_relative 'puppet_process'
require_relative 'types_helper'

RSpec.describe 'The types without the gem' do
  include_context 'with keys as resources'
  include PuppetProcess

  # The module as `puppet module install` makes it.
  let(:modules) { File.join(home, 'modules') }

  before do
    target = File.join(modules, 'simpkv/lib')
    FileUtils.mkdir_p(File.join(target, 'puppet'))
    %w[type provider feature functions].each do |name|
      folder = File.join(PuppetProcess::PROJECT, 'lib/puppet', name)
      FileUtils.cp_r(folder, File.join(target, 'puppet')) if Dir.exist?(folder)
    end
    FileUtils.cp_r(File.join(PuppetProcess::PROJECT, 'lib/puppet_x'), target)
  end

  let(:manifest) { <<~PUPPET }
    simpkv_folder { 'app1': ensure => present, purge => true }
    simpkv_key { 'app1/a': value => 'pl4nted-value' }
    simpkv_key { 'app1/b': ensure => absent }
    notify { 'the rest is applied': }
  PUPPET

  it 'fail with a message that says how to install it, and the rest of the catalog is applied' do
    fill('app1/old' => { value: 1 })
    output, code = puppet('apply', '--detailed-exitcodes', '-e', <<~PUPPET + manifest, gem: false, modules: modules)
      simpkv_user { 'one': password => 'file:/etc/simpkv/one.pw' }
      simpkv_role { 'dev': grants => { prefixes => ['globals'], rights => ['read'] } }
      simpkv_role_binding { 'devs': ensure => absent }
    PUPPET
    expect(code).to eq(6), output
    said = output.scan(/^Error: .*(Simpkv_\w+\[.*?\]): .*the gem 'simpkv' is not installed .*'puppet resource package/)
    expect(output).to match(/ simpkv \S+ provider=gem'/) # Its provider `puppet_gem` is not functional on Debian.
    expect(said.flatten).to match_array(%w[Simpkv_folder[app1] Simpkv_key[app1/a] Simpkv_key[app1/b] Simpkv_user[one]
                                           Simpkv_role[dev] Simpkv_role_binding[devs]])
    expect(output).to include('Notify[the rest is applied]')
    expect(output).not_to include('pl4nted-')
    expect(keys).to eq(%w[app1/old])
  end

  # The stand-in for a package.
  def install
    version = Simpkv::VERSION
    gems = File.join(home, 'gems')
    <<~PUPPET
      exec { 'install the gem':
        provider => shell,
        command  => 'mkdir -p #{gems}/specifications #{gems}/gems/simpkv-#{version} &&
                     ln -s #{PuppetProcess::PROJECT}/lib #{gems}/gems/simpkv-#{version}/lib &&
                     cp #{home}/simpkv.gemspec #{gems}/specifications/simpkv-#{version}.gemspec',
        before   => [Simpkv_folder['app1'], Simpkv_key['app1/a'], Simpkv_key['app1/b']],
      }
    PUPPET
  end

  it 'work in the same run after a resource that installs it' do
    File.write(File.join(home, 'simpkv.gemspec'), <<~RUBY)
      Gem::Specification.new('simpkv', '#{Simpkv::VERSION}') { |gem| gem.summary = gem.author = 'simpkv' }
    RUBY
    output, code = puppet('apply', '--detailed-exitcodes', '-e', install + manifest, gem: false, modules: modules)
    expect([code, keys]).to eq([2, %w[app1/a]]), output
  end
end
