# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'
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

  # @return [Simpkv::Rules] which may name all actions of the site
  def rules
    Simpkv::Rules.new(estate, Simpkv::Estate::RuleActions.new([modules], [Puppet[:libdir]]).names)
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
  def add_action(name, source, module_name: 'site')
    file = File.join(modules, module_name, 'lib', 'puppet_x', 'simpkv', 'rule_actions', "#{name}.rb")
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
