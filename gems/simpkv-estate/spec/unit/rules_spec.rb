# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/inspection_rules'

RSpec.describe Simpkv::Inspection::Rules do
  include_context 'with inspection rules'

  describe '#create' do
    it 'assigns uuid and times, fills in defaults, and stores what it returns' do
      rule = rules.create('actions' => actions)
      expect(rule).to match('uuid' => /\A\h{8}-\h{4}-4\h{3}-[89ab]\h{3}-\h{12}\z/, 'priority' => 0, 'phase' => 'main',
                            'sensitive' => false, 'conditions' => [], 'actions' => actions, 'created_at' => time,
                            'updated_at' => nil)
      expect([rules.get(rule['uuid']), stored(rule['uuid'])]).to eq([rule, rule])
    end

    it 'takes all fields, and a UUID in capital letters' do
      uuid = SecureRandom.uuid
      fields = { 'description' => 'web', 'scope' => 'rack12', 'priority' => 9999, 'phase' => 'preprocess',
                 'sensitive' => false, 'conditions' => conditions, 'actions' => actions }
      rule = rules.create(fields.merge('uuid' => uuid.upcase, 'created_at' => 'x', 'updated_at' => 'x',
                                       'built_in' => false))
      expect(rule).to match(fields.merge('uuid' => uuid, 'created_at' => time, 'updated_at' => nil))
      expect(rules.get(uuid.upcase)).to eq(rule)
    end

    it 'refuses a UUID that is taken' do
      uuid = rules.create('actions' => actions)['uuid']
      before = stored(uuid)
      expect { rules.create('uuid' => uuid, 'actions' => secret_actions) }
        .to raise_error(Simpkv::ExistsError, "there is a rule #{uuid}: change it, or delete it first")
      expect(stored(uuid)).to eq(before)
    end

    { 'no actions' => [{}, /\Aactions: /],
      'another object than a Hash' => [['s3cret'], 'a rule must be a Hash with the names of fields'],
      'a name that is no String' => [{ 1 => 's3cret' }, 'a rule must be a Hash with the names of fields'],
      'an unknown field' => [{ 'condition' => 's3cret' }, /condition/],
      'a UUID that is none' => [{ 'uuid' => 's3cret' }, /\Auuid: it must be a UUID, such as \h/],
      'a priority below 0' => [{ 'priority' => -1 },
                               'priority: it must be from 0 to 9999: others are for built-in rules'],
      'a priority above 9999' => [{ 'priority' => 10_000 }, /\Apriority: it must be from 0 to 9999/],
      'a priority that is text' => [{ 'priority' => 's3cret' }, /\Apriority: /],
      'an unknown phase' => [{ 'phase' => 's3cret' }, /\Aphase: /],
      'a description of 256 characters' => [{ 'description' => 's3cret' * 43 }, /\Adescription: /],
      'a built-in rule' => [{ 'built_in' => true },
                            "built_in: only the file of the option 'built_in' has built-in rules"],
      'a wrong action' => [{ 'actions' => [{ 'op' => 'fail', 'args' => ['x'] },
                                           { 'op' => 'set-attribute',
                                             'args' => { 'path' => 5, 'value' => 's3cret' } }] },
                           /\Aactions\[1\]\.args\.path: /],
      'a condition with an unknown op' => [{ 'conditions' => [{ 'op' => 'equals', 'args' => [1, 1] }] },
                                           /\Aconditions\[0\]\.op: /],
      'an action that its phase does not have' => [{ 'phase' => 'early' }, /\Aactions\[0\]/],
      'bytes' => [{ 'description' => "s3cret\xff" }, /description/] }.each do |what, (fields, message)|
      it "refuses #{what}, names the place, quotes nothing, and stores nothing" do
        given = fields.is_a?(Hash) && !fields.empty? ? { 'actions' => actions }.merge(fields) : fields
        expect { rules.create(given) }.to raise_error(Simpkv::Error, message) { |e|
          expect([e.message, e.cause]).to match([/\A((?!s3cret).)*\z/, nil])
        }
        expect(rules.list).to eq([])
      end
    end

    it 'takes actions of the site' do
      fields = { 'actions' => [{ 'op' => 'tell-inventory', 'args' => { 'any' => ['thing'] } }] }
      expect { rules.create(fields) }.to raise_error(Simpkv::InvalidError, /\Aactions\[0\]\.op: /)
      expect(described_class.new(estate, %w[tell-inventory]).create(fields)).to include(fields)
    end
  end

  describe '#list' do
    before do
      [['m', {}], ['first', { 'priority' => 10, 'scope' => 's' }], ['p', { 'phase' => 'preprocess' }], ['m2', {}],
       ['early', { 'phase' => 'early', 'actions' => [{ 'op' => 'fail', 'args' => ['x'] }] }]].each do |name, fields|
        rules.create({ 'description' => name, 'actions' => actions }.merge(fields))
      end
    end

    it 'has the order of precedence: phase, priority, creation' do
      expect(described).to eq(%w[early p first m m2])
    end

    it 'chooses by scope and phase' do
      expect(described(rules.list(scope: 's'))).to eq(%w[first])
      expect(described(rules.list(phase: 'main'))).to eq(%w[first m m2])
      expect(rules.list(phase: 'early', scope: 's')).to eq([])
    end

    it 'has conditions, actions and times with detail only' do
      names = %w[uuid description priority phase sensitive]
      expect(rules.list.last.keys).to eq(names)
      expect(rules.list(detail: true).last.keys).to eq(names + %w[conditions actions created_at updated_at])
    end

    it 'names the key of a rule that cannot be read, and of one of another form' do
      { 'a' => '{', 'b' => '{"value":["s3cret"]}',
        'c' => '{"value":{"uuid":"c","phase":"s3cret"}}',
        'd' => JSON.generate('value' => rules.list(detail: true).last.merge('actions' => [nil])) }.each do |name, text|
        estate.store.put("globals/estate/rules/#{name}", text)
      end
      unreadable = {}
      expect(described(rules.list { |key, why| unreadable[key] = why })).to eq(%w[early p first m m2])
      expect(unreadable.keys).to match_array(%w[a b c d].map { |name| "globals/estate/rules/#{name}" })
      expect(unreadable.to_s).not_to include('s3cret')
    end
  end

  describe '#update' do
    let(:uuid) { rules.create('description' => 'web', 'scope' => 'a', 'priority' => 5, 'actions' => actions)['uuid'] }

    it 'replaces fields, keeps the others, and changes the time' do
      before = rules.get(uuid)
      rule = rules.update(uuid.upcase, { 'priority' => 7, 'conditions' => conditions })
      expect(rule).to eq(before.merge('priority' => 7, 'conditions' => conditions, 'updated_at' => rule['updated_at']))
      expect(rule['updated_at']).to be > before['created_at']
      expect(rules.get(uuid)).to eq(rule)
    end

    it 'takes nil for the default' do
      rule = rules.update(uuid, { 'description' => nil, 'scope' => nil, 'priority' => nil })
      expect(rule.keys).not_to include('description', 'scope')
      expect(rule['priority']).to eq(0)
    end

    it 'writes nothing if nothing changes' do
      before = rules.get(uuid)
      expect(rules.update(uuid, { 'priority' => 5, 'phase' => 'main' })).to eq(before)
      expect(rules.get(uuid)).to eq(before)
    end

    { 'actions that are unset' => [{ 'actions' => nil }, /\Aactions: /],
      'another UUID' => [{ 'uuid' => '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }, 'uuid: it cannot be changed'],
      'no UUID' => [{ 'uuid' => nil }, 'uuid: it cannot be changed'],
      'a reserved priority' => [{ 'priority' => 10_000 }, /\Apriority: it must be from 0 to 9999/],
      'built_in' => [{ 'built_in' => true }, /\Abuilt_in: only/],
      'an unknown field' => [{ 'name' => 's3cret' }, /name/] }.each do |what, (fields, message)|
      it "refuses #{what}, and keeps the rule" do
        before = rules.get(uuid)
        expect { rules.update(uuid, fields) }.to raise_error(Simpkv::InvalidError, message)
        expect(rules.get(uuid)).to eq(before)
      end
    end

    it 'names a rule that is missing, cannot be read, or has no UUID' do
      missing = SecureRandom.uuid
      expect do
        rules.update(missing, { 'priority' => 1 })
      end.to raise_error(Simpkv::NotFoundError, "there is no rule #{missing}")
      expect do
        rules.update('x', { 'priority' => 1 })
      end.to raise_error(Simpkv::InvalidError, /\Auuid: it must be a UUID/)
      estate.store.put("globals/estate/rules/#{missing}", '{"value":1}')
      expect { rules.update(missing, { 'priority' => 1 }) }
        .to raise_error(Simpkv::MalformedError, %r{\A'globals/estate/rules/#{missing}' cannot be read: })
    end

    it 'refuses a change of a rule that was changed since the given time' do
      seen = rules.get(uuid)['created_at']
      changed = rules.update(uuid, { 'priority' => 6 }, updated_at: seen)
      expect { rules.update(uuid, { 'priority' => 7 }, updated_at: seen) }
        .to raise_error(Simpkv::ConflictError, "the rule #{uuid} has been changed since #{seen}: read it again")
      expect(rules.get(uuid)).to eq(changed)
    end
  end

  describe '#delete' do
    it 'deletes a rule, or all, even those that cannot be read' do
      uuids = Array.new(2) { rules.create('actions' => actions)['uuid'] }
      estate.store.put('globals/estate/rules/x', '{')
      expect([rules.delete(uuids.first.upcase), rules.delete(uuids.first)]).to eq([true, false])
      expect(rules.delete_all).to eq([uuids.last, 'x'])
      expect([rules.list, rules.delete_all]).to eq([[], []])
    end

    it 'names what is missing if the time of the last change is given' do
      expect { rules.delete(SecureRandom.uuid, updated_at: '2026-11-23T08:15:00.000000Z') }
        .to raise_error(Simpkv::NotFoundError)
    end

    it 'refuses what is no time of a change' do
      uuid = rules.create('actions' => actions)['uuid']
      ['yesterday', '2026-11-23', "2026-11-23T08:15:00.000000Z\n", 5].each do |time|
        [-> { rules.delete(uuid, updated_at: time) },
         -> { rules.update(uuid, { 'priority' => 1 }, updated_at: time) }].each do |change|
          expect(&change).to raise_error(Simpkv::InvalidError, /\Aupdated_at: it must be the time of the last change, /)
        end
      end
      expect(rules.get(uuid)).to include('priority' => 0)
    end
  end

  describe '#engine' do
    it 'is nil without rules' do
      expect(rules.engine).to be_nil
    end

    it 'is the same object until a rule changes, also with actions that no rule has' do
      uuid = rules.create('actions' => actions)['uuid']
      engine = rules.engine
      expect([rules.engine, rules.engine(%w[other])]).to all(equal(engine))
      rules.update(uuid, { 'priority' => 1 })
      expect(rules.engine(%w[other])).not_to equal(engine)
      expect(rules.engine(%w[other])).to equal(rules.engine(%w[other]))
      rules.delete(uuid)
      expect(rules.engine).to be_nil
    end

    it 'names a rule that is invalid, or cannot be read' do
      own = described_class.new(estate, %w[mine])
      uuid = own.create('description' => 'x', 'actions' => [{ 'op' => 'mine', 'args' => [] }])['uuid']
      expect do
        rules.engine
      end.to raise_error(Simpkv::InvalidError, /\Athe rule #{uuid} \('x'\) is invalid: actions\[0\]\.op: /)
      expect([rules.engine(%w[mine]), own.engine]).to all(be_truthy)
      estate.store.put("globals/estate/rules/#{uuid}", '{"value":{"s3cret":1}}')
      expect do
        rules.engine(%w[mine])
      end.to raise_error(Simpkv::MalformedError, %r{\A'globals/estate/rules/#{uuid}' cannot be read})
    end
  end
end
