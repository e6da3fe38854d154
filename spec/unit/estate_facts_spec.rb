# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/estate_files'

RSpec.describe Simpkv::Estate::Facts do
  include_context 'with an estate in files'

  let(:facts) { { 'os' => { 'name' => 'Debian', 'release' => { 'major' => '12' } }, 'disks' => [{ 'size' => 10 }] } }

  def stored
    estate.facts.find('web1')['values']
  end

  # Saves facts, and dies in the given write of the store.
  def save_and_die(facts, write)
    writes = 0
    dying = open_estate(options)
    dying.store.define_singleton_method(:put) do |*arguments, **more|
      raise Simpkv::UnavailableError, 'killed' if (writes += 1) == write

      super(*arguments, **more)
    end
    dying.facts.save('web1', facts)
  rescue Simpkv::UnavailableError
    writes
  end

  # The save had left a digest of the old facts beside the new ones, so that a save of the old ones wrote nothing.
  (1..3).each do |write|
    it "are complete after the next save if one dies in write #{write}, with the same facts or the old ones" do
      estate.facts.save('web1', facts)
      [{ 'cores' => 8 }, facts].each do |later|
        expect(save_and_die({ 'cores' => 8 }, write)).to eq(write)
        expect(stored).to eq(facts).or eq('cores' => 8)
        estate.facts.save('web1', later)
        expect(stored).to eq(later)
        estate.facts.save('web1', facts)
      end
    end
  end

  it 'are stored again after they were deleted' do
    2.times do
      estate.facts.save('web1', facts)
      expect(stored).to eq(facts)
      expect(estate.facts.delete('web1')).to be(true)
    end
    expect(estate.facts.delete('web1')).to be(false)
    expect(estate.inventory.get('web1')).to eq({})
  end

  it 'keep the time of the run in which they changed' do
    estate.facts.save('web1', facts)
    record = estate.facts.find('web1')
    estate.facts.save('web1', facts)
    expect(estate.facts.find('web1')).to eq(record)
  end

  it 'are stored again if only the trusted facts have changed' do
    [nil, { 'certname' => 'web1' }, { 'certname' => 'web1', 'extensions' => { 'a' => 'b' } }].each do |trusted|
      estate.facts.save('web1', facts, trusted: trusted)
      expect(estate.facts.find('web1')['trusted']).to eq(trusted)
    end
  end

  context 'with indexed_facts' do
    let(:options) { { 'indexed_facts' => %w[os.name os.release disks.0.size a.b missing] } }

    it 'are in the inventory by dotted names' do
      estate.facts.save('web1', facts.merge('a.b' => 1))
      expect(estate.inventory.get('web1')['facts'])
        .to eq('os.name' => 'Debian', 'os.release' => { 'major' => '12' }, 'disks.0.size' => 10, 'a.b' => 1)
    end

    it 'enter the inventory at the next run after the option has changed' do
      open_estate('indexed_facts' => []).facts.save('web1', facts)
      expect(estate.inventory.get('web1')['facts']).to eq({})
      estate.facts.save('web1', facts)
      expect(estate.inventory.get('web1')['facts']).to include('os.name' => 'Debian')
    end
  end

  it 'are read one by one in a search' do
    %w[web1 web2 web3].each { |name| estate.facts.save(name, { 'name' => name }) }
    File.write(File.join(root, 'globals/estate/facts/web2'), 's3cret')
    unreadable = {}
    warning = ->(key, why) { unreadable[key] = why }
    expect(estate.facts.select(warning) { |_, record| record['values']['name'] != 'web3' }).to eq(%w[web1])
    expect(unreadable.keys).to eq(%w[globals/estate/facts/web2])
  end
end
