# frozen_string_literal: true

require_relative 'functions_helper'

RSpec.describe 'simpkv::support::load', type: :puppet_function do
  let(:loader) { File.join(FUNCTIONS_MODULEPATH, 'simpkv', 'lib', 'puppet_x', 'simpkv', 'loader.rb') }
  let(:adapter_file) { File.join(File.dirname(loader), 'simpkv.rb') }

  def pretend(file, content)
    allow(File).to receive(:exist?).and_call_original
    allow(File).to receive(:read).and_call_original
    allow(File).to receive(:exist?).with(file).and_return(!content.nil?)
    allow(File).to receive(:read).with(file).and_return(content)
  end

  it 'gives the catalog a method simpkv, which answers the adapter' do
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

  it 'says which file is missing' do
    pretend(loader, nil)
    is_expected.to run.with_params.and_raise_error(
      LoadError, "simpkv Internal Error: unable to load #{loader}: File not found"
    )
  end

  it 'says when the file of the adapter is missing' do
    pretend(adapter_file, nil)
    is_expected.to run.with_params.and_raise_error(
      LoadError, "simpkv Internal Error: unable to load #{adapter_file}: File not found"
    )
  end

  it 'says what is wrong with a file that is no Ruby, and loads cleanly when that is repaired' do
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
  # As it is where the gem is not installed.
  def without_gem
    allow(subject.func).to receive(:gem).with('simpkv').and_raise(Gem::MissingSpecError.new('simpkv', '>= 0'))
    allow(subject.func).to receive(:require).with('simpkv').and_raise(LoadError, 'cannot load such file -- simpkv')
    hide_const('Simpkv::Store')
  end

  it { is_expected.to run.with_params }

  it 'says how to install the gem, here and in puppetserver, when it is missing' do
    without_gem
    is_expected.to run.with_params.and_raise_error(
      LoadError, /cannot load such file -- simpkv.*gem install simpkv.*puppetserver gem install simpkv.*restart/
    )
  end

  it 'says the same when the gem is too old for the module' do
    stub_const('Simpkv::API', 0)
    is_expected.to run.with_params.and_raise_error(
      LoadError, /#{Regexp.escape(Simpkv::VERSION)} is too old for this module: .*puppetserver gem install simpkv/
    )
  end

  it 'says to update the module, or to install an older gem, when the gem is too new for the module' do
    stub_const('Simpkv::OLDEST_API', 2)
    stub_const('Simpkv::API', 3)
    is_expected.to run.with_params.and_raise_error(
      LoadError, /too new for this module\. Update the module.*interfaces 2 to 3, the module needs 1\. .*gem install/
    )
  end

  it 'is content with a newer gem that still supports the module' do
    stub_const('Simpkv::API', 3)
    is_expected.to run.with_params
  end
end
