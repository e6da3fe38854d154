# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/inspection_rules'

RSpec.describe Simpkv::Inspection::Rules, 'files,' do
  include_context 'with inspection rules'

  describe '#import' do
    let(:list) do
      [{ 'description' => 'a', 'actions' => actions },
       { 'description' => 'b', 'phase' => 'preprocess', 'actions' => actions },
       { 'uuid' => '6F0C9A52-3c4e-4a5f-9f0e-2f6a3c1d7b90', 'actions' => actions, 'conditions' => conditions }]
    end

    def outcomes(data = list)
      rules.import(data).map(&:first)
    end

    it 'creates rules in their order, and changes nothing the second time' do
      expect(outcomes).to eq(%i[created created created])
      before = estate.store.list('globals/estate/rules')
      expect(described).to eq(['b', 'a', nil])
      expect(outcomes).to eq(%i[unchanged unchanged unchanged])
      expect(estate.store.list('globals/estate/rules')).to eq(before)
    end

    it 'brings what it has listed, with the times' do
      rules.import(list)
      expect(outcomes(rules.list(detail: true))).to eq(%i[unchanged unchanged unchanged])
    end

    it 'replaces a rule as a whole' do
      rules.import(list)
      list.last.delete('conditions')
      list.first['priority'] = 5
      expect(outcomes).to eq(%i[updated unchanged updated])
      expect(rules.list.map { |rule| rule['priority'] }).to eq([0, 5, 0])
      expect(rules.get(list.last['uuid'])['conditions']).to eq([])
    end

    it 'takes a rule with the same description, phase and scope for the same one' do
      uuid = rules.create('description' => 'a', 'actions' => secret_actions)['uuid']
      rules.create('description' => 'a', 'scope' => 's', 'actions' => actions)
      expect(rules.import(list).first).to match([:updated, include('uuid' => uuid, 'actions' => actions)])
    end

    it 'creates a rule anew whose description has been changed' do
      uuid = rules.import(list).first.last['uuid']
      rules.update(uuid, { 'description' => 'c' })
      expect(outcomes).to eq(%i[created unchanged unchanged])
      expect(described).to eq(['b', 'c', nil, 'a'])
    end

    it 'lets only one of two operators create a rule' do
      slow = described_class.of(open_estate({}, 2 => -> { rules.import(list) }))
      expect { slow.import(list) }
        .to raise_error(Simpkv::ConflictError, /\Arules\[0\]: another operator has changed the rule \h.*: try again/)
      expect(described).to eq(['b', 'a', nil])
      expect(slow.import(list).map(&:first)).to eq(%i[unchanged unchanged unchanged])
    end

    it 'does not replace what another operator has changed meanwhile' do
      uuid = rules.import(list).first.last['uuid']
      list.each { |rule| rule['priority'] = 5 }
      slow = described_class.of(open_estate({}, 2 => -> { rules.update(uuid, { 'priority' => 7 }) }))
      expect { slow.import(list) }
        .to raise_error(Simpkv::ConflictError, "rules[0]: another operator has changed the rule #{uuid}: try again " \
                                               '(2 of 3 changes are stored)')
      expect(rules.get(uuid)['priority']).to eq(7)
      expect(outcomes).to eq(%i[updated unchanged unchanged])
    end

    it 'reads the rules at once, changes them in one batch, and creates one after the other' do
      list[0] = list[0].merge('uuid' => rules.create(list[0])['uuid'], 'priority' => 5)
      counted = open_estate({})
      expect(described_class.of(counted).import(list).map(&:first)).to eq(%i[updated created created])
      # A list, a batch, and for each new rule a look at the folder and a write.
      expect(counted.store.calls).to eq(6)
      expect(described_class.of(counted).import(list).map(&:first)).to eq(%i[unchanged unchanged unchanged])
      expect(counted.store.calls).to eq(7)
    end

    it 'stores none of ten rules if one is invalid' do
      ten = Array.new(10) { |number| { 'description' => number.to_s, 'actions' => actions } }
      ten[7]['actions'] = [{ 'op' => 'set-attribute', 'args' => { 'path' => 's3cret', 'value' => 1 } }]
      expect do
        rules.import(ten)
      end.to raise_error(Simpkv::InvalidError, /\Arules\[7\]: actions\[0\]\.args\.path: ((?!s3cret).)*\z/)
      expect(rules.list).to eq([])
    end

    it 'keeps a sensitive rule sensitive that does not say so again' do
      uuid = sensitive['uuid']
      expect(outcomes([{ 'description' => 'keys', 'actions' => actions }])).to eq([:updated])
      expect(stored(uuid)).to include('sensitive' => true, 'actions' => actions)
    end

    { 'a Hash' => [{ 'actions' => 's3cret' }, 'it must have a list of rules'],
      'nothing' => [nil, 'it must have a list of rules'],
      'a rule that is text' => [['s3cret'], 'rules[0]: a rule must be a Hash with the names of fields'],
      'a rule without description and UUID' => [[{ 'actions' => [] }],
                                                'rules[0]: description: a rule without uuid needs one, by which ' \
                                                'another import finds it again'] }.each do |what, (data, message)|
      it "refuses #{what}" do
        expect { rules.import(data) }.to raise_error(Simpkv::InvalidError, message)
      end
    end

    it 'refuses one rule twice' do
      expect { rules.import([list.first, list[1], list.first]) }
        .to raise_error(Simpkv::InvalidError, 'rules[2]: this is the same rule as rules[0]')
      expect { rules.import([list.last, list.last.merge('uuid' => list.last['uuid'].downcase)]) }
        .to raise_error(Simpkv::InvalidError, 'rules[1]: this is the same rule as rules[0]')
    end

    it 'stores none if there would be more rules than an inspection reads' do
      stub_const('Simpkv::Native::Rules::MAX', 4)
      rules.create('description' => 'before', 'actions' => actions)
      more = [*list, { 'description' => 'd', 'actions' => actions }]
      expect { rules.import(more) }
        .to raise_error(Simpkv::TooLargeError, '5 rules, built-in ones included: 4 are allowed')
      expect(described).to eq(['before'])
      expect(outcomes(list)).to eq(%i[created created created])
      expect(outcomes(list)).to eq(%i[unchanged unchanged unchanged])
      expect { rules.create('actions' => actions) }
        .to raise_error(Simpkv::TooLargeError, '5 rules, built-in ones included: 4 are allowed')
      expect(rules.list.length).to eq(4)
      expect(rules.update(rules.list.last['uuid'], { 'priority' => 5 })).to include('priority' => 5)
    end

    it 'stores none if all rules would exceed a limit together, which would end each inspection' do
      log = [{ 'op' => 'log', 'args' => ['x' * 60_000] }]
      large = Array.new(300) { |i| { 'description' => i.to_s, 'actions' => log } }
      rules.import(large.first(278))
      why = /\Athe rules have \d+ bytes of JSON: 16777216 are allowed\z/
      expect { rules.import(large) }.to raise_error(Simpkv::TooLargeError, why)
      more = (278..280).map { |number| large[number] }
      expect { more.each { |rule| rules.create(rule) } }.to raise_error(Simpkv::TooLargeError, why)
      small = rules.create('actions' => actions)
      expect { rules.update(small['uuid'], large.last) }.to raise_error(Simpkv::TooLargeError, why)
      expect(rules.engine).to be_a(Simpkv::Native::Rules)
      expect(Simpkv::Inspection::Rules::SourceFile.problems(large, [])).to match([why])
    end

    it 'names the limit that the regular expressions of all rules exceed, also if a sensitive rule is the last one' do
      slow = [{ 'op' => 'contains', 'args' => ['x', "(?i)#{"[\u0100-\u017f]" * 100}"] }]
      list = Array.new(31) do |i|
        { 'description' => i.to_s, 'sensitive' => true, 'conditions' => slow, 'actions' => actions }
      end
      why = /\Athe regular expressions of all rules have more than 3000 ranges/
      expect { rules.import(list) }.to raise_error(Simpkv::TooLargeError, why)
      expect(rules.list).to eq([])
    end

    it 'changes rules if those in the store cannot be compiled' do
      broken = rules.create('actions' => actions)
      other = rules.create('actions' => actions)
      estate.store.put("globals/estate/rules/#{broken['uuid']}",
                       Simpkv::Codec.encode(broken.merge('actions' => [{ 'op' => 'vanished' }])))
      expect(rules.update(other['uuid'], { 'priority' => 5 })).to include('priority' => 5)
      expect(outcomes).to eq(%i[created created created])
    end

    # The rule that the other import had not created yet came before the one that it had.
    it 'ends at a rule that another import creates meanwhile, so that the order of the file stays' do
      slow = described_class.of(open_estate({}, 2 => -> { rules.import(list.first(1)) }))
      expect { slow.import(list) }
        .to raise_error(Simpkv::ConflictError, /\Arules\[0\]: .* \(0 of 3 changes are stored\)\z/)
      expect(described).to eq([list.first['description']])
      rules.import(list)
      expect(rules.list(detail: true).sort_by { |rule| rule['created_at'] }.map { |rule| rule['description'] })
        .to eq(list.map { |rule| rule['description'] })
    end

    # The author of the file could not see what was wrong.
    it 'gives the reason for a mistake in a sensitive rule' do
      wrong = [{ 'op' => 'fail', 'args' => { 'x' => 1 } }]
      expect { rules.import([{ 'description' => 'keys', 'sensitive' => true, 'actions' => wrong }]) }
        .to raise_error(Simpkv::InvalidError, /\Arules\[0\]: actions\[0\]\.args\.x: 'fail' has no such argument/)
    end

    # It named a line and a column of JSON that nobody had written.
    it 'names the place of a number beyond 64 bits' do
      wrong = list.first.merge('actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/n', [2**63]] }])
      expect { rules.import([list.last, wrong]) }
        .to raise_error(Simpkv::InvalidError, /\Arules\[1\]: actions\[0\]\.args\[1\]\[0\]: a number beyond 64 bits/)
    end

    # It said at each attempt that another operator had changed the rule.
    it 'names a stored rule that cannot be read, and stores none' do
      uuid = rules.import([list.first]).first.last['uuid']
      estate.store.put("globals/estate/rules/#{uuid}", '{"value":[1]}')
      expect { rules.import(list.reverse) }
        .to raise_error(Simpkv::InvalidError, "rules[2]: uuid: the stored rule #{uuid} cannot be read: delete it first")
      expect(rules.list { nil }).to eq([])
      expect(rules.delete(uuid)).to be(true)
      expect(outcomes).to eq(%i[created created created])
    end

    it 'names rules that it cannot tell apart' do
      uuids = Array.new(2) { rules.create('description' => 'a', 'actions' => actions)['uuid'] }
      expect { rules.import(list) }.to raise_error(Simpkv::InvalidError, /\Arules\[0\]: uuid: .*#{uuids.join(', ')}\z/)
    end
  end

  describe 'built-in rules' do
    let(:options) { { 'inspection_rules' => { 'built_in' => file } } }
    let(:file) do
      built_in(<<~YAML)
        - description: vendors
          priority: -5
          actions: [{op: fail, args: [s3cret]}]
          sensitive: true
        - &rule
          description: first
          priority: 20000
          actions: [{op: fail, args: [closed]}]
        - {<<: *rule, description: second, uuid: 6F0C9A52-3C4E-4A5F-9F0E-2F6A3C1D7B90, priority: 0}
      YAML
    end
    let(:uuid) { '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }

    it 'are in the list, before stored ones of the same priority' do
      rules.create('description' => 'mine', 'actions' => actions)
      expect(described).to eq(%w[first second mine vendors])
      expect(rules.list.map { |rule| rule['built_in'] }).to eq([true, true, nil, true])
      expect(rules.list(detail: true).to_s).not_to include('s3cret')
      expect(rules.get(uuid)).to include('description' => 'second', 'built_in' => true)
    end

    it 'count when rules are created and imported, and are refused if they are too many themselves' do
      stub_const('Simpkv::Native::Rules::MAX', 3)
      expect { rules.create('actions' => actions) }.to raise_error(Simpkv::TooLargeError, /\A4 rules, built-in ones/)
      expect { rules.import([{ 'description' => 'a', 'actions' => actions }]) }
        .to raise_error(Simpkv::TooLargeError, '4 rules, built-in ones included: 3 are allowed')
      stub_const('Simpkv::Native::Rules::MAX', 2)
      expect { described_class.of(estate).list }
        .to raise_error(Simpkv::ConfigError, /\.yaml: 3 rules, built-in ones included: 2 are allowed/)
    end

    it 'have a UUID that depends on their description' do
      uuids = rules.list.map { |rule| rule['uuid'] }
      File.write(file, YAML.dump(YAML.safe_load(File.read(file), aliases: true).reverse))
      expect(rules.list.map { |rule| rule['uuid'] }).to eq(uuids)
    end

    it 'are read again when the file changes' do
      rules.list
      File.write(file, '[{"description": "new", "actions": [{"op": "fail", "args": ["x"]}]}]')
      expect(described).to eq(%w[new])
      File.write("#{file}.new", '[]')
      File.rename("#{file}.new", file)
      expect(described).to eq([])
    end

    it 'cannot be created, changed or deleted' do
      fields = { 'uuid' => uuid, 'actions' => actions }
      [-> { rules.create(fields) }, -> { rules.update(uuid, { 'priority' => 1 }) }, -> { rules.delete(uuid) },
       -> { rules.delete(uuid, updated_at: 'x') }, -> { rules.import([fields]) },
       -> { rules.patch(uuid, [{ 'op' => 'remove', 'path' => '/conditions' }]) }].each do |change|
        expect(&change).to raise_error(Simpkv::InvalidError, /uuid: the rule #{uuid} is built in, by .*, and cannot be/)
      end
      expect([rules.delete_all, described]).to eq([[], %w[first second vendors]])
    end

    { 'a missing file' => [nil, /'built_in' of 'inspection_rules' of 'estate': .*built_in\.yaml: No such file/],
      'another form' => ['a: s3cret', /built_in\.yaml: it must have a list of rules/],
      'a file that is no YAML' => ["[{\ns3cret: [",
                                   /built_in\.yaml: it is neither YAML nor JSON: see line/],
      'a rule without name' => ['[{actions: []}]',
                                /built_in\.yaml: rules\[0\]: description: a built-in rule needs one/],
      'a phase that does not exist' => ['[{description: a, phase: s3cret, actions: []}]',
                                        /rules\[0\]: phase: it must be/],
      'a description twice' => ['[{description: a, actions: []}, {description: a, actions: [1]}]',
                                /rules\[1\]: this is the same rule as rules\[0\]/] }.each do |what, (content, message)|
      it "are an error that names the file, for #{what}" do
        content ? File.write(file, content) : File.delete(file)
        [-> { rules.list }, -> { rules.engine }, -> { rules.create('actions' => actions) }].each do |call|
          expect(&call).to raise_error(Simpkv::ConfigError, message) { |e| expect(e.message).not_to include('s3cret') }
        end
      end
    end
  end
end
