# frozen_string_literal: true

require_relative 'nodes_helper'
require_relative '../support/rule_helpers'

RSpec.describe 'simpkv node inspect' do
  include RuleHelpers

  include_context 'with nodes'

  let(:facts) { { 'hostname' => 'web1', 'os' => { 'name' => 'Debian' } } }
  let(:facts_file) { File.join(folder, 'facts.json').tap { |file| File.write(file, JSON.generate(facts)) } }

  # @return [String] its UUID
  def rule(*, **)
    super['uuid']
  end

  it 'prints the rules that matched and the effective record, and changes nothing' do
    estate.nodes.declare('web1', 'environment' => 'testing', 'parameters' => { 'rack' => 12 })
    run('web1', facts: facts)
    matching = rule('set-attribute', '/parameters/role', '{inventory.hostname}', description: 'role')
    rule('set-attribute', '/parameters/role', 'db', conditions: [condition('eq', 1, 2)])
    before = documents
    expect(simpkv!('node', 'inspect', 'web1')).to eq(<<~TEXT)
      rule #{matching} 'role' (main): matched

      name:             web1
      known:            declared
      environment:      testing
      parameters.rack:  12
      parameters.role:  web1
      ports:            []
    TEXT
    expect(documents).to eq(before)
  end

  it 'explains each rule with --explain' do
    run('web1', facts: facts)
    matching = rule('set-attribute', '/parameters/role', '{inventory.hostname}', description: 'role', priority: 2)
    changing = rule('set-attribute', '/parameters/role', 'db', priority: 1)
    other = rule('fail', 'no', conditions: [condition('eq', '{inventory.os.name}', 'RedHat')])
    rule('log', 'at {inventory.hostname}', phase: 'early')
    explained = simpkv!('node', 'inspect', 'web1', '--explain')
    expect(explained).to include(<<~TEXT)
      rule #{matching} 'role' (main): matched
        actions[0] set-attribute /parameters/role: "web1"
      rule #{changing} (main): matched
        actions[0] set-attribute /parameters/role: "web1" -> "db"
      rule #{other} (main): did not match
        conditions[0] eq does not hold: ["Debian","RedHat"]
    TEXT
    expect(explained).to match(/^rule \S+ \(early\): matched\n.*^log info of the rule \S+: at web1$/m)
    expect(data('node', 'inspect', 'web1', '--explain')['rules'].last)
      .to include('uuid' => other, 'matched' => false,
                  'condition' => { 'index' => 0, 'op' => 'eq', 'args' => %w[Debian RedHat] })
  end

  it 'takes facts from a file, or from standard input' do
    rule('set-attribute', '/parameters/role', '{inventory.hostname}')
    yaml = File.join(folder, 'facts.yaml')
    File.write(yaml, { 'name' => 'web1', 'values' => facts }.to_yaml)
    [[facts_file], [yaml], ['-', JSON.generate(facts)]].each do |file, input|
      expect(JSON.parse(simpkv!('node', 'inspect', 'new1', '--facts', file, '-o', 'json', input: input.to_s)))
        .to include('known' => 'unknown', 'record' => { 'parameters' => { 'role' => 'web1' }, 'ports' => [] })
    end
    File.write(yaml, "- s3cret\n")
    expect(failure('node', 'inspect', 'new1', '--facts', yaml))
      .to eq([65, "simpkv: file '#{yaml}' must have a Hash, the facts of a node\n"])
    expect(failure('node', 'inspect', 'new1', '--facts', 'absent').first).to eq(66)
    expect(failure('node', 'inspect', 'new1')).to match([66, /there are no facts of a node 'new1'/])
  end

  it 'stores the outcome, and the record of a discovered node, with --save only' do
    estate_options['unknown_nodes'] = 'discover'
    stored = rule('set-attribute', '/parameters/role', 'web')
    simpkv!('node', 'inspect', 'new1', '--facts', facts_file)
    expect(documents).to eq(["rules/#{stored}"])
    expect(simpkv!('node', 'inspect', 'new1', '--facts', facts_file, '--save')).to match(/^known: +discovered$/)
    expect(documents).to eq(%W[inspections/new1 nodes/new1 rules/#{stored}])
    expect(estate.nodes.get('new1')).to include('auto_discovered' => true, 'parameters' => { 'role' => 'web' })
    expect(simpkv!('node', 'inspect', 'new1', '--facts', facts_file)).to match(/^known: +declared$/)
  end

  it 'exits with 1 if a rule refuses the node, and with 65 if a rule cannot be applied' do
    run('web1', facts: facts)
    refusing = rule('fail', "no {inventory.os.name}\e", description: 'systems', priority: 1)
    outcome = simpkv('node', 'inspect', 'web1', '--explain')
    expect(outcome.code).to eq(1)
    expect(outcome.out).to match(/^rule #{refusing} 'systems' \(main\): matched$/)
    expect(outcome.err).to eq("simpkv: web1: refused by the rule #{refusing} ('systems'): no Debian\\x1B\n")
    expect(JSON.parse(simpkv('node', 'inspect', 'web1', '-o', 'json').out))
      .to include('failed' => include('rule' => refusing, 'msg' => "no Debian\e"))
    Simpkv::Inspection::Rules.of(estate).delete_all
    wrong = rule('log', '{inventory.nothing}')
    outcome = simpkv('node', 'inspect', 'web1')
    expect([outcome.code, outcome.err])
      .to match([65, /web1: the rule #{wrong}: actions\[0\].*: there is no 'inventory.nothing'/])
  end

  # The exit code was 70, that of an internal error.
  it 'exits with 65 if there is a FIFO in place of a rule, and names it' do
    run('web1', facts: facts)
    rules = File.join(backends['default']['root_path'], 'globals/estate/rules')
    file = File.join(rules, rule('set-attribute', '/parameters/role', 'db'))
    File.delete(file)
    File.mkfifo(file)
    expect(simpkv('node', 'inspect', 'web1').to_a)
      .to match(['', /estate.rules.#{File.basename(file)}' cannot be read: .*it is not a regular file$/, 65])
  end

  it 'stores what simpkv node show prints in short' do
    run('web1', facts: facts)
    rule('set-attribute', '/parameters/role', 'web')
    expect(simpkv!('node', 'show', 'web1')).not_to include('inspection')
    simpkv!('node', 'inspect', 'web1', '--save')
    expect(simpkv!('node', 'show', 'web1')).to match(/^inspection: +1 rule matched$/)
    refusing = rule('fail', 'no')
    expect(simpkv('node', 'inspect', 'web1', '--save').code).to eq(1)
    expect(simpkv!('node', 'show', 'web1')).to match(/^inspection: +refused by the rule #{refusing}: no$/)
    expect(data('node', 'show', 'web1')['inspection']['failed']).to eq('rule' => refusing, 'msg' => 'no')
    estate.store.put('globals/estate/inspections/web1', '{"value":{"rules":["s3cret"]}}')
    outcome = simpkv('node', 'show', 'web1')
    expect([outcome.code, outcome.err]).to match([65, %r{'estate/inspections/web1'}])
    expect(outcome.out + outcome.err).not_to include('s3cret')
  end

  it 'fails for a node that the option refuses' do
    estate_options['unknown_nodes'] = 'refuse'
    rule('set-attribute', '/parameters/role', 'web')
    expect(failure('node', 'inspect', 'new1', '--facts', facts_file)).to match([66, /it is not declared/])
  end

  it 'prints a node without rules as it was declared' do
    estate.nodes.declare('web1', 'classes' => %w[ntp])
    run('web1')
    expect(simpkv!('node', 'inspect', 'web1')).to eq(<<~TEXT)
      name:         web1
      known:        declared
      classes.ntp:  {}
      ports:        []
    TEXT
  end

  it 'prints nothing of a sensitive rule but that it matched' do
    run('web1', facts: facts)
    hidden = rule('set-attribute', '/parameters/key', 'pl4nted {inventory.hostname}', sensitive: true, priority: 9)
    rule('set-attribute', '/parameters/deep', { 'key' => ['pl4nted'] }, sensitive: true, priority: 8)
    rule('log', 'pl4nted', sensitive: true)
    rule('log', '{node.parameters}')
    formats = [%w[-o table], %w[-o json], %w[-o yaml]]
    [[], %w[--explain], %w[--save]].product(formats).each do |options, format|
      shown = simpkv!('node', 'inspect', 'web1', *options, *format)
      expect(shown).to include(hidden, '[redacted]')
      expect(shown).not_to include('pl4nted')
    end
    expect(estate.store.get('globals/estate/inspections/web1')).not_to include('pl4nted')
  end

  it 'prints a description with a line feed in one line' do
    run('web1', facts: facts)
    rule('log', "a\nb", description: "two\nlines")
    rule('log', 'c', description: "other\nlines", conditions: [condition('eq', 1, 2)])
    expect(simpkv!('node', 'inspect', 'web1', '--explain'))
      .to match(/^rule \S+ 'two\\x0Alines' \(main\): matched$/)
      .and match(/^rule \S+ 'other\\x0Alines' .*: did not match$/)
      .and match(/^log info of the rule \S+: a\\x0Ab$/)
  end

  it 'says that a condition with an empty loop has no values' do
    run('web1', facts: facts)
    rule('log', 'a', conditions: [condition('eq', '{item}', 1).merge('loop' => [])])
    expect(simpkv!('node', 'inspect', 'web1', '--explain'))
      .to match(/conditions\[0\] eq does not hold: no values \(an empty loop, or a long explanation\)$/)
  end

  it 'does not call an unknown node discovered that a rule refuses' do
    estate_options['unknown_nodes'] = 'discover'
    rule('fail', 'no')
    outcome = simpkv('node', 'inspect', 'new1', '--facts', facts_file)
    expect([outcome.code, outcome.out]).to match([1, /^known: +unknown$/])
  end

  it 'carries out no action of the site, and finds these by the load path' do
    place = File.join(folder, 'lib/puppet_x/simpkv/rule_actions')
    FileUtils.mkdir_p(place)
    File.write(File.join(place, 'announce.rb'), "->(*) { File.write('#{folder}/called', '') }")
    rules = Simpkv::Inspection::Rules.new(estate, %w[announce])
    rules.create('actions' => [{ 'op' => 'announce', 'args' => %w[a] }])
    secret = rules.create('actions' => [{ 'op' => 'announce', 'args' => %w[pl4nted] }], 'sensitive' => true)
    run('web1', facts: facts)
    outcome = simpkv('node', 'inspect', 'web1', environment: { 'RUBYLIB' => File.join(folder, 'lib') })
    expect(outcome.err).to eq('')
    expect(outcome.out).to match(/^action announce of the rule \S+: \["a"\]$/)
    expect(outcome.out).to match(/^action announce of the rule #{secret['uuid']}: \(sensitive\)$/)
    expect(outcome.out).not_to include('pl4nted')
    expect(File).not_to exist(File.join(folder, 'called'))
    expect(failure('node', 'inspect', 'web1'))
      .to match([65, %r{actions\[0\]\.op.*'announce'.* a file puppet_x/simpkv/rule_actions/announce\.rb in /}])
    expect(simpkv!('node', 'inspect', 'web1', '--site-action', 'announce')).to include('action announce of the rule')
  end
end
