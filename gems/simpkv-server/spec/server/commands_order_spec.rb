# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/server/commands/replace_catalog'
require_relative 'server_helper'
require_relative '../../../../spec/support/disturbed_store'
require_relative '../../../../spec/support/wire_formats'

# Two compilers send the catalogs of one node at the same moment.
RSpec.describe Simpkv::Server::Commands::ReplaceCatalog do
  include WireFormats

  # @return [Hash{String => Array<Hash>}] resources of several types, with the parameter
  def resources(**values)
    values.map { |type, value| resource("Site::#{type}", 'a', { 'x' => value }, 'exported' => true) }
  end

  let(:times) { (0..7).map { |number| Time.now - 10 + number } }
  let(:first) { resources(Kept: 1, Changed: 1, Gone: 1) }
  let(:versions) { [first, resources(Kept: 1, Changed: 2, New: 1), resources(Kept: 1, Changed: 3, New: 1, Gone: 1)] }

  # @return [Simpkv::Estate] on the store in a folder
  def estate(folder, disturbances = {})
    estate = Simpkv::Estate.new({ 'estate' => { 'catalogs' => true } }, [[]]) do
      DisturbedStore.new(Simpkv::Store.open('file', 'root_path' => folder))
    end
    estate.tap { estate.store.disturb(disturbances) }
  end

  def save(estate, resources, at)
    payload = Simpkv::Server::Commands::Payload.new(catalog_payload('web1', resources, at: at))
    described_class.new(payload).save(estate)
  end

  # @param outer [Array] resources and time of the command that is interrupted
  # @param inner [Array] those of the other one
  # @param moment [Integer] the number of the call of the store before which it is interrupted; negative: after which
  # @return [Array] the types of which other resources are stored than those of the later one; nil: not interrupted
  def meeting(outer, inner, moment)
    Scratch.make('commands-order') do |folder|
      estate(folder).make
      save(estate(folder), first, times.first)
      met = false
      meanwhile = lambda do
        met = true
        save(estate(folder), *inner)
      end
      save(estate(folder, moment => meanwhile), *outer)
      wrong(estate(folder), [inner, outer].max_by(&:last)) if met
    end
  end

  def wrong(estate, (resources, time))
    catalog = estate.catalogs.get('web1')['producer_timestamp'] == time.utc.iso8601(3)
    known = records(estate, time).include?(estate.inventory.get('web1'))
    [*wrong_types(estate, resources), *('record' unless known),
     *('catalog' unless catalog)]
  end

  def wrong_types(estate, resources)
    wanted = resources.to_h { |each| [each['type'].downcase, each['parameters']] }
    stored = estate.exports.of('web1').transform_values { |list| list.first['parameters'] }
    (wanted.keys | stored.keys).reject { |type| wanted[type] == stored[type] }
  end

  # @return [Array<Hash>] the records of the inventory that there may be after the last save. It writes no time if the
  #   exports stay the same
  def records(estate, time)
    at = [time, *times].map { |each| each.utc.iso8601(3) }
    at.map { |text| { 'environment' => 'production', 'exports' => digests(estate), 'exported_at' => text } }
  end

  def digests(estate)
    estate.exports.of('web1').transform_values { |list| Simpkv::Estate::Documents.digest(Simpkv::Codec.encode(list)) }
  end

  # The command that ended last decided, so that older exports could stay.
  it 'stores what the later one has, whichever is interrupted by the other one, and when' do
    meetings = 0
    versions.product(versions, [1, 2]).each do |older, newer, interrupted|
      commands = [[older, times[1]], [newer, times[2]]]
      commands.reverse! if interrupted == 2
      [1, -1].each do |side|
        (1..).each do |number|
          wrong = meeting(*commands, number * side)
          break unless wrong

          meetings += 1
          expect([older, newer, interrupted, number * side, wrong]).to eq [older, newer, interrupted, number * side, []]
        end
      end
    end
    expect(meetings).to be > 200
  end

  # Pauses of different lengths before the calls of the store let the saves meet at all moments.
  def pauses
    (1..60).to_h { |number| [number, -> { sleep(rand < 0.2 ? rand / 50 : 0) }] }
  end

  it 'stores what the latest of many has, all at once' do
    10.times do
      Scratch.make('commands-order') do |folder|
        estate(folder).make
        commands = times.each_with_index.map { |time, number| [versions[number % 3], time] }
        commands.shuffle.map { |command| Thread.new { save(estate(folder, pauses), *command) } }.each(&:join)
        expect(wrong(estate(folder), commands.last)).to eq []
      end
    end
  end
end
