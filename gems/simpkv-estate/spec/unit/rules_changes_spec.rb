# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/inspection_rules'

RSpec.describe Simpkv::Inspection::Rules, 'changes,' do
  include_context 'with inspection rules'

  describe 'two operators at once' do
    let(:uuid) { rules.create('description' => 'web', 'actions' => actions)['uuid'] }

    # @return [Simpkv::Inspection::Rules] of an operator, before whose write (the second call of the store) the block
    #   runs
    def interrupted(&change)
      described_class.of(open_estate({}, 2 => change))
    end

    # @return [Hash] an operation of a patch
    def append(action)
      { 'op' => 'add', 'path' => '/actions/-', 'value' => action }
    end

    it 'keep both changes of different fields' do
      interrupted { rules.update(uuid, { 'priority' => 1 }) }.update(uuid, { 'scope' => 's' })
      expect(rules.get(uuid)).to include('priority' => 1, 'scope' => 's')
    end

    it 'keep both changes of patches' do
      patch = [append('op' => 'log', 'args' => ['x'])]
      interrupted { rules.patch(uuid, patch) }.patch(uuid, patch)
      expect(rules.get(uuid)['actions'].length).to eq(3)
    end

    it 'see the conflict of changes that name the time they have seen' do
      seen = Simpkv::Inspection::Rules::Definition.last_change(rules.get(uuid))
      slow = interrupted { rules.update(uuid, { 'priority' => 1 }, updated_at: seen) }
      expect { slow.update(uuid, { 'priority' => 2 }, updated_at: seen) }.to raise_error(Simpkv::ConflictError)
      expect(rules.get(uuid)['priority']).to eq(1)
    end

    it 'see the conflict of a deletion that names the time it has seen' do
      seen = Simpkv::Inspection::Rules::Definition.last_change(rules.get(uuid))
      slow = interrupted { rules.update(uuid, { 'priority' => 1 }) }
      expect { slow.delete(uuid, updated_at: seen) }.to raise_error(Simpkv::ConflictError)
      expect(rules.get(uuid)['priority']).to eq(1)
      expect { rules.delete(uuid, updated_at: seen) }.to raise_error(Simpkv::ConflictError)
      expect(rules.delete(uuid, updated_at: rules.get(uuid)['updated_at'])).to be(true)
    end

    it 'see that the other has deleted the rule' do
      slow = interrupted { rules.delete(uuid) }
      expect { slow.update(uuid, { 'priority' => 1 }) }.to raise_error(Simpkv::NotFoundError)
    end

    it 'delete a rule only if it is the one that they have seen' do
      seen = Simpkv::Inspection::Rules::Definition.last_change(rules.get(uuid))
      slow = open_estate({}, -1 => -> { rules.update(uuid, { 'priority' => 1 }) })
      expect { described_class.of(slow).delete(uuid, updated_at: seen) }
        .to raise_error(Simpkv::ConflictError, "the rule #{uuid} has been changed since #{seen}: read it again")
      expect(slow.store.calls).to eq(2)
      expect(rules.get(uuid)['priority']).to eq(1)
    end

    it 'create one rule of a UUID' do
      fields = { 'uuid' => SecureRandom.uuid, 'actions' => actions }
      slow = described_class.of(open_estate({}, 1 => -> { rules.create(fields) }))
      expect { slow.create(fields) }.to raise_error(Simpkv::ExistsError)
    end

    it 'keep all changes of processes', needs: :fork do
      uuid
      pids = Array.new(4) do |number|
        fork do
          own = described_class.of(open_estate)
          5.times { |turn| own.patch(uuid, [append('op' => 'log', 'args' => ["#{number}.#{turn}"])]) }
          exit!(0)
        end
      end
      expect(pids.map { |pid| Process.wait2(pid).last.exitstatus }).to eq([0] * 4)
      expect(rules.get(uuid)['actions'].drop(1).map { |action| action['args'].first })
        .to match_array(4.times.flat_map { |number| 5.times.map { |turn| "#{number}.#{turn}" } })
    end
  end

  describe '#patch' do
    let(:uuid) { rules.create('description' => 'web', 'conditions' => conditions, 'actions' => actions)['uuid'] }

    # @param operations [Array<Array>] op, path, value
    def patch(*operations)
      rules.patch(uuid, operations.map { |op, path, more| { 'op' => op, 'path' => path }.merge(more) })
    end

    it 'applies operations in their order' do
      rule = patch(['test', '/priority', { 'value' => 0.0 }], ['add', '/scope', { 'value' => 'a' }],
                   ['replace', '/priority', { 'value' => 3 }], ['copy', '/actions/0', { 'from' => '/actions/0' }],
                   ['replace', '/actions/1/args/1', { 'value' => 'db' }],
                   ['move', '/actions/0', { 'from' => '/actions/1' }],
                   ['add', '/conditions/1', { 'value' => { 'op' => 'eq', 'args' => [1, 1] } }],
                   ['remove', '/conditions/0', {}], ['remove', '/description', {}])
      expect(rule).to include('scope' => 'a', 'priority' => 3, 'conditions' => [{ 'op' => 'eq', 'args' => [1, 1] }])
      expect(rule['actions'].map { |action| action['args'].last }).to eq(%w[db web])
      expect(rule).not_to include('description')
      expect(rules.get(uuid)).to eq(rule)
    end

    it 'replaces a whole rule' do
      rule = patch(['replace', '', { 'value' => { 'uuid' => uuid, 'actions' => actions, 'created_at' => 'x' } }])
      expect(rule.keys).to eq(%w[uuid priority phase sensitive conditions actions created_at updated_at])
      expect(rule['created_at']).to match(time)
    end

    { 'an unknown op' => [['put', '/scope', {}], 'operations[0]: op: it must be add or remove or'],
      'a path without slash' => [['remove', 's3cret', {}], 'operations[0]: path: it must be a JSON pointer'],
      'a missing value' => [['add', '/scope', {}], 'operations[0]: value: it is missing'],
      'a missing from' => [['copy', '/scope', {}], 'operations[0]: from: it is missing'],
      'a from without slash' => [['copy', '/scope', { 'from' => 'x' }], 'operations[0]: from: it must be a JSON'],
      'a missing parent' => [['add', '/a/b', { 'value' => 1 }], "operations[0]: there is no '/a/b'"],
      'a part of text' => [['add', '/phase/b', { 'value' => 1 }], "operations[0]: there is no '/phase/b'"],
      'an index too far' => [['add', '/actions/2', { 'value' => 1 }], "operations[0]: there is no '/actions/2'"],
      'an index that is none' => [['add', '/actions/01', { 'value' => 1 }], "operations[0]: there is no '/actions/01'"],
      'the removal of what is missing' => [['remove', '/scope', {}], "operations[0]: there is no '/scope'"],
      'the removal of all' => [['remove', '', {}], 'a rule must be a Hash'],
      'the removal of actions' => [['remove', '/actions', {}], 'actions: '],
      'a move into itself' => [['move', '/actions/0/x', { 'from' => '/actions/0' }], 'operations[0]: there is no'],
      'a time of simpkv' => [['replace', '/created_at', { 'value' => 'x' }],
                             'operations[0]: created_at: nobody but simpkv sets it'],
      'the removal of a time' => [['remove', '/updated_at', {}], 'operations[0]: updated_at: nobody but simpkv'],
      'a move of a time' => [['move', '/scope', { 'from' => '/created_at' }], 'operations[0]: created_at: nobody but'],
      'another UUID' => [['replace', '/uuid', { 'value' => SecureRandom.uuid }], 'uuid: it cannot be changed'],
      'a rule that is invalid then' => [['replace', '/phase', { 'value' => 'late' }], 'phase: '] }
      .each do |what, (operation, message)|
      it "refuses #{what}, and keeps the rule" do
        before = rules.get(uuid)
        expect { patch(operation) }.to raise_error(Simpkv::InvalidError) { |e| expect(e.message).to start_with(message) }
        expect(rules.get(uuid)).to eq(before)
      end
    end

    it 'refuses what is no list of operations' do
      expect { rules.patch(uuid, {}) }.to raise_error(Simpkv::InvalidError, 'a patch must be a list of operations')
      expect { rules.patch(uuid, [1]) }.to raise_error(Simpkv::InvalidError, 'operations[0]: it must be a Hash')
    end

    it 'sees that a test does not hold' do
      expect { patch(['replace', '/priority', { 'value' => 1 }], ['test', '/description', { 'value' => 's3cret' }]) }
        .to raise_error(Simpkv::ConflictError, "operations[1]: '/description' has another value")
      expect(rules.get(uuid)['priority']).to eq(0)
    end
  end

  describe 'a sensitive rule' do
    let(:uuid) { sensitive['uuid'] }

    it 'shows conditions and actions in no result' do
      results = [sensitive, rules.get(uuid), rules.list, rules.list(detail: true),
                 rules.update(uuid, { 'priority' => 1 }),
                 rules.update(uuid, { 'actions' => secret_actions.reverse }),
                 rules.patch(uuid, [{ 'op' => 'replace', 'path' => '/actions', 'value' => secret_actions }]),
                 rules.import([{ 'uuid' => uuid, 'actions' => secret_actions }])]
      expect(results.to_s).not_to include('s3cret')
      expect(rules.get(uuid)).to include('conditions' => nil, 'actions' => nil)
      expect(sensitive).to include('sensitive' => true, 'description' => 'keys')
      expect(stored(uuid)).to include('actions' => secret_actions)
    end

    it 'stays sensitive' do
      whole = { 'uuid' => uuid, 'actions' => actions }
      [-> { rules.update(uuid, { 'sensitive' => false }) }, -> { rules.update(uuid, { 'sensitive' => nil }) },
       -> { rules.patch(uuid, [{ 'op' => 'remove', 'path' => '/sensitive' }]) },
       -> { rules.patch(uuid, [{ 'op' => 'replace', 'path' => '', 'value' => whole }]) },
       -> { rules.import([whole.merge('sensitive' => false)]) }].each do |change|
        expect(&change).to raise_error(Simpkv::InvalidError, /sensitive: it cannot be unset: delete the rule/)
      end
      expect(stored(uuid)).to include('sensitive' => true, 'actions' => secret_actions)
    end

    it 'can become so' do
      open = rules.create('actions' => secret_actions)['uuid']
      expect(rules.update(open, { 'sensitive' => true })).to include('actions' => nil, 'conditions' => nil)
    end

    [{ 'op' => 'copy', 'from' => '/actions/0/args/1', 'path' => '/description' },
     { 'op' => 'copy', 'from' => '', 'path' => '/conditions' },
     { 'op' => 'move', 'from' => '/conditions/0', 'path' => '/description' },
     { 'op' => 'test', 'path' => '/actions/0/args/1', 'value' => 'a' }, { 'op' => 'test', 'path' => '', 'value' => 1 },
     { 'op' => 'test', 'path' => '/actions', 'value' => [] }, { 'op' => 'remove', 'path' => '/actions/1' },
     { 'op' => 'add', 'path' => '/conditions/3', 'value' => 1 }].each do |operation|
      it "tells nothing to the patch #{operation.values.join(' ')}" do
        before = stored(uuid)
        expect { rules.patch(uuid, [operation]) }
          .to raise_error(Simpkv::InvalidError, 'operations[0]: the rule is sensitive: its conditions and actions ' \
                                                'can only be replaced, each as a whole')
        expect(stored(uuid)).to eq(before)
      end
    end

    it 'takes patches of its other fields' do
      rules.patch(uuid, [{ 'op' => 'test', 'path' => '/priority', 'value' => 0 },
                         { 'op' => 'replace', 'path' => '/priority', 'value' => 3 },
                         { 'op' => 'remove', 'path' => '/conditions' }])
      expect(stored(uuid)).to include('priority' => 3, 'conditions' => [], 'actions' => secret_actions)
    end

    it 'gives no reason when it cannot be compiled' do
      estate.store.put("globals/estate/rules/#{uuid}",
                       Simpkv::Codec.encode(stored(uuid).merge('actions' => [{ 'op' => 's3cret', 's3cret' => 1 }])))
      expect { rules.engine }
        .to raise_error(Simpkv::InvalidError, "the rule #{uuid} ('keys') is invalid: actions[0]: the rule is " \
                                              'sensitive, so the reason is not shown')
    end

    { { 'op' => 's3cret', 'args' => [] } => 'actions[0].op',
      { 'op' => 'fail', 'args' => { 's3cret' => 1 } } => 'actions[0].args',
      { 'op' => 'set-attribute', 'args' => ['/s3cret', 1] } => 'actions[0].args[0]',
      { 'op' => 'fail', 'args' => ['{s3cret}'] } => 'actions[0].args[0]',
      { 'op' => 'fail', 'args' => { 's3cret:x' => 1 } } => 'actions[0].args',
      { 'op' => 'fail', 'args' => ['x'], 's3cret' => 1 } => 'actions[0]',
      { 'op' => 'fail', 'args' => [{ 's3cret' => Float::NAN }] } => 'conditions or actions' }.each do |action, place|
      it "gives no reason when it cannot be stored because of #{place}, #{action}" do
        message = "#{place}: the rule is sensitive, so the reason is not shown"
        fields = { 'sensitive' => true, 'actions' => [action] }
        expect { rules.create(fields) }.to raise_error(Simpkv::Error, message)
        expect { rules.update(uuid, fields) }.to raise_error(Simpkv::Error, message)
      end
    end

    it 'gives the reason for another field' do
      { 'phase' => /\Aphase: expected early, /, 'other' => /\Aother: unknown: / }.each do |name, message|
        expect { rules.update(uuid, { name => 'late' }) }.to raise_error(Simpkv::InvalidError, message)
      end
    end
  end
end
