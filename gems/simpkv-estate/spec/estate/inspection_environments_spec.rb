# frozen_string_literal: true

require_relative 'inspection_helper'

# All environments share the rules; each has modules of its own, and so actions of its own.
RSpec.describe 'Actions of the site, in several environments,' do
  include EstateSite
  include EstateTermini
  include InspectedNodes

  let(:environments) do
    %w[production testing bare].map { |name| Puppet::Node::Environment.create(name.to_sym, [folder(name)]) }
  end
  let(:calls) { File.join(scratch, 'calls') }

  # @return [String] the modules of an environment
  def folder(environment)
    File.join(scratch, environment.to_s)
  end

  # Adds an action that notes the environment of its file, and its name.
  def add_noting(environment, name)
    file = add_action(name, <<~RUBY, folder: folder(environment))
      PLACE = '#{environment}'
      ->(_certname, _arguments) { File.write('#{calls}', "\#{PLACE} #{name}\\n", mode: 'a') }
    RUBY
    expect(File).to exist(file)
  end

  # @return [Simpkv::Inspection::Rules] which may name all actions of all environments
  def rules
    folders = environments.flat_map(&:modulepath)
    Simpkv::Inspection::Rules.new(estate, Simpkv::Inspection::ActionFiles.new(folders, []).names)
  end

  # @return [Array<String>] the actions that were called since the last time
  def called
    File.readlines(calls, chomp: true).tap { FileUtils.rm(calls) }
  end

  before { environments.first(2).each { |environment| add_noting(environment.name, 'announce') } }

  it 'are those of the requested environment' do
    rule('announce')
    names = %w[production testing testing production]
    names.each { |name| find(environment: environments.find { |each| each.name.to_s == name }) }
    expect(called).to eq(names.map { |name| "#{name} announce" })
  end

  it 'are those of the requested environment for threads of several environments' do
    rule('announce')
    threads = environments.first(2).map do |environment|
      Thread.new { 20.times { Simpkv::Termini::NodeInspection.record(estate, 'web1', environment) { facts('web1') } } }
    end
    threads.each(&:join)
    expect(called.sort).to eq((['production announce'] * 20) + (['testing announce'] * 20))
  end

  it 'are not called for an environment that lacks them, which refuses the rule' do
    announcing = rule('announce')
    2.times do
      find
      expect(failure(environment: environments.last))
        .to match(/the rule #{announcing['uuid']} is invalid: actions\[0\]\.op: there is no action 'announce'/)
    end
    expect(called).to eq(['production announce'] * 2)
  end

  # A server used to keep the actions of all environments that it had ever had.
  it 'are forgotten with their environment' do
    rule('announce')
    environments.first(2).each { |environment| find(environment: environment) }
    FileUtils.rm_r(folder('testing'))
    add_noting('bare', 'announce')
    find(environment: environments.last)
    files = Simpkv::Termini::SiteActions.const_get(:LOADED).keys.grep(/\A#{scratch}/)
    expect(files.map { |file| file.delete_prefix("#{scratch}/")[/\w+/] }).to contain_exactly('production', 'bare')
  end

  # Two environments with different actions used to make each other compile all rules again, at each run of a node.
  it 'let the rules be compiled once for all environments' do
    add_noting('testing', 'page')
    rule('announce')
    expect(Simpkv::Native::Rules).to receive(:new).once.and_call_original
    3.times { environments.first(2).each { |environment| find(environment: environment) } }
    expect(called.uniq).to eq(['production announce', 'testing announce'])
  end
end
