# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/estate_files'

RSpec.describe Simpkv::Estate::Facts do
  include_context 'with an estate in files'

  let(:facts) { { 'os' => { 'name' => 'Debian', 'release' => { 'major' => '12' } }, 'disks' => [{ 'size' => 10 }] } }

  def stored
    estate.facts.find('web1')['values']
  end

  # Saves facts of a node of its own.
  #
  # @return [String] their digest
  def digest(facts)
    estate.facts.save('web2', facts)
    estate.inventory.get('web2')['facts_digest']
  end

  it 'have digests that depend on their data, and not on the order of members' do
    expect(digest('a' => 1, 'b' => { 'c' => [1], 'd' => nil }))
      .to eq digest('b' => { 'd' => nil, 'c' => [1] }, 'a' => 1)
    different = [1, 1.0, '1', nil, {}, [], [1, 2], [2, 1]]
    expect(different.map { |value| digest('a' => value) }.uniq.length).to eq 8
  end

  # Nothing knew the environment of a node that had sent facts only.
  it 'tell the environment of a node until its first catalog' do
    environment = lambda do |name|
      estate.facts.save('web1', facts, environment: name)
      estate.inventory.get('web1')['environment']
    end
    expect(%w[dev test].map(&environment) << environment.call(nil)).to eq(%w[dev test test])
    estate.exports.save('web1', {}, 'production')
    before = estate.store.calls
    expect(environment.call('dev')).to eq('production')
    expect(estate.store.calls - before).to be <= 4
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

  describe 'when several saves and deletions of a node meet' do
    let(:start) { { 'x' => 'start' } }
    let(:mine) { { 'x' => 'mine' } }
    let(:other) { { 'x' => 'other' } }

    # Moments before and after a call of the store, by its number.
    def moments(calls)
      (1..calls).flat_map { |number| [number, -number] }
    end

    # Does something in an estate of its own, which fails at a moment.
    def die(death, disturbances = {})
      dying = lambda do
        disturbances[death]&.call
        raise Simpkv::UnavailableError, 'died'
      end
      yield open_estate(options, disturbances.merge(death => dying))
      :completed
    rescue Simpkv::UnavailableError
      :died
    end

    def save(facts)
      open_estate(options).facts.save('web1', facts)
    end

    # The second attempt of a save put its facts beside the digest of the other save, and died.
    it 'leaves nothing wrong that a later save does not see if a save dies', once: true do
      results = []
      moments(4).product(moments(8), [start, mine, other]) do |moment, death, later|
        save(start)
        results << die(death, moment => -> { save(other) }) { |estate| estate.facts.save('web1', mine) }
        save(later)
        expect(stored).to eq(later), "#{later} after another save at #{moment} and a death at #{death}: #{stored}"
      end
      expect(%i[completed died].map { |result| results.count(result) }).to match([be > 10, be > 100])
    end

    # The digest of the other save stayed, so that its facts were never stored again.
    it 'stores the facts again after a deletion, whether it completes or dies', once: true do
      results = []
      moments(4).product(moments(6)) do |moment, death|
        save(start)
        results << die(death, moment => -> { save(start) }) { |estate| estate.facts.delete('web1') }
        save(start)
        expect(estate.facts.find('web1')).not_to be_nil, "a save at #{moment}, a death at #{death}"
      end
      expect(%i[completed died].map { |result| results.count(result) }).to match([be > 5, be > 50])
    end

    # The record without a digest looked the same before and after the two other saves.
    it 'keeps the facts of a save that others overtake, of which one dies', once: true do
      moments(6).product(moments(4)) do |moment, death|
        save(start)
        others = -> { save(other) && die(death) { |estate| estate.facts.save('web1', { 'x' => 'dead' }) } }
        open_estate(options, { moment => others }).facts.save('web1', mine)
        save(mine)
        expect(stored).to eq(mine), "others at #{moment}, a death at #{death}: #{stored}"
      end
    end

    it 'stores the facts of one of the saves, and their digest' do
      5.times do
        versions = (1..8).map { |number| { 'x' => number } }
        versions.map { |facts| Thread.new { save(facts) } }.each(&:join)
        kept = stored
        expect(versions).to include(kept)
        expect(estate.inventory.get('web1').keys).to contain_exactly('facts', 'facts_digest')
        expect { estate.facts.save('web1', kept) }.to change { estate.store.calls }.by(2)
      end
    end

    it 'replaces a list of saves that has another form' do
      estate.inventory.put('web1', { 'facts_saving' => ['token'] })
      save(start)
      expect(estate.inventory.get('web1').keys).to contain_exactly('facts', 'facts_digest')
    end

    it 'takes a save for dead minutes after it began, or if its time is far in the future' do
      [-3600, 3600].each do |seconds|
        estate.inventory.put('web1', { 'facts_saving' => { 'token' => (Time.now.utc + seconds).iso8601 } })
        save(start)
        expect(estate.inventory.get('web1').keys).to contain_exactly('facts', 'facts_digest')
      end
    end
  end

  # The search of all nodes had failed.
  it 'are left out of a search, and named, if their time is none' do
    estate.facts.save('web1', facts)
    estate.store.put('globals/estate/facts/web2', '{"value":{"values":{},"timestamp":"s3cret"},"metadata":{}}')
    unreadable = {}
    expect(estate.facts.select(->(key, why) { unreadable[key] = why }) { true }).to eq(%w[web1])
    expect(unreadable).to eq('globals/estate/facts/web2' => 'it has another form than simpkv writes')
    expect { estate.facts.find('web2') }
      .to raise_error(Simpkv::MalformedError, "'globals/estate/facts/web2' cannot be read: #{unreadable.values.first}")
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

    # An agent had decided how large the record is that each list of nodes reads.
    it 'are not in the inventory if they are large' do
      estate.facts.save('web1', { 'os' => { 'name' => 'x' * 3_000_000, 'release' => { 'a' => ['y' * 2048] } },
                                  'missing' => 'z' * 2000 })
      expect(estate.inventory.get('web1')['facts']).to eq('missing' => 'z' * 2000)
      expect(stored['os']['name'].length).to eq(3_000_000)
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
