# frozen_string_literal: true

require_relative '../../../../spec/command/doctor_helper'
require_relative 'nodes_helper'

RSpec.describe 'simpkv doctor, with inspection rules' do
  include_context 'with doctor'
  include_context 'with nodes for the command'

  let(:built_in) { File.join(folder, 'built_in.yaml') }
  let(:estate_options) { { 'inspection_rules' => { 'built_in' => built_in } } }
  let(:actions) { [{ 'op' => 'fail', 'args' => ['no'] }] }
  let(:invalid) { [{ 'op' => 'set-attribute', 'args' => %w[pl4nted pl4nted] }] }
  let(:uuid) { Simpkv::Inspection::Rules.of(estate).create('description' => 'web', 'actions' => actions)['uuid'] }

  before do
    simpkv!('init')
    File.write(built_in, "- {uuid: 6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90, actions: [{op: fail, args: [closed]}]}\n")
    configure_puppet('node_terminus = simpkv')
    uuid
  end

  def configure_puppet(line)
    File.write(File.join(folder, 'puppet.conf'),
               "[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n#{line}\n")
  end

  # Changes a stored rule as another program might.
  def store(fields, name = uuid)
    rule = Simpkv::Codec.decode(estate.store.get("globals/estate/rules/#{uuid}"))[:value]
    estate.store.put("globals/estate/rules/#{name}", Simpkv::Codec.encode(rule.merge(fields)))
  end

  it 'finds no problem' do
    expect(findings).to eq([])
    expect(simpkv!('doctor')).to match(/^ok +rules: 2 rules$/)
  end

  it 'says that rules have no effect with another terminus of nodes' do
    configure_puppet('node_terminus = exec')
    expect(findings).to contain_exactly(warning('rules', /node_terminus is not 'simpkv' in .*puppet\.conf/,
                                                /set 'node_terminus = simpkv' in the section \[server\]/))
    simpkv!('rule', 'delete', '--all')
    File.write(built_in, '[]')
    expect(findings).to eq([])
  end

  it 'finds a rule that is invalid, and quotes nothing of it' do
    store('actions' => invalid)
    expect(findings)
      .to contain_exactly(problem('rules', /\Athe rule #{uuid} \('web'\) is invalid: actions\[0\]((?!pl4nted).)*\z/,
                                  /\Asimpkv rule set #{uuid} or simpkv rule delete #{uuid}\z/))
    store('actions' => invalid, 'description' => "two\nlines")
    expect(findings).to contain_exactly(problem('rules', /\('two\\x0Alines'\) is invalid/, /rule delete/))
    store('actions' => invalid, 'sensitive' => true)
    expect(findings)
      .to contain_exactly(problem('rules', /is invalid: actions\[0\]\.args\[0\]: the rule is sensitive, so the/,
                                  /rule delete/))
  end

  it 'finds more rules than an inspection reads' do
    rules = Array.new(Simpkv::Native::Rules::MAX) { |number| { 'description' => number.to_s, 'actions' => actions } }
    File.write(built_in, JSON.generate(rules))
    expect(findings).to contain_exactly(problem('rules', '10001 rules, built-in ones included: 10000 are allowed',
                                                'delete some of them: simpkv rule delete ID'))
    outcome = simpkv('rule', 'create', '--actions', JSON.generate(actions))
    expect([outcome.code, outcome.err])
      .to match([65, /the rule cannot be stored: 10002 rules, built-in ones included: 10000 are allowed$/])
  end

  it 'finds rules that exceed a limit for all of them together' do
    large = Array.new(25) { { 'op' => 'contains', 'args' => ['x', '(((a|b){{5}}){{20}}){{9}}'] } }
    rules = Array.new(100) { |number| { 'description' => "r#{number}", 'conditions' => large, 'actions' => actions } }
    File.write(built_in, JSON.generate(rules))
    expect(findings)
      .to contain_exactly(problem('rules', /'r\d+'.*: the regular expressions of all rules take more than \d+ bytes/,
                                  /\Adelete some of them/))
  end

  it 'finds a stored rule of a reserved priority' do
    store('priority' => 10_000)
    expect(findings).to contain_exactly(problem('rules', /\('web'\) is invalid: priority: it must be from 0 to 9999/,
                                                /rule set #{uuid}/))
  end

  it 'finds a rule that cannot be read' do
    store('phase' => 'pl4nted')
    expect(findings)
      .to contain_exactly(problem('rules', /\Ait cannot be read: it has another form than simpkv writes\z/,
                                  %r{simpkv rm -g estate/rules/#{uuid}}))
  end

  it 'finds a stored rule with the UUID of a built-in one' do
    store({ 'uuid' => '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }, '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90')
    expect(findings)
      .to contain_exactly(problem('rules', /\Aa built-in rule has the UUID 6f0c9a52-\S+ as well\z/,
                                  %r{simpkv rm -g estate/rules/6f0c9a52-}))
  end

  { 'that is missing' => [nil, /'built_in' of 'inspection_rules' of 'estate': .*built_in\.yaml: No such file/],
    'that is no YAML' => ['[pl4nted', /built_in\.yaml: it is neither YAML nor JSON: see line \d\z/],
    'with a rule that has no place' => ['[{description: a, phase: pl4nted, actions: []}]',
                                        /built_in\.yaml: rules\[0\]: phase: it must be early or preprocess or main\z/],
    'with an invalid rule' => ['[{description: a, actions: [{op: fail, args: [pl4nted, pl4nted]}]}]',
                               /\Athe rule \S+ \('a'\) is invalid: actions\[0\]((?!pl4nted).)*\z/] }
    .each do |what, (content, message)|
    it "finds a file of built-in rules #{what}" do
      content ? File.write(built_in, content) : File.delete(built_in)
      expect(findings).to contain_exactly(problem('rules', message, /correct the file of the option 'built_in'/))
    end
  end

  it 'finds a file that the user of puppetserver cannot read, with a remedy that works' do
    File.chmod(0o711, folder)
    File.chmod(0o640, built_in)
    found = findings(user: 'nobody')
    expect(found.select { |finding| finding['what'] == 'rules' })
      .to contain_exactly(warning('rules', /built_in\.yaml cannot be read by the user nobody\z/, /\Achgrp nogroup /))
    system(found.find { |finding| finding['what'] == 'rules' }['fix'], exception: true)
    expect(findings(user: 'nobody').map { |finding| finding['what'] }).not_to include('rules')
  end

  it 'names ten of many' do
    11.times { |number| estate.store.put("globals/estate/rules/#{number}", '{"value":1}') }
    expect(findings.length).to eq(11)
    expect(findings.last).to match(problem('rules', /\A11 such rules, of which 10 are named\z/, /repair each/))
  end
end
