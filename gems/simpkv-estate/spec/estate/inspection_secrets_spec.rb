# frozen_string_literal: true

require 'cgi'
require_relative 'inspection_helper'

# Searches everything that somebody can read, after inspections that succeed and inspections that fail.
RSpec.describe 'What sensitive rules hold' do
  include EstateSite
  include EstateTermini
  include InspectedNodes

  # By the place of each in the rules.
  secrets = { condition: 'pl4nted-c0ndition', action: 'pl4nted-4ction', path: 'pl4nted-p4th',
              message: 'pl4nted-m3ss4ge', argument: 'pl4nted-4rgument', fact: 'pl4nted-f4ct', record: 'pl4nted-r3cord' }

  let(:said) { [] }
  let(:secret) { ->(name) { secrets.fetch(name) } }

  before do
    Puppet::Util::Log.level = :debug
    estate.nodes.declare('web1', 'parameters' => { 'declared' => secrets[:record] },
                                 'sensitive' => ['/parameters/declared'])
  end

  def facts(certname, more = {})
    super(certname, { 'vault' => secret[:fact] }.merge(more))
  end

  # The secret, and its forms in encodings, dumps and escapes.
  def spellings(secret)
    [secret, [secret].pack('m0').delete('='), secret.unpack1('H*'), secret.reverse, CGI.escape(secret)].uniq
  end

  # Finds the node, and keeps all that its error says.
  #
  # @return [Puppet::Node, Puppet::Error]
  def attempt
    find
  rescue Puppet::Error => e
    chain = [e]
    chain << chain.last.cause while chain.last.cause
    said.concat(chain.flat_map { |each| [each.message, each.inspect, *each.backtrace] })
    said << e.full_message(highlight: false)
    e
  end

  def sensitive_rule(action, *arguments, **more)
    conditions = [condition('!eq', '{inventory.vault}', secret[:condition])]
    rule(action, *arguments, sensitive: true, conditions: conditions, **more)
  end

  # @return [Array<String>] the documents of the estate, less those that are meant to hold these values
  def outcomes
    files.reject { |path, _| path.start_with?('nodes/', 'rules/') }.values
  end

  def expect_no_leak(secrets)
    all = [*said, texts, *outcomes].join("\n").b
    found = secrets.select { |_, secret| spellings(secret).any? { |spelling| all.include?(spelling) } }
    expect(found.keys).to eq([])
  end

  it 'is in no message, log line, backtrace, catalog message or stored outcome of inspections that succeed' do
    sensitive_rule('set-attribute', '/parameters/key', "#{secrets[:action]} {inventory.vault}", priority: 9)
    sensitive_rule('set-attribute', "/parameters/deep/#{secrets[:path]}", ['{inventory.vault}'], priority: 8)
    sensitive_rule('set-plugin-data', '/seen', '{inventory}', phase: 'early')
    sensitive_rule('log', "#{secrets[:message]} {inventory.vault}", 'notice')
    rule('log', '{plugin_data} {node}', 'notice')
    rule('set-attribute', '/parameters/copies', ['{plugin_data}', '{node.parameters}', '{node.parameters[key]}'])
    2.times { said.concat(titles(compile_found('web1', 'notify { "$declared $key $deep": }'), 'Notify') + outcomes) }
    expect(find.parameters['key'].unwrap).to eq("#{secrets[:action]} #{secrets[:fact]}")
    said << Simpkv::Inspection::Rules.of(estate).list(detail: true).to_s << find.to_s
    inspector = Simpkv::Inspection::Inspector.of(estate, [])
    said << [estate, Simpkv::Inspection::Rules.of(estate), inspector, inspector.perform('web1', {})].inspect
    expect(texts).to include('of the node')
    # A fact is no secret of a rule that is not sensitive, and the name of a member stands in the list of such paths.
    expect_no_leak(secrets.reject { |name, _| name == :path })
  end

  it 'is in none of inspections that fail' do
    { 'fail' => ["#{secrets[:message]} {inventory.vault}"], 'log' => ["#{secrets[:message]} {inventory.nothing}"],
      'set-attribute' => ["/parameters/-/#{secrets[:path]}/{inventory.nothing}", secrets[:action]],
      'extend-attribute' => ['/environment', secrets[:action]],
      'set-port-attribute' => [secrets[:argument], '/a', secrets[:action]] }.each do |action, arguments|
      Simpkv::Inspection::Rules.of(estate).delete_all
      sensitive_rule(action, *arguments)
      expect(attempt).to be_a(Puppet::Error)
    end
    expect_no_leak(secrets)
  end

  it 'is in none if an action of the site fails' do
    add_action('announce', '->(_, arguments) { raise arguments.inspect }')
    sensitive_rule('announce', secrets[:argument], '{inventory.vault}')
    expect(attempt).to be_a(Puppet::Error)
    expect(said.first).to include("the action 'announce'")
    expect_no_leak(secrets)
  end

  it 'is in none if the record or a rule is invalid' do
    sensitive_rule('set-attribute', '/environment', secrets[:action])
    expect(attempt).to be_a(Puppet::Error)
    stored = Simpkv::Inspection::Rules.of(estate).list.first['uuid']
    [%({"value":"#{secrets[:action]}"}), secrets[:action],
     Simpkv::Codec.encode('uuid' => stored, 'sensitive' => true, 'actions' => [{ 'op' => secrets[:action] }],
                          'phase' => 'main', 'priority' => 0, 'created_at' => '', 'updated_at' => '')]
      .each do |document|
      estate.store.put("globals/estate/rules/#{stored}", document)
      expect(attempt).to be_a(Puppet::Error)
    end
    expect_no_leak(secrets)
  end
end
