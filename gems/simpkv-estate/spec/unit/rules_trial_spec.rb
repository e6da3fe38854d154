# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/inspection_rules'

RSpec.describe Simpkv::Inspection::Rules, 'before they are stored,' do
  include_context 'with inspection rules'

  let(:role) { { 'description' => 'role', 'actions' => actions } }
  let(:database) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/role', 'db'] }] }

  # @return [Simpkv::Inspection::Inspector::Outcome] with the stored rules and these
  def outcome(list, hostname = 'web1')
    Simpkv::Inspection::Inspector.new(estate, rules.trial(list), explain: true).try('web1', { 'hostname' => hostname })
  end

  def documents
    estate.store.list('globals/estate/rules')
  end

  describe '#trial' do
    it 'adds new rules to the stored ones, and stores nothing' do
      rules.create(role)
      before = documents
      expect(outcome([{ 'description' => 'later', 'actions' => database }]))
        .to have_attributes(record: include('parameters' => { 'role' => 'db' }), known: :unknown,
                            rules: match([include('description' => 'role'), include('description' => 'later')]))
      expect(outcome([]).record['parameters']).to eq('role' => 'web')
      expect(documents).to eq(before)
    end

    it 'puts a rule in the place of the stored one with its UUID, as a whole' do
      first = rules.create(role.merge('conditions' => conditions))
      rules.create('description' => 'last', 'actions' => database)
      changed = outcome([{ 'uuid' => first['uuid'].upcase, 'description' => 'new', 'actions' => actions }], 'db1')
      expect(changed.rules.map { |rule| rule.values_at('description', 'matched') })
        .to eq([['new', true], ['last', true]])
    end

    it 'keeps hidden conditions and actions of a sensitive rule, and shows nothing of them' do
      uuid = sensitive['uuid']
      [{}, { 'conditions' => nil, 'actions' => nil }, { 'sensitive' => true }].each do |more|
        tried = outcome([{ 'uuid' => uuid, 'priority' => 5 }.merge(more)], 's3cret')
        expect(tried.rules).to match([{ 'uuid' => uuid, 'phase' => 'main', 'matched' => true, 'sensitive' => true }])
        expect(tried.record['sensitive']).to eq(['/parameters/s3cret'])
      end
      expect(outcome([{ 'uuid' => uuid, 'conditions' => [] }], 'other').rules.first['matched']).to be(true)
      expect { rules.trial([{ 'uuid' => uuid, 'sensitive' => false }]) }
        .to raise_error(Simpkv::InvalidError, /\Arules\[0\]: sensitive: it cannot be unset/)
    end

    it 'names the place of what is wrong, and no value' do
      uuid = sensitive['uuid']
      { [1] => 'rules[0]: a rule must be a Hash', {} => 'it must have a list', [role, {}] => 'rules[1]: actions: ',
        [{ 'uuid' => 'x' }] => 'rules[0]: uuid: ', [role.merge('priority' => 10_000)] => 'rules[0]: priority: ',
        [role.merge('uuid' => uuid, 'sensitive' => true, 'actions' => [{ 'op' => 's3cret' }])] =>
          'rules[0]: actions[0].op: the rule is sensitive', [{ 'uuid' => uuid }, { 'uuid' => uuid }] =>
          'rules[1]: this is the same rule as rules[0]' }.each do |list, message|
        expect { rules.trial(list) }.to raise_error(Simpkv::InvalidError) { |error|
          expect(error.message).to start_with(message)
          expect(error.message).not_to include('s3cret')
        }
      end
    end
  end

  describe '#import with dry_run' do
    it 'foresees the outcome, and stores nothing' do
      stored = rules.create(role)
      before = documents
      list = [role, role.merge('description' => 'new'), role.merge('uuid' => stored['uuid'], 'priority' => 5)]
      expect(rules.import(list.first(2), dry_run: true)).to match([[:unchanged, include('uuid' => stored['uuid'])],
                                                                   [:created, include('description' => 'new')]])
      expect(rules.import(list.last(2), dry_run: true).map(&:first)).to eq(%i[created updated])
      expect { rules.import([role, {}], dry_run: true) }.to raise_error(Simpkv::InvalidError, /\Arules\[1\]: /)
      expect(documents).to eq(before)
      expect(rules.import(list.first(2)).map(&:first)).to eq(%i[unchanged created])
    end

    it 'does not tell whether a text equals that of a sensitive rule' do
      same = { 'uuid' => sensitive['uuid'], 'description' => 'keys', 'actions' => secret_actions }
      guesses = [same.merge('conditions' => secret_conditions), same.merge('conditions' => conditions)]
      expect(guesses.map { |guess| rules.import([guess], dry_run: true) })
        .to all(match([[:updated, include('conditions' => nil, 'actions' => nil)]]))
    end
  end
end
