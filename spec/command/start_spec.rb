# frozen_string_literal: true

require 'rbconfig'
require_relative 'command_helper'

# How little a process loads is how quickly it starts: bench/command.rb.
RSpec::Matchers.define_negated_matcher(:not_include, :include)

RSpec.describe 'The start of the command' do
  include_context 'with keys in files'

  # Runs the command as the packages of distributions do, without RubyGems.
  #
  # @return [Array(String, Array<String>, Array<String>)] its output, and the names of the files that it loaded: those
  #   of simpkv, and all others
  def started(*arguments, environment: {})
    record = File.join(folder, 'features')
    variables = Unbundled::VARIABLES.merge(
      'SIMPKV_CONFIG' => config, 'LOADED_FEATURES' => record, 'HOME' => folder,
      'RUBYOPT' => "-r#{File.expand_path('../support/loaded_features', __dir__)}", **environment
    )
    out, = Open3.capture2e(variables, RbConfig.ruby, '--disable-gems', Unbundled::SIMPKV.last, *arguments)
    own, others = File.readlines(record, chomp: true).partition { |file| file.include?('/simpkv') }
    [out, *[own, others].map { |files| files.map { |file| File.basename(file, '.*') } }]
  end

  libraries = %w[etc fileutils json openssl optparse ostruct pathname psych rbconfig rubygems securerandom socket]

  it 'loads nothing to print the version (it loaded all that `get` needs)' do
    out, own, others = started('--version')
    expect([out, others & libraries]).to eq(["simpkv #{Simpkv::VERSION}\n", []])
    expect(own.length).to be <= 10
  end

  { 'the list of commands' => %w[help], 'the completion of a command' => %w[complete -- ge],
    'the completion of bash' => ['complete', '--line', 'simpkv secret i'] }.each do |what, words|
    it "loads no command, and no library for keys, for #{what} (it loaded all of them)" do
      out, own, others = started(*words)
      expect([out, others & libraries]).to match([/get|import/, []])
      expect(own).not_to include('simpkv_ext')
      expect(own.length).to be <= 24
    end
  end

  it 'loads no library for the completion of an option (it loaded OptionParser)' do
    out, own, others = started('complete', '--line', 'simpkv get --')
    expect([out, others & libraries]).to match([/--recurse/, []])
    expect(own.length).to be <= 24
  end

  describe 'in a Ruby program' do
    # @param program [String] in Ruby
    # @return [Array<String>] the words of its output, and the names of the files that it has loaded
    def loaded(program)
      features = "puts $LOADED_FEATURES.map { |file| File.basename(file, '.*') }"
      folder_of_code = File.expand_path('../../lib', __dir__)
      Open3.capture2e(Unbundled::VARIABLES, RbConfig.ruby, '-I', folder_of_code, '-rsimpkv',
                      '-e', "#{program}; #{features}", File.join(folder, 'keys')).first.split
    end

    it 'loads the whole library (two threads that used parts of it first waited for each other)' do
      expect(loaded('p Simpkv.constants.select { |name| Simpkv.autoload?(name) }')).to include('[]', 'store', 'secrets')
    end

    it 'loads no tables of Unicode for a directory whose name is ASCII (they took as long as all of simpkv)' do
      options = { 'ldap_uri' => 'ldap://127.0.0.1:1', 'base_dn' => 'ou=keys,dc=simp', 'id' => 'x', 'anonymous' => true }
      expect(loaded("Simpkv::Store.open('ldap', #{options})")).to include('isolation').and(not_include('tables'))
    end
  end

  it 'loads what a `get` needs, and no more (it loaded 198 files, those of secrets and of encryption among them)' do
    simpkv!('put', 'app1/token', 'value') if store
    out, own, others = started('get', 'app1/token')
    expect([out, others & libraries]).to eq(['value', %w[optparse psych]])
    expect(own & %w[audited_store batch completer doctor encrypted_store json_reader secrets status]).to eq([])
    expect(own.length).to be <= 75
  end

  it 'loads the same if `-h` is an operand (it ended with an internal error)' do
    started('put', 'app1/option', '--', '-h')
    started('exec', '--env', 'OPTION=app1/option', '--', 'sh', '-c', "echo $OPTION > #{folder}/seen", '--help')
    expect(File.read(File.join(folder, 'seen'))).to eq("-h\n")
  end

  it 'loads no YAML where a site has no file' do
    out, _, others = started('get', '--vardir', folder, 'app1/token', environment: { 'SIMPKV_CONFIG' => nil })
    expect([out, others & libraries]).to match([/Key not found|there is no folder/, %w[optparse]])
  end

  it 'loads no OpenSSL for the state of a site whose backends name no certificate' do
    _, own, others = started('status', '--parts', 'servers,certificates')
    expect([own, others]).to match([include('certificate_files'), not_include('openssl', 'json')])
  end
end
