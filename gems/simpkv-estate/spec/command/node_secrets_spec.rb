# frozen_string_literal: true

require_relative 'nodes_helper'
require_relative '../support/rule_helpers'

# Members of facts and records with names such as db_password, in what commands print.
RSpec.describe 'Secrets of nodes' do
  include RuleHelpers

  include_context 'with nodes'

  let(:estate_options) { { 'indexed_facts' => %w[hostname db_password] } }
  let(:facts) { { 'hostname' => 'web1', 'db_password' => 'pl4nted-fact', 'deep' => { 'tokens' => ['pl4nted-list'] } } }
  let(:declared) do
    { 'environment' => 'testing', 'classes' => { 'ntp' => { 'key' => 'k1', 'api_key' => 'pl4nted-class' } },
      'parameters' => { 'rack' => 12, 'db_password' => 'pl4nted-record', 'ldap' => { 'credentials' => %w[pl4nted] } } }
  end
  let(:show) { %w[node show web1] }
  let(:inspect_node) { %w[node inspect web1 --site-action register] }

  before { estate.nodes.declare('web1', declared) }

  def rules
    Simpkv::Inspection::Rules.new(estate, %w[register])
  end

  # Runs each command that prints a record.
  # @return [Array<String>] the output in each format
  def printed(*options)
    commands = [inspect_node, [*inspect_node, '--explain'], show]
    commands.product(%w[table json yaml]).map { |command, format| simpkv!(*command, *options, '-o', format) }
  end

  it 'are printed with --show-secrets only' do
    run('web1', facts: facts)
    rule('set-attribute', '/parameters/my_token', 'pl4nted-rule')
    rule('register', { 'secret' => 'pl4nted-argument' })
    simpkv!(*inspect_node, '--save')
    expect(printed).to all(include('[redacted]'))
    expect(printed.join).not_to include('pl4nted')
    expect(printed('--show-secrets')).to all(include('pl4nted-record'))
    expect(printed('--show-secrets').join).not_to include('[redacted]')
    expect(simpkv!(*inspect_node))
      .to match(/^classes\.ntp: +{"key":"k1","api_key":"\[redacted\]"}\nenvironment: +testing\nparameters\.rack: +12\n/)
      .and match(/^parameters\.db_password: +\[redacted\]\nparameters\.ldap: +{"credentials":"\[redacted\]"}\n/)
    expect(data(*show)).to include('inventory' => include('facts' => { 'hostname' => 'web1',
                                                                       'db_password' => '[redacted]' }))
  end

  # The command failed at a String in place of the parameters.
  it 'may be all of a member, which keeps its type' do
    all = { 'parameters' => { 'a' => 'pl4nted' }, 'classes' => ['pl4nted'], 'scope' => 'pl4nted',
            'attributes' => { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' } }
    estate.nodes.declare('web1', all.merge('sensitive' => %w[/parameters /classes /scope /sensitive]))
    hidden = { '[redacted]' => '[redacted]' }
    expect(data(*show)['declared'])
      .to eq('parameters' => hidden, 'classes' => ['[redacted]'], 'scope' => '[redacted]', 'attributes' => hidden,
             'sensitive' => ['[redacted]'])
    expect(simpkv!(*show)).to match(/^declared classes: +\[redacted\]$/)
      .and match(/^declared parameter \[redacted\]: +\[redacted\]$/)
  end

  it 'are also those that the site names' do
    estate_options['secret_names'] = %w[host hostname rack]
    run('web1', facts: facts)
    expect(data(*show)).to include('inventory' => include('facts' => { 'hostname' => '[redacted]',
                                                                       'db_password' => '[redacted]' }))
    expect(simpkv!(*inspect_node)).to match(/^parameters\.rack: +\[redacted\]$/)
    expect(failure('nodes', '--filter', 'hostname=web1')).to match([64, /compares a secret/])
  end

  context 'with rules that see them in mode never' do
    before do
      estate_options.merge!('inspection_rules' => { 'mask_secrets' => 'never' }, 'unknown_nodes' => 'discover')
      run('web1', facts: facts)
      rule('set-attribute', '/parameters/connection', 'db://web:{inventory.db_password}', description: 'copy')
      rule('set-attribute', '/classes/db', { 'list' => '{inventory.deep.tokens}' })
      rule('register', '{inventory.db_password}')
      rule('log', 'no', conditions: [condition('eq', '{node.parameters.connection}', 'x')])
    end

    it 'are not printed where rules have copied them to other names' do
      expect(simpkv!(*inspect_node, '--save', '--explain'))
        .to match(%r{^  actions\[0\] set-attribute /parameters/connection: "\[redacted\]"$})
        .and match(/^  conditions\[0\] eq does not hold: \["\[redacted\]","\[redacted\]"\]$/)
        .and match(/^action register of the rule \S+: \["\[redacted\]"\]$/)
        .and match(/^parameters\.connection: +\[redacted\]$/)
      expect(printed.join).not_to include('pl4nted')
      expect(simpkv!(*inspect_node, '--show-secrets')).to match(%r{^parameters\.connection: +db://web:pl4nted-fact$})
    end

    it 'are not printed from the record of a discovered node either' do
      estate.nodes.delete('web1')
      simpkv!(*inspect_node, '--save')
      expect(estate.nodes.get('web1')['parameters']).to eq('connection' => 'db://web:pl4nted-fact')
      expect(printed.join).not_to include('pl4nted')
      expect(simpkv!(*show)).to match(/^declared parameter connection: +\[redacted\]$/)
      expect(simpkv!(*show, '--show-secrets')).to include('pl4nted-fact')
    end
  end

  it 'are never printed if a sensitive rule has set them' do
    run('web1', facts: facts)
    rule('set-attribute', '/parameters/plain', 'hidden', sensitive: true)
    rule('set-attribute', '/parameters/token', 'hidden', sensitive: true)
    simpkv!(*inspect_node, '--save')
    expect(printed('--show-secrets').join).not_to include('hidden')
  end
end
