# frozen_string_literal: true

require 'simpkv/estate'
require_relative '../support/stepped_saves'

# Saves of one node, of which the order is known, take turns at each call of the store. Each meets the others at all
# moments, and may die at any.
RSpec.describe Simpkv::Estate::Exports, once: true do
  # The documents of estates with a node, by what it exports.
  let(:made) { {} }
  let(:now) { Time.at(1_790_000_000) }

  before do
    allow(Simpkv::CompareAndSwap).to receive(:sleep)
    allow(SecureRandom).to receive(:hex) { @token }
    allow(Time).to receive(:now) { @now || now }
  end

  def estate(store)
    Simpkv::Estate.new({ 'estate' => {} }) { store }
  end

  # @param version [Hash{Symbol => Object}] a value for each type
  def resources(version)
    version.to_h { |type, value| [type.to_s, [{ 'title' => 'x', 'parameters' => { 'x' => value } }]] }
  end

  def digests(version)
    resources(version).transform_values { |list| Simpkv::Estate::Documents.digest(Simpkv::Codec.encode(list)) }
  end

  # @param number [Integer] of a save; -1 for the run before
  # @return [String]
  def time(number)
    (now + number).utc.iso8601(6)
  end

  # @return [Hash{String => String}] the documents of an estate with a node
  def documents(version)
    made[version] ||= SteppedStore.new('web1').tap do |store|
      estate(store).make
      estate(store).markers.add_types(%w[a b])
      estate(store).exports.save_in_order('web1', resources(version), 'production', time: time(-1)) { false }
    end.documents
  end

  # @return [SteppedSaves]
  def saves(before, versions)
    store = SteppedStore.new('web1', documents(before).dup)
    SteppedSaves.new(store, versions.length) do |number|
      ours = resources(versions[number])
      estate(store).exports.save_in_order('web1', ours, 'production', time: time(number)) { @saves.later?(number) }
    end
  end

  def record(store)
    document = store.documents['globals/estate/inventory/web1']
    record = document ? Simpkv::Codec.decode(document)[:value] : {}
    record.reject { |name, _| name == 'exported_at' }
  end

  # @return [Hash{String => String}] the digests of the documents that are stored
  def stored(store)
    store.documents.select { |key, _| key.match?(%r{/exported/.*/web1\z}) }
         .to_h { |key, document| [key[%r{exported/(.*)/}, 1], Simpkv::Estate::Documents.digest(document)] }
  end

  # Whatever happens: if the record names no save, and all digests, they are those of one save and of what is stored.
  def expect_known(saves, versions)
    exports, saving = record(saves.store).values_at('exports', 'saving')
    return if saving || exports.nil? || exports.value?(nil)

    expect([saves.schedule, stored(saves.store)]).to eq [saves.schedule, exports]
    expect(versions.map { |version| digests(version) }).to include(exports), "a mixture after #{saves.schedule}"
  end

  def expect_latest(saves, version)
    expect([saves.schedule, stored(saves.store), record(saves.store)])
      .to eq [saves.schedule, digests(version), { 'environment' => 'production', 'exports' => digests(version) }]
  end

  # The next run stores what it has. One after the time in which a dead save may be alive removes its trace as well.
  def expect_completed(saves, version)
    @token = 'next'
    [0, 301].each do |seconds|
      @now = now + seconds
      estate(saves.store).exports.save('web1', resources(version), 'production')
      expect([saves.schedule, stored(saves.store)]).to eq [saves.schedule, digests(version)]
    end
    expect_latest(saves, version)
  end

  # Lets saves take turns until all have ended.
  #
  # @param known [Boolean] false if a save pauses for long: until it notices, no record says what it writes
  # @yieldparam saves [SteppedSaves]
  # @yieldreturn [Integer] whose turn it is
  def run(before, versions, known: true)
    @now = now
    @saves = saves(before, versions)
    while @saves.alive.any?
      choice = yield(@saves)
      @token = "save#{choice}"
      @saves.go(choice)
      expect_known(@saves, [before, *versions]) if known
    end
    @saves.death? ? expect_completed(@saves, versions.last) : expect_latest(@saves, versions.last)
  end

  # Lets saves take turns in an order, those of saves that have ended left out, and then one save after the other.
  #
  # @param turns [Array<Integer>]
  def run_in_turns(before, versions, turns)
    run(before, versions) do |saves|
      turns.shift until turns.empty? || saves.alive.include?([turns.first, -1 - turns.first].max)
      turns.shift || saves.alive.first
    end
  end

  # An earlier save that died left a document that no record named, and that no run deleted.
  it 'stores the later of two, wherever it meets the earlier one and this dies, or lets the next run do so' do
    (4..7).to_a.product((0..6).to_a, [{}, { a: 1 }]) do |before, after, later|
      run_in_turns({ a: 1 }, [{ a: 2 }, later], [*[0] * before, *[1] * 20, *[0] * after, -1])
    end
  end

  # The last one to end entered the digests of whatever was stored, as if one save had stored all of it.
  it 'does not call documents of several saves complete' do
    turns = [[0, 7], [1, 6], [2, 3], [1, 4], [0, 6], [2, 3]].flat_map { |number, calls| [number] * calls }
    run_in_turns({ a: 1, b: 1 }, [{ b: 1 }, { a: 2, b: 2 }, {}], turns)
  end

  # An earlier save that had counted as dead wrote over the latest one, found no digest to put back, and ended without
  # a trace. The latest one then called complete what it had not stored.
  it 'stores the latest, also if the record has forgotten an earlier one that had paused for long' do
    turns = [*[0] * 6, *[1] * 8, *[2] * 8, *[0] * 5]
    run({ a: 1 }, [{ a: 2 }, { a: 3 }, { a: 4 }]) do |saves|
      @now += 301 if saves.schedule.length == 12
      turns.shift || saves.alive.first
    end
  end

  # The record of the latest one had the bytes that an earlier one had read before all others. That erased the digests
  # by which a third one, which had paused for long, would have put back what it had replaced.
  it 'stores the latest, also if it exports what the node exported before all others' do
    turns = [*[0] * 4, *[1] * 6, *[2] * 7, 0, 1, 0, *[1] * 8, *[0] * 4]
    run({ a: 1 }, [{ a: 2 }, { a: 3 }, { a: 1 }], known: false) do |saves|
      @now += 301 if saves.schedule.length == 10
      turns.shift until turns.empty? || saves.alive.include?(turns.first)
      turns.shift || saves.alive.first
    end
  end

  # The earlier save had left a document that no record named.
  it 'stores the latest, also if the node has been removed while an earlier one had paused for long' do
    turns = [*[0] * 6, *[1] * 5, *[0] * 5]
    run({ a: 1 }, [{ a: 2 }, { b: 1 }]) do |saves|
      if saves.schedule.length == 6
        @now += 301
        saves.store.documents.delete_if { |key, _| key.end_with?('/web1') }
      end
      turns.shift || saves.alive.first
    end
  end

  it 'stores the latest of four, whichever goes on when, or lets the next run do so' do
    20.times do |seed|
      random = Random.new(seed)
      version, *versions = Array.new(5) { { a: random.rand(3), b: random.rand(3) }.reject { |_, value| value.zero? } }
      death = random.rand(80)
      run(version, versions) do |saves|
        number = saves.alive.sample(random: random)
        seed.odd? && saves.schedule.length == death ? -1 - number : number
      end
    end
  end
end
