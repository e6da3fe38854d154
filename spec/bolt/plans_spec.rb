# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative '../support/bolt'

# A project with two plans.
class BoltProject
  # Each example checks one statement. An error of a function ends a plan; `catch_errors` does not catch it.
  PLANS = { 'keys' => <<-PUPPET, 'refused' => <<-PUPPET }.freeze
    plan demo::keys(String $root) {
      $staging = { 'bolt_environment' => 'staging' }
      simpkv::put('from/plan', 'é', { 'n' => 1 }, $staging)
      simpkv::put('from/plan', 'for all', {}, { 'global' => true })

      apply('localhost') {
        $production = { 'bolt_environment' => 'production' }
        $site = lookup('simpkv::options')
        simpkv::put('from/apply', Sensitive('hush'), {}, $production)
        file { "${root}/compiled": content => simpkv::get('from/apply', $production)['value'] }
        file { "${root}/deferred": content => Deferred('dig', [Deferred('simpkv::get', ['from/apply', $site]), 'value']) }
      }
      $refused = apply('localhost', _catch_errors => true) { simpkv::put('k', 1) }

      return({ 'found' => simpkv::get('from/plan', $staging), 'refused' => $refused.first.error.message })
    }
  PUPPET
    plan demo::refused(String $root) {
      simpkv::put('k', 1)
    }
  PUPPET

  attr_reader :root

  def initialize
    @root = Dir.mktmpdir('simpkv-bolt')
    %w[modules plans].each { |folder| Dir.mkdir("#{root}/#{folder}") }
    File.symlink(Bolt::MODULE, "#{root}/modules/simpkv")
    PLANS.each { |name, plan| File.write("#{root}/plans/#{name}.pp", plan) }
    configuration.each { |name, content| File.write("#{root}/#{name}", content.to_yaml) }
  end

  # @return [Hash] the result of the plan, or the error that ended it
  def run(plan)
    Bolt.run('plan', 'run', "demo::#{plan}", "root=#{root}", folder: root,
                                                             environment: { 'RUBYLIB' => "#{Bolt::MODULE}/lib" })
  end

  def close
    FileUtils.remove_entry(root)
  end

  private

  def configuration
    backends = { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => "#{root}/store" } }
    { 'bolt-project.yaml' => { 'name' => 'demo' },
      'hiera.yaml' => { 'version' => 5, 'hierarchy' => [{ 'name' => 'all', 'path' => 'all.yaml' }],
                        'defaults' => { 'datadir' => '.', 'data_hash' => 'yaml_data' } },
      'all.yaml' => { 'simpkv::options' => { 'backends' => backends } } }
  end
end

RSpec.describe 'A Bolt plan' do
  before(:all) do
    @project = BoltProject.new
    @answer = @project.run('keys')
  end
  after(:all) { @project&.close }

  let(:root) { @project.root }

  def stored(environment)
    Dir.glob('**/*', base: "#{root}/store/#{environment}").sort
  end

  it 'stores keys in the environment that an option names' do
    expect(@answer['found']).to eq('value' => 'é', 'metadata' => { 'n' => 1 })
    expect(stored('environments/staging')).to eq(%w[from from/plan])
  end

  it 'stores global keys without naming an environment' do
    expect(File.read("#{root}/store/globals/from/plan")).to include('for all')
  end

  it 'stores keys of an apply block in the environment that an option names' do
    expect(File.read("#{root}/compiled")).to eq('hush')
    expect(stored('environments/production')).to eq(%w[from from/apply])
  end

  it 'applies Deferred calls, which belong to the environment production' do
    expect(File.read("#{root}/deferred")).to eq('hush')
  end

  it 'is refused other keys, also in an apply block, because Bolt would use an environment of its own for them' do
    expect(@project.run('refused')['msg']).to include("environment 'bolt' is made up by Bolt: set 'bolt_environment'")
    expect(@answer['refused']).to include("environment 'bolt_catalog' is made up by Bolt: set 'bolt_environment'")
    expect(Dir.children("#{root}/store/environments").sort).to eq(%w[production staging])
  end
end
