# frozen_string_literal: true

require_relative '../../../simpkv-estate/spec/estate/exports_helper'
require_relative 'puppetdb_helper'
require 'simpkv/cli'
require 'simpkv/cli/puppetdb/puppetdb_node'
require 'simpkv/termini/filter'

# The conditions of collectors, on the same resources in a PuppetDB and as simpkv imports them.
RSpec.describe Simpkv::Termini::Filter, 'and a PuppetDB' do
  include_context 'with a PuppetDB'

  conditions = [%w[title == p1], %w[title == P1], %w[title != p1], %w[tag == alpha], %w[tag == ALPHA], %w[tag != alpha],
                %w[tag != Alpha], %w[tag == nonesuch], %w[tag != nonesuch], %w[text == alpha], %w[text == Alpha],
                %w[text != alpha], %w[groups == a], ['groups', '==', %w[a b]], ['groups', '==', %w[b a]],
                ['groups', '!=', %w[a b]], ['groups', '==', []], ['number', '==', 1], ['number', '==', '1'],
                ['number', '==', 1.0], ['number', '!=', 1], ['number', '==', 2.5], ['flag', '==', true],
                ['flag', '!=', true], %w[flag == true], ['map', '==', { 'b' => 1, 'a' => { 'c' => 'D' } }],
                ['map', '==', { 'a' => { 'c' => 'd' }, 'b' => 1 }], %w[nonesuch != x], %w[nonesuch == x],
                [%w[tag == alpha], 'and', %w[text != alpha]], [%w[title == p1], 'or', ['groups', '==', %w[a b]]]]

  # @return [Array] the query for a condition
  def query(left, operator, right)
    return [operator, query(*left), query(*right)] if %w[and or].include?(operator)
    return ['not', query(left, '==', right)] if operator == '!='

    ['=', %w[title tag].include?(left) ? left : ['parameter', left], right]
  end

  it 'select the same resources' do
    things = { %w[P1 alpha] => { 'text' => 'Alpha', 'groups' => %w[a b], 'number' => 1 },
               %w[p1 alpha] => { 'text' => 'alpha', 'groups' => 'a', 'number' => '1', 'flag' => true },
               %w[x other] => { 'map' => { 'a' => { 'c' => 'D' }, 'b' => 1 }, 'flag' => false },
               %w[y alpha] => { 'number' => 1.0, 'groups' => [], 'flag' => 'true' },
               %w[z alphabet] => { 'number' => 2.5, 'groups' => [%w[a b]] } }
    resources = things.map { |(title, tag), parameters| PuppetDB.exported('Conditional', title, parameters, [tag]) }
    @puppetdb.replace_catalog('collected', resources)
    rows = @puppetdb.query('resources', ['=', 'type', 'Conditional'])
    node = Simpkv::Cli::PuppetDBNode.new({ 'certname' => 'collected' }, nil, rows, [], [])
    imported = node.exports.fetch('conditional')
    outcomes = conditions.to_h do |condition|
      found = @puppetdb.query('resources', ['and', ['=', 'type', 'Conditional'], query(*condition)])
      filter = described_class.new(condition)
      selected = imported.select { |data| filter.match?(data) } # rubocop:disable Style/SelectByRegexp
      [condition, [selected, found].map { |list| list.map { |row| row['title'] }.sort }]
    end

    expect(outcomes.reject { |_, (selected, found)| selected == found }).to eq({})
    expect(outcomes.values.map(&:last).uniq.length).to be > 10
  end
end
