# frozen_string_literal: true

require_relative 'types_helper'

# bin/bench keys measures seconds and memory. These examples count what a run asks of the server.
RSpec.describe 'A run with many keys' do
  include_context 'with keys in a directory', Slapd, layout: 'plain', limits: true

  let(:number) { 500 }
  let(:stored) { (1..number).to_h { |n| ["app1/k#{n}", { value: "value #{n}" }] } }
  let(:manifest) { <<~PUPPET }
    simpkv_folder { 'app1': purge => true, recurse => true }
    Integer[1, #{number}].each |$n| { simpkv_key { "app1/k${n}": value => "value ${n}" } }
  PUPPET

  before { fill(stored) }

  # @return [Hash{Symbol => Integer}] the requests of each kind that the server got while the block ran
  def requests
    kinds = { search: 'SRCH base=', add: 'ADD dn=', modify: 'MOD dn=', delete: 'DEL dn=', bind: 'method=128' }
    count = -> { kinds.transform_values { |text| directory.count_in_log(text) } }
    before = count.call
    yield
    count.call.merge(before) { |_, after, earlier| after - earlier }
  end

  context 'of which none has changed', thorough: true do
    let(:number) { 2500 }

    it 'reads each key once and lists the folder once, over one connection, and writes nothing' do
      counts = requests { apply!(manifest) }
      expect([changed, counts.values_at(:add, :modify, :delete)]).to eq([[], [0, 0, 0]])
      # The others are for the root DSE, the base entry, the folder, and the pages of its listing, of 500 entries each.
      expect(counts[:search]).to be_between(number + 1, number + (number / 500) + 20)
      expect(counts[:bind]).to be <= 4
    end
  end

  it 'removes each key with one deletion, and after one look at most' do
    fill((1..300).to_h { |n| ["app1/below/old#{n}", { value: n }] })
    counts = requests { apply!(manifest) }
    expect([removed.length, keys.length, counts[:delete]]).to eq([300, number, 300])
    expect(counts[:search]).to be <= number + 300 + 20
  end

  it 'does the work of one key for each that changed' do
    fill('app1/k7' => { value: 'changed' }, 'app1/k8' => { value: 'changed' })
    counts = requests { apply!(manifest) }
    expect([changed, counts.values_at(:add, :modify, :delete)]).to eq([key_resources('app1/k7', 'app1/k8'), [0, 2, 0]])
  end
end
