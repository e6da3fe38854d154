# frozen_string_literal: true

require 'open3'
require 'rbconfig'
require_relative 'command_helper'

# The gem simpkv alone, as `gem install simpkv` brings it: without the folders of the other gems.
RSpec.shared_context 'with the gem simpkv alone' do
  let(:sections) { {} }
  let(:config) do
    File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.merge(sections).to_yaml) }
  end

  # @return [Array(String, String, Integer)] the output, the messages, and the exit code
  def alone(*arguments)
    library = File.expand_path('../../lib', __dir__)
    program = "require 'simpkv/cli'; exit Simpkv::Cli.run(ARGV)"
    # RubyGems would find a gem that this machine has.
    variables = Unbundled::VARIABLES.merge('SIMPKV_CONFIG' => config, 'GEM_HOME' => folder, 'GEM_PATH' => folder)
    out, err, status = Open3.capture3(variables, RbConfig.ruby, '-I', library, '-e', program, '--', *arguments)
    [out, err, status.exitstatus]
  end

  def missing(what, gem)
    "simpkv: #{what} needs the gem #{gem}, which is not installed: #{Simpkv::Gems.command} install #{gem} -v " \
      "#{Simpkv::VERSION} ('puppetserver gem install' for puppetserver)\n"
  end
end

RSpec.describe 'The command with the gem simpkv alone' do
  include_context 'with keys in files'
  include_context 'with the gem simpkv alone'

  it 'stores, reads and examines keys' do
    expect(alone('put', 'app1/k', 'a value')).to eq(['', '', 0])
    expect(alone('get', 'app1/k')).to eq(['a value', '', 0])
    out, _, code = alone('doctor', '--read-only', '-o', 'json')
    expect([out.lines.grep(/"state":"error"/), code]).to eq([[], 0])
    expect(alone('status', '--parts', 'servers').last).to eq(0)
  end

  # `simpkv status` would only have said that the store is missing.
  it 'tells the state of a site without a store, as it does with the other gems' do
    expect(alone('status', '-o', 'json')).to match([/"state":/, '', simpkv('status', '-o', 'json').code])
  end

  it 'shows the commands that it has' do
    out, = alone('--help')
    expect(out).to match(/^ +put /).and match(/^ +doctor /)
    expect(out).not_to match(/^ +(?:node|nodes|rule|access|query|serve|export|ping) /)
  end

  { %w[node show web1] => 'simpkv-estate', %w[rule list] => 'simpkv-estate', %w[nodes] => 'simpkv-estate',
    %w[import-puppetdb] => 'simpkv-estate', %w[copy default default2] => 'simpkv-operations',
    %w[keys list] => 'simpkv-operations', %w[access plan] => 'simpkv-access', %w[serve] => 'simpkv-server',
    ['query', 'nodes { }'] => 'simpkv-server' }.each do |words, gem|
    it "says that `simpkv #{words.first}` is in the gem #{gem}" do
      expect(alone(*words)).to eq(['', missing("simpkv #{words.first}", gem), 78])
    end
  end

  # The messages named the words that are there, as for a misspelt one.
  it 'says which gem has a part of the state, or a folder that is to be prepared' do
    expect(alone('status', '--parts', 'servers,nodes'))
      .to eq(['', missing("the part 'nodes' of the state", 'simpkv-estate'), 78])
    expect(alone('init', '--only', 'estate')).to eq(['', missing("the folder 'globals/estate'", 'simpkv-estate'), 78])
  end

  { 'estate' => 'simpkv-estate', 'access' => 'simpkv-access', 'server' => 'simpkv-estate' }.each do |name, gem|
    context "with the section '#{name}' in its options" do
      let(:sections) { { name => {} } }

      let(:message) { missing("the section '#{name}' of the options", gem) }

      it 'refuses to tell the state of the site' do
        expect(alone('status')).to eq(['', message, 78])
      end

      it 'is told so by doctor' do
        store.put('globals/a', '{"value":1}')
        out, _, code = alone('doctor', '--read-only')
        expect([out, code]).to match([include("PROBLEM  configuration: #{message.delete_prefix('simpkv: ')}"), 69])
      end
    end
  end

  # The estate needs no section. `simpkv status` left its parts out, and said that nothing needs attention.
  it 'tells nothing of a site whose store has documents of a gem that is missing' do
    store.put('globals/estate/inventory', '{}')
    expect(alone('status')).to eq(['', missing("the folder 'globals/estate'", 'simpkv-estate'), 78])
  end

  it 'reads keys with a section of a gem that is missing, in a file of Hiera, too' do
    simpkv!('put', 'app1/k', 'a value') if store
    File.write(config, { 'simpkv::options' => { 'backends' => backends }, 'estate' => { 'reports' => 9 } }.to_yaml)
    expect(alone('get', 'app1/k')).to eq(['a value', '', 0])
  end

  it 'does not take the documents of an estate for keys' do
    store.put('globals/estate/inventory', '{}')
    expect(alone('put', '-g', 'estate/inventory', 'a value'))
      .to eq(['', missing("the folder 'globals/estate'", 'simpkv-estate'), 78])
  end
end

RSpec.describe 'simpkv doctor with the gem simpkv alone' do
  include_context 'with keys in a directory', Slapd, 'plain'
  include_context 'with the gem simpkv alone'

  it 'says which examinations of a directory it leaves out' do
    out, _, code = alone('doctor', '--read-only')
    said = missing('the examination of foreign entries', 'simpkv-access').delete_prefix('simpkv: ')
    expect([out, code]).to match([include("?        configuration: #{said}"), 0])
  end
end
