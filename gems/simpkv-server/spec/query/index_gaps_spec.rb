# frozen_string_literal: true

require 'simpkv/query/builder'
require_relative 'index_helper'
require_relative '../../../simpkv-estate/spec/support/estate_files'

# A run that dies after it has stored the status leaves an older report in the place of its own.
RSpec.describe Simpkv::Query::Builder do
  include_context 'with an index'
  include_context 'with an estate in files'

  let(:builder) { described_class.new(open_estate(options), index) }

  # @return [Simpkv::Estate::WholeReport] with details that are a document of their own
  def report(number)
    time = Time.at(1_790_000_000 + number).utc.iso8601
    members = { 'host' => 'web1', 'status' => 'changed', 'environment' => 'production', 'time' => time,
                **Simpkv::Estate::Produced.members('compiler', time) }
    Simpkv::Estate::WholeReport.new(members, {}, [], [{ 'level' => 'notice', 'message' => 'x' * 2000 }])
  end

  # Stores a report, and dies before a call of the store.
  #
  # @return [Boolean] whether it died
  def die(number, call)
    died = Class.new(Exception) # rubocop:disable Lint/InheritException
    open_estate(options, call => -> { raise died }).reports.save('web1', report(number))
    false
  rescue died
    true
  end

  def save(number)
    estate.reports.save('web1', report(number))
  end

  # @return [Array<Integer>] the runs whose reports queries show
  def runs
    builder.refresh
    select('SELECT run FROM reports ORDER BY run').flatten
  end

  def stored_runs
    estate.reports.all('web1').map { |report| report['run'] }.sort
  end

  # Cuts a run at each call of the store, and stores others after it.
  #
  # @yieldparam cut [Array] where it was cut
  # @return [Integer] the number of cuts
  def each_cut
    (1..).each do |call|
      FileUtils.rm_rf(File.join(root, 'globals'))
      estate.make
      index.delete
      (1..(options['reports'] + 1)).each { |number| save(number).then { runs } }
      return call - 1 unless die(20, call)

      yield [options['reports'], call]
    end
  end

  # Queries lacked the older report.
  [1, 2, 3, 5].each do |reports|
    context "with reports: #{reports}" do
      let(:options) { { 'reports' => reports } }

      [-1, 60].each do |settling|
        it "has the reports of the store, wherever a run has died, if it counts as dead after #{settling} s" do
          stub_const('Simpkv::Estate::Snapshots::SETTLING', settling)
          cuts = each_cut do |cut|
            expect([cut, runs]).to eq [cut, stored_runs]
            expect(stored_runs).not_to be_empty
            (reports + 2).times do |number|
              save(30 + number)
              expect([cut, number, runs]).to eq [cut, number, stored_runs]
              expect([cut, number, builder.check]).to eq [cut, number, []]
              die(50 + number, cut.last) if number == 1
              expect([cut, number, runs]).to eq [cut, number, stored_runs]
            end
          end
          expect(cuts).to be > 4
        end
      end
    end
  end
end
