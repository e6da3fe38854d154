# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
require_relative '../../../../spec/support/another_ruby'
require_relative '../support/rule_helpers'

# Nodes that the terminus simpkv finds, and inspects by the rules of the store.
module InspectedNodes
  include RuleHelpers

  def self.included(group)
    group.let(:site_options) { { 'unknown_nodes' => 'discover' } }
    group.let(:environments) do
      %i[production testing].map { |name| Puppet::Node::Environment.create(name, [modules]) }
    end
    group.around do |example|
      loader = Puppet::Environments::Static.new(*environments)
      Puppet.override(environments: loader, current_environment: environments.first) { example.run }
    end
    group.before do
      route(:node, terminus: :simpkv)
      Puppet[:name] = :apply
    end
  end

  # @return [Simpkv::Inspection::Rules] which may name all actions of the site
  def rules
    Simpkv::Inspection::Rules.new(estate, Simpkv::Inspection::ActionFiles.new([modules], [Puppet[:libdir]]).names)
  end

  def facts(certname, more = {})
    Puppet::Node::Facts.new(certname, { 'hostname' => certname, 'os' => { 'name' => 'Debian' } }.merge(more))
  end

  def find(certname = 'web1', **more)
    Puppet::Node.indirection.find(certname, environment: environments.first, facts: facts(certname), **more)
  end

  # @return [Puppet::Resource::Catalog] of a node that the terminus finds
  def compile_found(certname = 'web1', manifest = '')
    node = find(certname)
    Puppet[:code] = manifest
    Puppet.override(current_environment: node.environment) { Puppet::Parser::Compiler.compile(node) }
  ensure
    Puppet[:code] = ''
  end

  # Adds an action of the site to a module.
  #
  # @return [String] the file
  def add_action(name, source, folder: modules)
    file = File.join(folder, 'site', 'lib', 'puppet_x', 'simpkv', 'rule_actions', "#{name}.rb")
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, source)
    file
  end

  # @return [String] the message of the error, which shows no secret in its backtrace
  def failure(certname = 'web1', **more)
    find(certname, **more)
    raise 'it was found'
  rescue Puppet::Error => e
    expect(e.cause).to be_nil
    e.message
  end

  def logged(level)
    messages.select { |message| message.level == level }.map(&:message)
  end
end

RSpec.shared_examples 'inspected nodes' do
  it 'are discovered and classified when the compiler first finds them' do
    add_manifest('role::web', 'class role::web($size = 1) { notify { "$size $role $dc": } }')
    rule('set-attribute', '/classes/role::web', { 'size' => 5 },
         conditions: [condition('matches', '{inventory.hostname}', 'web\d+')])
    rule('set-attribute', '/parameters/role', 'web')
    rule('set-attribute', '/parameters/dc', '{inventory.os.name}')
    rule('set-attribute', '/environment', 'testing')
    2.times do
      catalog = compile_found
      expect(titles(catalog, 'Notify')).to eq(['5 web Debian'])
      expect(catalog.environment).to eq('testing')
    end
    expect(estate.nodes.get('web1')).to include('auto_discovered' => true, 'environment' => 'testing',
                                                'classes' => { 'role::web' => { 'size' => 5 } })
  end

  it 'are refused with the message of the rule' do
    refusing = rule('fail', 'no {inventory.os.name} here', description: 'known systems')
    expect(failure).to eq("simpkv estate: could not find the node 'web1': refused by the rule " \
                          "#{refusing['uuid']} ('known systems'): no Debian here")
    expect(estate.nodes.all).to eq({})
  end

  it 'follow a rule that changes' do
    changed = rule('set-attribute', '/parameters/role', 'web')
    expect(find.parameters).to include('role' => 'web')
    actions = [{ 'op' => 'set-attribute', 'args' => %w[/parameters/role db] }]
    rules.update(changed['uuid'], { 'actions' => actions })
    expect(find.parameters).to include('role' => 'db')
  end

  # Each process has connections of its own.
  it 'get one record if two compilers discover them at once' do
    rule('extend-attribute', '/parameters/tags', 'new')
    rule('set-attribute', '/parameters/host', '{inventory.hostname}')
    program = <<~RUBY
      require 'simpkv/inspection'
      estate = Simpkv::Estate.load
      $stdin.read
      records = %w[web1 web2 web3].map { |name| Simpkv::Inspection::Inspector.of(estate, []).perform(name, { 'hostname' => name }).record }
      puts Simpkv::Native.generate(records)
    RUBY
    processes = Array.new(2) { IO.popen(AnotherRuby.command('-e', program), 'r+') }
    processes.each(&:close_write)
    records = processes.map { |process| JSON.parse(process.read) }
    expect(records.uniq).to eq([%w[web1 web2 web3].map { |name| estate.nodes.get(name) }])
    expect(records.first.map { |record| record['parameters'] })
      .to eq(%w[web1 web2 web3].map { |name| { 'tags' => %w[new], 'host' => name } })
  ensure
    processes&.each(&:close)
  end
end
