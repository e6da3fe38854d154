# frozen_string_literal: true

require 'simpkv/query/keeper'
require_relative 'index_helper'
require_relative '../../../simpkv-estate/spec/support/estate_files'

RSpec.describe 'The index beside runs of nodes', thorough: true do
  include_context 'with an index'
  include_context 'with an estate in files'

  # The number of refreshes beside the runs.
  let(:refreshes) { 20 }
  let(:options) { { 'reports' => 3, 'catalogs' => catalogs } }

  def act(estate, random)
    certname = "web#{random.rand(6)}"
    number = random.rand(1000)
    case random.rand(10)
    when 0 then estate.public_send(%i[remove deactivate].sample(random: random), certname)
    when 1..3 then estate.facts.save(certname, { 'number' => number })
    when 4..6
      types = %w[user host mark].sample(2, random: random).to_h { |type| [type, [{ 'title' => "x#{number}" }]] }
      estate.exports.save(certname, types, 'production')
      estate.catalogs.put(certname, 'resources' => [{ 'type' => 'File', 'title' => "/#{number}" }])
      estate.statuses.update(certname) { |status| (status || {}).merge('last_seen' => Time.now.utc.iso8601(3)) }
    else estate.reports.save(certname, 'status' => 'changed', 'environment' => 'testing', 'number' => number)
    end
  rescue Simpkv::ConflictError, Simpkv::NotFoundError
    nil # Another thread was faster.
  end

  # Runs nodes until the keeper has refreshed the index so many times.
  def run_nodes(keeper)
    threads = Array.new(4) do |number|
      Thread.new do
        random = Random.new(RSpec.configuration.seed + number)
        site = open_estate(options)
        act(site, random) while keeper.progress.refreshes < refreshes && keeper.progress.failures.zero?
      end
    end
    threads.each(&:join)
  end

  # @return [Hash{String => String}] the digests in the index, by the names of nodes
  def digests
    select('SELECT certname, digest FROM nodes').to_h
  end

  [true, false].each do |catalogs|
    context "with catalogs: #{catalogs}" do
      let(:catalogs) { catalogs }

      it 'is as the store when they have ended, whatever a refresh has seen of them' do
        builder = ->(stopping) { Simpkv::Query::Builder.new(open_estate(options), index, stopping: stopping) }
        stub_const('Simpkv::Query::Keeper::PERIOD', 0.05)
        keeper = Simpkv::Query::Keeper.new(age: 0.1, &builder).start
        run_nodes(keeper)
        keeper.stop
        last = builder.call(-> { false })
        last.refresh

        # A node whose documents do not agree, because two runs wrote at once, has no digest until its next run; one
        # that lost a report, because it was removed meanwhile, until later runs have replaced it.
        expect(digests.keys).to match_array(estate.snapshots.digests.keys)
        expect(last.check).to eq []
        expect(keeper.progress).to have_attributes(failures: 0)

        digests.each_key do |certname|
          estate.exports.save(certname, { 'user' => [{ 'title' => 'last' }] }, 'production')
          3.times { estate.reports.save(certname, 'status' => 'unchanged', 'environment' => 'production') }
        end
        last.refresh
        expect(digests).to eq estate.snapshots.digests
        expect(last.check).to eq []
      end
    end
  end
end
