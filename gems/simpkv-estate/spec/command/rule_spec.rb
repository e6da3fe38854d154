# frozen_string_literal: true

require_relative 'nodes_helper'

RSpec.describe 'simpkv rule' do
  include_context 'with nodes'

  let(:rules) { Simpkv::Inspection::Rules.of(estate) }
  let(:actions) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }] }
  let(:conditions) { [{ 'op' => 'eq', 'args' => ['{inventory[hostname]}', 'web1'] }] }
  let(:secret) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/pl4nted', 'pl4nted'] }] }
  let(:missing) { '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }

  def create(**fields)
    rules.create({ 'actions' => actions }.merge(fields.transform_keys(&:to_s)))['uuid']
  end

  def sensitive
    create(description: 'keys', sensitive: true, conditions: conditions, actions: secret)
  end

  # Runs a command in each format.
  def in_all_formats(*arguments)
    %w[table json yaml].map { |format| simpkv!(*arguments, '-o', format) }
  end

  # Writes a file for a command.
  def file(content)
    File.join(folder, 'rules.yaml').tap { |name| File.write(name, content) }
  end

  describe 'list' do
    # Groups of examples replace it.
    def built_in
      '[]'
    end

    before do
      File.write(File.join(folder, 'built_in.yaml'), built_in)
      create(description: 'last')
      create(description: 'first', priority: 10, scope: 'rack12', conditions: conditions)
      sensitive
    end

    it 'prints a line for each rule, in order of precedence' do
      expect(simpkv!('rule', 'list').gsub(/^\h{8}\S+/, 'U')).to eq(<<~TABLE.gsub(/^uuid/, "uuid#{' ' * 32}"))
        uuid  phase  priority  scope   kind       description
        U  main   10        rack12  -          first
        U  main   0         -       -          last
        U  main   0         -       sensitive  keys
      TABLE
      expect(simpkv!('rule', 'list', '--scope', 'rack12', '--phase', 'main').lines.length).to eq(2)
      expect(simpkv!('rule', 'list', '--phase', 'early')).to eq('')
    end

    it 'prints conditions and actions with --long, but not those of a sensitive rule' do
      shown = simpkv!('rule', 'list', '--long')
      expect(shown).to include('conditions[0]:  {"op":"eq","args":["{inventory[hostname]}","web1"]}')
        .and match(/^description:  keys\n(?:.*\n)*conditions:   \[redacted\]\nactions:      \[redacted\]\n\z/)
      expect(data('rule', 'list', '--long').map { |rule| rule['actions'].nil? }).to eq([false, false, true])
      expect(in_all_formats('rule', 'list', '--long').join).not_to include('pl4nted')
    end

    it 'prints for programs what import takes' do
      rules.delete(rules.list.last['uuid'])
      before = rules.list(detail: true)
      listed = simpkv!('rule', 'list', '--long', '-o', 'yaml')
      expect(simpkv!('rule', 'import', '-', input: listed).scan(/^\w+/)).to eq(%w[unchanged unchanged])
      simpkv!('rule', 'delete', '--all')
      simpkv!('rule', 'import', '-', input: listed)
      times = %w[created_at updated_at]
      expect(rules.list(detail: true).map { |rule| rule.reject { |name, _| times.include?(name) } })
        .to eq(before.map { |rule| rule.reject { |name, _| times.include?(name) } })
    end

    it 'names a rule that cannot be read' do
      estate.store.put("globals/estate/rules/#{missing}", '{"value":"pl4nted"}')
      expect(simpkv('rule', 'list').to_a)
        .to match([/\Auuid.*\n(.*\n){3}\z/,
                   "simpkv: 'estate/rules/#{missing}': it has another form than simpkv writes\n", 65])
    end

    context 'with built-in rules' do
      let(:estate_options) { { 'inspection_rules' => { 'built_in' => File.join(folder, 'built_in.yaml') } } }

      def built_in
        "- {description: vendors, priority: 10000, actions: [{op: fail, args: [closed]}]}\n"
      end

      # It was listed as any other.
      it 'names a wrong one' do
        File.write(File.join(folder, 'built_in.yaml'), '[{description: vendors, actions: [{op: vanished}]}]')
        outcome = simpkv('rule', 'list')
        expect([outcome.code, outcome.out, outcome.err])
          .to match([65, /built in +vendors$/,
                     /\Asimpkv: '.*built_in.yaml: \h{8}-\S+ \('vendors'\)': actions\[0\]\.op: there is no action/])
      end

      it 'marks them, and names a file that cannot be read' do
        expect(simpkv!('rule', 'list').lines[1]).to match(/\A\h{8}\S+  main   10000     -       built in   vendors$/)
        File.delete(File.join(folder, 'built_in.yaml'))
        expect(failure('rule', 'list'))
          .to match([78, /'built_in' of 'inspection_rules' of 'estate': .*built_in\.yaml: No such file or directory$/])
      end
    end
  end

  describe 'show' do
    it 'prints all fields' do
      uuid = create(description: 'web', scope: 'rack12', conditions: conditions)
      expect(simpkv!('rule', 'show', uuid).gsub(/ 20\S+Z$/, ' TIME')).to eq(<<~TEXT)
        uuid:           #{uuid}
        description:    web
        scope:          rack12
        priority:       0
        phase:          main
        sensitive:      false
        created at:     TIME
        conditions[0]:  {"op":"eq","args":["{inventory[hostname]}","web1"]}
        actions[0]:     {"op":"set-attribute","args":["/parameters/role","web"]}
      TEXT
      expect(data('rule', 'show', uuid.upcase)).to eq(rules.get(uuid))
    end

    it 'prints nothing of what a sensitive rule does' do
      expect(in_all_formats('rule', 'show', sensitive).join).not_to match(/pl4nted|hostname/)
    end

    it 'names a rule that is missing, and suggests another' do
      uuid = create
      similar = uuid.sub(/.\z/) { |digit| digit == '0' ? '1' : '0' }
      expect(failure('rule', 'show', similar)).to match([66, /there is no rule '#{similar}': did you mean '#{uuid}'\?/])
      expect(failure('rule', 'show', 'x')).to eq([65, "simpkv: 'x': uuid: it must be a UUID, such as #{missing}\n"])
    end
  end

  describe 'create' do
    it 'stores a rule with the given fields, and prints its UUID' do
      shown = simpkv!('rule', 'create', '--description', 'web', '--scope', 'rack12', '--priority', '7', '--phase',
                      'preprocess', '--conditions', conditions.to_json, '--actions', actions.to_json)
      rule = rules.list(detail: true).first
      expect(shown).to eq("created: #{rule['uuid']} ('web')\n")
      expect(rule).to include('description' => 'web', 'scope' => 'rack12', 'priority' => 7, 'phase' => 'preprocess',
                              'sensitive' => false, 'conditions' => conditions, 'actions' => actions)
    end

    it 'takes a UUID, once' do
      create = ['rule', 'create', '--uuid', missing, '--actions', actions.to_json]
      expect(simpkv!(*create)).to eq("created: #{missing}\n")
      expect(failure(*create))
        .to eq([65, "simpkv: file/spec: there is a rule #{missing}: change it, or delete it first\n"])
    end

    it 'shows nothing of what a sensitive rule does' do
      in_all_formats('rule', 'create', '--sensitive', '--actions', secret.to_json, '--conditions', conditions.to_json)
        .each { |shown| expect(shown).not_to match(/pl4nted|hostname/) }
      expect(rules.list.map { |rule| rule['sensitive'] }).to eq([true] * 3)
    end

    { [] => [65, /the rule cannot be stored: actions: /],
      %w[--actions pl4nted] => [65, /--actions is not JSON/],
      %w[--actions [] --conditions {pl4nted] => [65, /--conditions is not JSON/],
      %w[--actions {}] => [65, /the rule cannot be stored: actions: /],
      ['--actions', '[{"op":"fail","args":{"msg":"pl4nted","pl4":1}}]'] =>
        [65, /the rule cannot be stored: actions\[0\]\.args/],
      %w[--priority 10000] => [65, /the rule cannot be stored: priority: it must be from 0 to 9999/],
      %w[--priority=-1] => [65, /the rule cannot be stored: priority: it must be from 0 to 9999/],
      %w[--priority high] => [64, /invalid argument: --priority high: expected a whole number|--priority: expected a/],
      %w[--phase late] => [64, /invalid argument: --phase late: expected early, preprocess or main/],
      %w[--uuid pl4nted] => [65, /the rule cannot be stored: uuid: it must be a UUID/],
      %w[-e production] => [64, /the nodes of all environments are in one place/],
      %w[pl4nted] => [64, /takes no arguments/] }.each do |arguments, expected|
      it "refuses #{arguments.join(' ')[0, 60].inspect}, quotes nothing, and stores nothing" do
        given = arguments.include?('--actions') || arguments.empty? ? [] : ['--actions', actions.to_json]
        code, message = failure('rule', 'create', *given, *arguments)
        expect([code, message]).to match(expected)
        expect(message).not_to include('pl4nted')
        expect(rules.list).to eq([])
      end
    end

    it 'takes actions of the site' do
      mine = [{ 'op' => 'tell-me', 'args' => [] }].to_json
      code, message = failure('rule', 'create', '--actions', mine)
      expect(code).to eq(65)
      expect(message).to match(/actions\[0\]\.op: there is no action 'tell-me': /)
      expect(message).to include(', which is a file puppet_x/simpkv/rule_actions/tell-me.rb in /')
      expect(simpkv!('rule', 'create', '--actions', mine, '--site-action', 'tell-me')).to start_with('created: ')
    end
  end

  describe 'set and unset' do
    it 'change fields, and keep the others' do
      uuid = create(description: 'web', conditions: conditions)
      expect(simpkv!('rule', 'set', uuid, '--priority', '5', '--scope', 'a')).to eq("changed: #{uuid} ('web')\n")
      expect(simpkv!('rule', 'set', uuid, '--priority', '5')).to eq("unchanged: #{uuid} ('web')\n")
      expect(rules.get(uuid)).to include('priority' => 5, 'scope' => 'a', 'conditions' => conditions)
      expect(simpkv!('rule', 'unset', uuid, 'priority', 'scope', 'conditions')).to eq("changed: #{uuid} ('web')\n")
      expect(simpkv!('rule', 'unset', uuid, 'sensitive')).to eq("unchanged: #{uuid} ('web')\n")
      expect(rules.get(uuid)).to include('priority' => 0, 'conditions' => [])
      expect(data('rule', 'unset', uuid, 'description')).to eq(rules.get(uuid))
      expect(rules.get(uuid).keys).not_to include('scope', 'description')
    end

    it 'keep the changes of all commands that run at once' do
      uuid = create
      changes = [%w[--priority 5], %w[--scope a], %w[--description b], %w[--phase preprocess]].map do |arguments|
        Thread.new { simpkv('rule', 'set', uuid, *arguments, process: true) }
      end
      expect(changes.map { |thread| thread.value.code }).to eq([0] * 4)
      expect(rules.get(uuid)).to include('priority' => 5, 'scope' => 'a', 'description' => 'b', 'phase' => 'preprocess')
    end

    it 'leave a rule alone that was changed since the given time' do
      uuid = create
      seen = rules.get(uuid)['created_at']
      simpkv!('rule', 'set', uuid, '--priority', '5', '--updated-at', seen)
      expect(failure('rule', 'set', uuid, '--priority', '6', '--updated-at', seen))
        .to match([75, /the rule #{uuid} has been changed since #{seen}: read it again/])
      expect(failure('rule', 'set', uuid, '--priority', '6', '--updated-at', 'now'))
        .to match([65, /cannot be changed: updated_at: it must be the time of the last change, such as 2026/])
      expect(rules.get(uuid)['priority']).to eq(5)
    end

    it 'take the options of the specification' do
      uuid = create
      simpkv!('rule', 'set', uuid, '--conditions', '[{"op":"eq","args":[1,2]}]', '--uuid', uuid)
      expect(simpkv!('rule', 'unset', uuid, '--conditions', '--priority')).to start_with("changed: #{uuid}")
      expect(rules.get(uuid)).to include('conditions' => [], 'priority' => 0)
      expect(failure('rule', 'set', uuid, '--uuid', missing)).to match([65, /uuid: it cannot be changed/])
      expect(simpkv!('rule', 'get', uuid)).to eq(simpkv!('rule', 'show', uuid))
    end

    it 'never make a sensitive rule visible' do
      uuid = sensitive
      [['set', uuid, '--no-sensitive'], ['unset', uuid, 'sensitive']].each do |arguments|
        expect(failure('rule', *arguments))
          .to match([65, /the rule #{uuid} \('keys'\) cannot be changed: sensitive: it cannot be unset: delete/])
      end
      expect(in_all_formats('rule', 'set', uuid, '--actions', secret.to_json).join).not_to match(/pl4nted|hostname/)
      expect(rules.get(uuid)['sensitive']).to be(true)
    end

    it 'refuse what no rule can have, and name what is missing' do
      uuid = create
      { ['set', uuid] => [64, /nothing to change/],
        ['set', uuid, '--priority', '10000'] => [65, /cannot be changed: priority: it must be from 0 to 9999/],
        ['set', uuid, '--actions', '[]'] => [65, /cannot be changed: actions: /],
        ['set', missing, '--priority', '1'] => [66, /there is no rule '#{missing}'/],
        ['unset', uuid] => [64, /which fields\?/],
        ['unset', uuid, 'actions'] => [65, /cannot be changed: actions: /],
        ['unset', uuid, 'uuid'] => [64, /'uuid' cannot be unset, only description, scope, priority/],
        ['unset', missing, 'scope'] => [66, /there is no rule '#{missing}'/] }.each do |arguments, expected|
        expect(failure('rule', *arguments)).to match(expected)
      end
    end
  end

  describe 'delete' do
    it 'names the rules that it has deleted before another one cannot be deleted' do
      uuids = Array.new(2) { create }
      expect(simpkv('rule', 'delete', uuids[0], 'x', uuids[1]).to_a)
        .to match(["deleted: #{uuids[0]}\n", /the rule cannot be deleted: uuid: it must be a UUID/, 65])
      expect(data('rule', 'list').map { |rule| rule['uuid'] }).to eq(uuids.drop(1))
    end

    it 'deletes rules, and names those that are missing' do
      uuids = Array.new(3) { create }
      expect(simpkv('rule', 'delete', *uuids.first(2), missing).to_a)
        .to match(["deleted: #{uuids[0]}\ndeleted: #{uuids[1]}\n", /there is no rule '#{missing}'/, 66])
      expect(simpkv!('rule', 'delete', '--all')).to eq("deleted: #{uuids.last}\n")
      expect(data('rule', 'delete', '--all')).to eq('deleted' => [], 'missing' => [])
    end

    it 'needs names, or --all' do
      expect(failure('rule', 'delete')).to match([64, /name rules, or --all, and not both/])
      expect(failure('rule', 'delete', '--all', missing)).to match([64, /name rules, or --all, and not both/])
      expect(failure('rule', 'delete', 'x')).to match([65, /the rule cannot be deleted: uuid: it must be a UUID/])
    end
  end

  describe 'import' do
    let(:yaml) do
      <<~YAML
        - description: role
          conditions: &name
            - {op: eq, args: ['{inventory[hostname]}', web1]}
          actions: [{op: set-attribute, args: [/parameters/role, web]}]
        - uuid: #{missing}
          sensitive: true
          conditions: *name
          actions: [{op: set-attribute, args: [/parameters/pl4nted, pl4nted]}]
      YAML
    end

    it 'stores rules in YAML or JSON, and changes nothing the second time' do
      shown = simpkv!('rule', 'import', file(yaml))
      expect(shown).to match(/\Acreated: \S+ \('role'\)\ncreated: #{missing}\n\z/)
      before = estate.store.list('globals/estate/rules')
      json = YAML.safe_load(yaml, aliases: true).to_json
      expect(simpkv!('rule', 'import', '-', input: json)).to eq(shown.gsub('created', 'unchanged'))
      expect(estate.store.list('globals/estate/rules')).to eq(before)
      expect(simpkv!('rule', 'import', '-', input: yaml.sub('role, web', 'role, db')))
        .to eq(shown.gsub('created', 'unchanged').sub('unchanged', 'updated'))
    end

    it 'shows nothing of what a sensitive rule does' do
      expect(in_all_formats('rule', 'import', file(yaml)).join).not_to include('pl4nted')
      expect(data('rule', 'import', file(yaml)).last)
        .to match('outcome' => 'unchanged', 'rule' => include('uuid' => missing, 'sensitive' => true))
    end

    it 'stores none of ten rules if one is invalid' do
      ten = Array.new(10) { |number| { 'description' => number.to_s, 'actions' => actions } }
      ten[8]['actions'] = [{ 'op' => 'set-attribute', 'args' => %w[pl4nted pl4nted] }]
      name = file(ten.to_yaml)
      expect(failure('rule', 'import', name))
        .to match([65, /\Asimpkv: #{name}: rules\[8\]: actions\[0\]\S*: ((?!pl4nted).)*$/])
      expect(rules.list).to eq([])
    end

    { ':pl4nted' => /rules\.yaml': it has a date/,
      '[{description: 2026-11-23}]' => /rules\.yaml': it has a date/,
      "[{description: pl4nted,\n" => /neither YAML nor JSON: see line/,
      "[{description: *pl4nted}]\n" => /neither YAML nor JSON$/,
      'pl4nted' => /it must have a list of rules/, '' => /it must have a list of rules/,
      '{pl4nted: [x]}' => /it must have a list of rules/,
      '[{5: pl4nted}]' => /rules\[0\]: a rule must be a Hash with the names of fields/ }.each do |content, message|
      it "refuses #{content.inspect}, and quotes nothing" do
        code, shown = failure('rule', 'import', file(content))
        expect([code, shown]).to match([65, message])
        expect(shown).to include('rules.yaml').and match(/\A((?!pl4nted).)*\n\z/)
      end
    end

    it 'names a file that is missing' do
      expect(failure('rule', 'import', 'nosuch.yaml')).to eq([66, "simpkv: there is no file 'nosuch.yaml'\n"])
    end

    context 'with built-in rules' do
      let(:estate_options) { { 'inspection_rules' => { 'built_in' => file(yaml) } } }

      it 'never creates, changes or deletes them' do
        actions_json = actions.to_json
        [['import', file(yaml)], ['create', '--uuid', missing, '--actions', actions_json], ['delete', missing],
         ['set', missing, '--priority', '1'], ['unset', missing, 'conditions']].each do |arguments|
          expect(failure('rule', *arguments))
            .to match([65, /uuid: the rule #{missing} is built in, by \S+, and cannot/])
        end
        simpkv!('rule', 'delete', '--all')
        expect(simpkv!('rule', 'list').lines.length).to eq(3)
        expect(documents).to eq([])
      end
    end
  end

  describe 'validate' do
    it 'checks a file without a store' do
      name = file([{ 'description' => 'a', 'actions' => actions }].to_yaml)
      FileUtils.rm_rf(File.join(folder, 'keys'))
      expect(simpkv!('rule', 'validate', name)).to eq("#{name}: 1 valid rule\n")
      expect(data('rule', 'validate', name)).to eq('rules' => 1, 'problems' => [])
      expect(Dir.exist?(File.join(folder, 'keys'))).to be(false)
    end

    it 'names the first error of each rule' do
      rule = { 'description' => 'a', 'actions' => actions }
      name = file([rule, { 'actions' => actions }, rule.merge('priority' => -1, 'description' => 'b'), rule].to_yaml)
      outcome = simpkv('rule', 'validate', name)
      expect([outcome.out, outcome.code]).to eq(['', 65])
      expect(outcome.err.lines.map { |line| line[/#{name}: (rules.{24})/, 1] })
        .to eq(['rules[1]: description: a rule', 'rules[2]: priority: it must b', 'rules[3]: this is the same ru'])
      expect(JSON.parse(simpkv('rule', 'validate', name, '-o', 'json').out)['problems'].length).to eq(3)
    end

    it 'refuses more rules than an inspection reads, and so does import' do
      name = file(JSON.generate(Array.new(10_001) { |number| { 'description' => number.to_s, 'actions' => actions } }))
      %w[validate import].each do |command|
        expect(failure('rule', command, name))
          .to eq([65, "simpkv: #{name}: 10001 rules, built-in ones included: 10000 are allowed\n"])
      end
      expect(documents).to eq([])
    end

    it 'checks a file of built-in rules' do
      name = file([{ 'description' => 'a', 'priority' => 10_000, 'actions' => actions }].to_yaml)
      expect(failure('rule', 'validate', name)).to match([65, /rules\[0\]: priority: it must be from 0 to 9999/])
      expect(simpkv!('rule', 'validate', name, '--built-in')).to eq("#{name}: 1 valid rule\n")
      name = file([{ 'description' => 'a', 'actions' => [{ 'op' => 'x' }] }].to_yaml)
      expect(failure('rule', 'validate', name, '--built-in')).to match([65, /rules\[0\]: actions\[0\]/])
    end
  end

  it 'refuses YAML that means something else than it seems to' do
    rule = "- description: a\n  conditions: [{op: '!eq', args: [1, 2]}]\n  actions: [{op: log, args: [x]}]\n"
    expect(simpkv!('rule', 'validate', file(rule))).to match(/1 valid rule/)
    ["#{rule}  conditions: []\n", rule.sub("'!eq'", '! eq'), rule.sub('x]', '{node.name}]'), "#{rule}---\n#{rule}"]
      .each do |text|
        expect(failure('rule', 'import', file(text))).to match([65, /rules\.yaml': it has /])
      end
    expect(failure('rule', 'import', file("#{'? ' * 20_000}a"))).to match([65, /is nested too deeply/])
    expect(Simpkv::Inspection::Rules.of(estate).list).to eq([])
  end

  it 'completes UUIDs and fields' do
    uuid = create(description: 'web')
    { 'show ' => "#{uuid}\tweb\n", "delete #{uuid} " => '', "unset #{uuid} scope s" => "sensitive\n",
      "set #{uuid} --phase e" => /\Aearly\t/, 'imp' => /\Aimport\t/ }.each do |line, words|
      expect(simpkv!('complete', '--line', "simpkv rule #{line}")).to match(words)
    end
  end
end

RSpec.describe 'simpkv rule, in slapd' do
  include_context 'with keys in a directory', Slapd, 'plain'
  include_context 'with nodes for the command'

  let(:actions) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'web'] }] }

  it 'imports, lists, changes and deletes rules, of several commands at once' do
    list = Array.new(10) { |number| { 'description' => number.to_s, 'actions' => actions } }.to_yaml
    imports = Array.new(2) { Thread.new { simpkv('rule', 'import', '-', input: list, process: true) } }
    expect(imports.map { |thread| thread.value.code } - [0, 75]).to eq([])
    simpkv!('rule', 'import', '-', input: list)
    expect(simpkv!('rule', 'import', '-', input: list).scan('unchanged').length).to eq(10)
    rules = data('rule', 'list')
    expect(rules.map { |rule| rule['description'] }).to match_array(%w[0 1 2 3 4 5 6 7 8 9])
    uuid = rules.first['uuid']
    changes = [%w[--priority 5], %w[--scope a], %w[--phase preprocess]].map do |arguments|
      Thread.new { simpkv('rule', 'set', uuid, *arguments, process: true) }
    end
    expect(changes.map { |thread| thread.value.code }).to eq([0] * 3)
    seen = Simpkv::Inspection::Rules.of(estate).get(uuid)
    expect(seen).to include('priority' => 5, 'scope' => 'a', 'phase' => 'preprocess')
    simpkv!('rule', 'set', uuid, '--priority', '6', '--updated-at', seen['updated_at'])
    expect(simpkv('rule', 'set', uuid, '--priority', '7', '--updated-at', seen['updated_at']).code).to eq(75)
    expect { Simpkv::Inspection::Rules.of(estate).delete(uuid, updated_at: seen['updated_at']) }.to raise_error(Simpkv::ConflictError)
    expect(Simpkv::Inspection::Rules.of(estate).engine).to equal(Simpkv::Inspection::Rules.of(estate).engine)
    expect(simpkv!('rule', 'delete', '--all').lines.length).to eq(10)
    expect(documents).to eq([])
  end
end
