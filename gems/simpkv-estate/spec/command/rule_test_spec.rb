# frozen_string_literal: true

require_relative 'nodes_helper'

RSpec.describe 'simpkv rule test' do
  include_context 'with nodes'

  let(:facts) do
    { 'hostname' => 'web1', 'password' => 'pl4nted',
      'networking' => { 'fqdn' => 'web1.example.com', 'interfaces' => { 'eth0' => { 'mac' => 'm' } } } }
  end
  let(:role) do
    { 'description' => 'role', 'conditions' => [{ 'op' => 'contains', 'args' => ['{inventory[hostname]}', '^web'] }],
      'actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }] }
  end
  let(:database) do
    role.merge('description' => 'db', 'conditions' => [condition('eq', '{inventory[hostname]}', 'db1')])
  end

  def condition(name, *arguments)
    { 'op' => name, 'args' => arguments }
  end

  # Writes a file for a command.
  def file(name, data)
    File.join(folder, name).tap { |path| File.write(path, data.to_yaml) }
  end

  # Runs the command with rules.
  def test(rules, *arguments, **more)
    simpkv('rule', 'test', file('rules.yaml', rules), '--facts', file('facts.yaml', facts), *arguments, **more)
  end

  it 'explains each rule, and prints the record of a node that is discovered' do
    outcome = test([role, database])
    expect(outcome.out.gsub(/rule \h{8}-\S+/, 'rule UUID')).to eq(<<~TEXT)
      rule UUID 'role' (main): matched
        actions[0] set-attribute /parameters/role: "web"
      rule UUID 'db' (main): did not match
        conditions[0] eq does not hold: ["web1","db1"]

      name:             web1.example.com
      known:            discovered
      auto_discovered:  true
      parameters.role:  web
      ports:            [{"name":"eth0","mac":"m"}]
    TEXT
    expect([outcome.err, outcome.code]).to eq(['', 0])
  end

  it 'needs no store and no file with options, and makes none' do
    FileUtils.mkdir(File.join(folder, 'etc'))
    Dir.chdir(folder) do
      before = Dir.glob('**/*')
      expect(test([role]).code).to eq(0)
      expect(Dir.glob('**/*') - before).to match_array(%w[rules.yaml facts.yaml simpkv.yaml])
    end
    expect(Dir.glob(File.join(Dir.tmpdir, 'simpkv-rule-test*'))).to eq([])
  end

  it 'takes facts of a file in YAML whose names look like numbers' do
    interfaces = { 100 => { 'mac' => '52:54:00:00:00:01' }, 'eth0' => { 'mac' => '52:54:00:00:00:02' }, true => 2**70 }
    numbered = file('numbered.yaml', { 'hostname' => 'web1', 'networking' => { 'interfaces' => interfaces } })
    outcome = simpkv('rule', 'test', file('rules.yaml', [role]), '--facts', numbered, '-o', 'json')
    expect(JSON.parse(outcome.out).dig('record', 'ports').map { |port| port['name'] }).to eq(%w[100 eth0])
    recursive = file('recursive.yaml', '')
    File.write(recursive, "&a\nb: *a\n")
    expect(failure('rule', 'test', file('rules.yaml', [role]), '--facts', recursive))
      .to match([65, /recursive\.yaml' is nested too deeply/])
  end

  it 'takes facts from standard input, a declared record and a name' do
    record = file('record.yaml', { 'parameters' => { 'role' => 'none' }, 'environment' => 'dev' })
    outcome = simpkv('rule', 'test', file('rules.yaml', [role]), '--facts', '-', '--record', record, '--name', 'Web9',
                     '-o', 'json', input: facts.to_json)
    expect(JSON.parse(outcome.out))
      .to include('name' => 'Web9', 'known' => 'declared',
                  'record' => include('environment' => 'dev', 'parameters' => { 'role' => 'web' }))
  end

  it 'applies the options of the site, but not its rules' do
    Simpkv::Inspection::Rules.of(estate).create('description' => 'stored', 'actions' => role['actions'])
    masked = role.merge('conditions' => [condition('eq', '{inventory[password]}', '******')])
    expect(test([masked]).out).to match(/\Arule \S+ 'role' \(main\): matched$/)
    estate_options['inspection_rules'] = { 'mask_secrets' => 'never' }
    configure
    expect(test([masked]).out).to match(/\Arule \S+ 'role' \(main\): did not match$/)
    estate_options['inspection_rules'] = { 'default_scope' => 'rack12' }
    configure
    expect(test([role]).out).to start_with('name:')
  end

  it 'exits with 1 if a rule refuses the node' do
    outcome = test([{ 'description' => 'closed', 'actions' => [condition('fail', 'no {inventory[hostname]} here')] }])
    expect(outcome.err)
      .to match(/\Asimpkv: web1\.example\.com: refused by the rule \S+ \('closed'\): no web1 here\n\z/)
    expect(outcome.code).to eq(1)
  end

  it 'exits with 65 if a rule cannot be applied' do
    outcome = test([role.merge('conditions' => [condition('is-none', '{inventory[nosuch]}')])])
    expect(outcome.err).to include('conditions[0]').and include("there is no 'inventory[nosuch]'")
    expect(outcome.code).to eq(65)
  end

  it 'shows nothing of a sensitive rule' do
    rules = [{ 'description' => 'keys', 'sensitive' => true, 'conditions' => [condition('eq', 'pl4nted', 'pl4nted')],
               'actions' => [condition('set-attribute', '/parameters/key', 'pl4nted'), condition('log', 'pl4nted')] },
             { 'description' => 'copy', 'actions' => [condition('set-attribute', '/parameters/copy',
                                                                '{node.parameters[key]}')] }]
    %w[table json yaml].each do |format|
      outcome = test(rules, '-o', format)
      expect(outcome.out).to include('[redacted]')
      expect(outcome.to_a.join).not_to include('pl4nted')
    end
    outcome = test([rules.first.merge('actions' => [condition('fail', 'pl4nted')])])
    expect(outcome.err).to match(/refused by the rule \S+ \('keys'\)\n\z/)
    expect(outcome.out).not_to include('pl4nted')
  end

  it 'prints secrets of the record with --show-secrets only, and no copy of one in mode never' do
    record = file('record.yaml', { 'parameters' => { 'db_password' => 'pl4nted' } })
    copy = role.merge('actions' => [condition('set-attribute', '/parameters/copy', '{node.parameters[db_password]}')])
    %w[always never].each do |mode|
      estate_options['inspection_rules'] = { 'mask_secrets' => mode }
      configure
      %w[table json yaml].each do |format|
        outcome = test([copy], '--record', record, '-o', format)
        expect([outcome.code, outcome.err]).to eq([0, ''])
        expect(outcome.out).to include('[redacted]')
        expect(outcome.out).not_to include('pl4nted')
        expect(test([copy], '--record', record, '-o', format, '--show-secrets').out).to include('pl4nted')
      end
    end
  end

  it 'names what is wrong with its files' do
    rules = file('rules.yaml', [role, role.merge('description' => 'b', 'phase' => 'late')])
    facts_file = file('facts.yaml', facts)
    { [rules] => [64, /which facts\? --facts FILE/],
      [rules, '--facts', facts_file] => [65, /rules\.yaml: rules\[1\]: phase: /],
      [file('action.yaml', [role.merge('actions' => [condition('announce')])]), '--facts', facts_file] =>
        [65, %r{action\.yaml: rules\[0\]: actions\[0\]\.op: .* a file puppet_x/simpkv/rule_actions/announce\.rb in }],
      [file('list.yaml', [role]), '--facts', file('a.yaml', [1])] => [65, /a\.yaml' must have a Hash, the facts of a/],
      [file('list.yaml', [role]), '--facts', 'nosuch.yaml'] => [66, /there is no file 'nosuch\.yaml'/],
      [file('list.yaml', [role]), '--facts', folder] => [66, /'#{folder}' is a folder, not a file/],
      ['nosuch.yaml', '--facts', facts_file] => [66, /there is no file 'nosuch\.yaml'/],
      [file('list.yaml', [role]), '--facts', facts_file, '--record', file('r.yaml', { 'class' => 'a' })] =>
        [65, /the record of node 'web1\.example\.com' cannot be stored: there is no member 'class'/],
      [file('list.yaml', [role]), '--facts', facts_file, '--name', 'a/b'] => [65, %r{a/b: .* '/'}] }
      .each do |arguments, expected|
      expect(failure('rule', 'test', *arguments)).to match(expected)
    end
  end

  it 'takes rules of the file built_in' do
    rules = [role.merge('priority' => 20_000)]
    expect(test(rules).err).to match(/rules\[0\]: priority: it must be from 0 to 9999/)
    expect(test(rules, '--built-in').code).to eq(0)
  end
end
