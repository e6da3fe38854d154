# frozen_string_literal: true

require_relative '../support/rspec_puppet'

RSpec.describe 'simpkv::support::load', type: :puppet_function do
  let(:loader) { File.join(RspecPuppet::MODULES, 'simpkv', 'lib', 'puppet_x', 'simpkv', 'loader.rb') }
  let(:adapter_file) { File.join(File.dirname(loader), 'simpkv.rb') }

  def pretend(file, content)
    allow(File).to receive(:exist?).and_call_original
    allow(File).to receive(:read).and_call_original
    allow(File).to receive(:exist?).with(file).and_return(!content.nil?)
    allow(File).to receive(:read).with(file).and_return(content)
  end

  it 'gives the catalog a method simpkv, which returns the adapter' do
    is_expected.to run.with_params
    expect(catalogue.simpkv.backends).to eq(%w[file ldap memory])
    expect(catalogue.simpkv.class.name).to be_nil
  end

  it 'loads once a catalog' do
    subject.execute
    adapter = catalogue.simpkv
    subject.execute
    expect(catalogue.simpkv).to equal(adapter)
  end

  # The loader is evaluated in the catalog. It took the class of the terminus for the gem, and raised a LoadError.
  it 'loads the gem where the terminus Puppet::Resource::Catalog::Simpkv is loaded' do
    stub_const('Puppet::Resource::Catalog::Simpkv', Class.new)
    is_expected.to run.with_params
  end

  it 'names the missing file' do
    pretend(loader, nil)
    is_expected.to run.with_params.and_raise_error(
      LoadError, "simpkv Internal Error: unable to load #{loader}: File not found"
    )
  end

  it 'reports a missing file of the adapter' do
    pretend(adapter_file, nil)
    is_expected.to run.with_params.and_raise_error(
      LoadError, "simpkv Internal Error: unable to load #{adapter_file}: File not found"
    )
  end

  it 'reports the syntax error of a file, and loads it once it is repaired' do
    [loader, adapter_file].each do |file|
      pretend(file, "if true\n")
      is_expected.to run.with_params.and_raise_error(
        LoadError, /simpkv Internal Error: unable to load #{Regexp.escape(file)}: .*syntax error/m
      )
    end
    allow(File).to receive(:read).and_call_original
    is_expected.to run.with_params
    expect(catalogue.simpkv.backends).to eq(%w[file ldap memory])
  end
end

RSpec.describe 'simpkv::support::native', type: :puppet_function do
  # As on a machine without the gem.
  def without_gem
    allow(subject.func).to receive(:gem).with('simpkv').and_raise(Gem::MissingSpecError.new('simpkv', '>= 0'))
    allow(subject.func).to receive(:require).with('simpkv').and_raise(LoadError, 'cannot load such file -- simpkv')
    hide_const('Simpkv::Store')
  end

  it { is_expected.to run.with_params }

  it 'tells how to install a missing gem, here and in puppetserver' do
    without_gem
    is_expected.to run.with_params.and_raise_error(
      LoadError, /cannot load such file -- simpkv.*gem install simpkv.*puppetserver gem install simpkv.*restart/
    )
  end

  it 'says the same if the gem is too old for the module' do
    stub_const('Simpkv::API', 0)
    is_expected.to run.with_params.and_raise_error(
      LoadError, /#{Regexp.escape(Simpkv::VERSION)} is too old for this module: .*puppetserver gem install simpkv/
    )
  end

  it 'advises to update the module or to install an older gem, if the gem is too new' do
    api = Simpkv::API
    stub_const('Simpkv::OLDEST_API', api + 1)
    stub_const('Simpkv::API', api + 2)
    interfaces = "interfaces #{api + 1} to #{api + 2}, the module needs #{api}"
    is_expected.to run.with_params.and_raise_error(
      LoadError, /too new for this module\. Update the module.*#{interfaces}\. .*gem install/
    )
  end

  it 'accepts a newer gem that still supports the module' do
    stub_const('Simpkv::API', Simpkv::API + 1)
    is_expected.to run.with_params
  end
end
