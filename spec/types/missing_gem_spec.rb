# frozen_string_literal: true

require_relative 'puppet_process'
require_relative 'types_helper'

RSpec.describe 'The types without the gem' do
  include_context 'with keys as resources'
  include PuppetProcess

  let(:modules) { installed_module }

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
    <<~PUPPET
      exec { 'install the gem':
        provider => shell,
        command  => '#{installing('simpkv', File.join(PuppetProcess::PROJECT, 'lib'))}',
        before   => [Simpkv_folder['app1'], Simpkv_key['app1/a'], Simpkv_key['app1/b']],
      }
    PUPPET
  end

  it 'work in the same run after a resource that installs it' do
    output, code = puppet('apply', '--detailed-exitcodes', '-e', install + manifest, gem: false, modules: modules)
    expect([code, keys]).to eq([2, %w[app1/a]]), output
  end

  # It said that such a gem was too old.
  it 'name the file that an installed gem does not load' do
    library = File.join(home, 'lib')
    FileUtils.mkdir(library)
    File.write(File.join(library, 'simpkv.rb'), <<~RUBY)
      module Simpkv; VERSION = '#{Simpkv::VERSION}'; API = OLDEST_API = #{Simpkv::API}; class Store; end; end
    RUBY
    system(installing('simpkv', library), exception: true)
    output, = puppet('apply', '-e', manifest, gem: false, modules: modules)
    expect(output).to match(/does not load the resource types: cannot load such file -- simpkv.resources\. Install it/)
  end
end

RSpec.describe 'The module with the gem simpkv alone' do
  include_context 'with keys as resources'
  include PuppetProcess

  before { system(installing('simpkv', File.join(PuppetProcess::PROJECT, 'lib')), exception: true) }

  def apply_alone(*arguments)
    puppet('apply', '--detailed-exitcodes', *arguments, gem: false, modules: installed_module)
  end

  it 'fails the types of another gem, which it names, and applies the rest of the catalog' do
    output, code = apply_alone('-e', <<~PUPPET)
      simpkv_user { 'one': password => 'file:/etc/simpkv/one.pw' }
      simpkv_role { 'dev': grants => { prefixes => ['globals'], rights => ['read'] } }
      simpkv_role_binding { 'devs': ensure => absent }
      simpkv_key { 'app1/a': value => 'a value' }
    PUPPET
    expect([code, keys]).to eq([6, %w[app1/a]]), output
    said = output.scan(/^Error: .*: the type (\w+) needs the gem simpkv-access, which .*: \S+ install simpkv-access -v/)
    expect(said.flatten.uniq).to match_array(%w[simpkv_user simpkv_role simpkv_role_binding])
  end

  def class_with(parameter)
    options = "{ backends => { a => #{as_puppet(backend)} } }"
    "class { 'simpkv': install_from => 'nothing', options => #{options}, #{parameter} }"
  end

  it 'writes options of a section whose gem the class may be about to install, and warns' do
    output, code = apply_alone('--noop', '-e', class_with('estate => { wrong => 1 }'))
    expect(code).to eq(0), output
    expect(output).to match(/Warning: .*not checked: .*section 'estate' of the options needs the gem simpkv-estate, /)
  end

  # It said so to those only who run Puppet with --debug.
  it 'warns if the gem cannot be loaded to check the options' do
    library = File.join(home, 'lib')
    FileUtils.mkdir_p(File.join(library, 'simpkv/config'))
    File.write(File.join(library, 'simpkv/config/site_check.rb'), "require 'absent/part'\n")
    FileUtils.rm_r(File.join(home, 'gems'))
    system(installing('simpkv', library), exception: true)
    output, code = apply_alone('--noop', '-e', class_with('owner => root'))
    expect(code).to eq(0), output
    expect(output).to include('Warning: simpkv.yaml: the options are not checked: cannot load such file -- absent/part')
  end
end
