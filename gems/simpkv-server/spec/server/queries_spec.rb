# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/server/problem'
require 'simpkv/server/queries'
require_relative 'server_helper'
require_relative '../../../simpkv-estate/spec/support/estate_files'

RSpec.describe Simpkv::Server::Queries do
  include_context 'with an estate in files'

  let(:options) { { 'index' => "#{root}.index", 'query_age' => 2 } }
  let(:estate) { open_estate }
  let(:queries) do
    section = Simpkv::Config::Sections.convert({ 'server' => options }, 'server')
    described_class.new(section, double(estate: estate), 'owner', ->(_line) {})
  end
  let(:gate) { Queue.new }

  after do
    gate.close
    queries.stop
    FileUtils.rm_rf("#{root}.index")
  end

  # From now on, the store does not answer.
  def freeze_store
    allow(estate.snapshots).to receive(:digests).and_wrap_original do |digests|
      gate.pop
      digests.call
    end
  end

  # @return [Integer] the number of rows
  def ask
    queries.ask('path' => ['nodes']).tap { |answer| answer.file.close }.rows
  end

  def refusal
    ask && nil
  rescue Simpkv::Query::StaleError => e
    e.message
  end

  before { stub_const("#{described_class}::WAIT", 0.2) }

  # It said how old the index is, and not why.
  it 'says how long a refresh has been running if the store hangs' do
    queries.start
    eventually { refusal.nil? }
    freeze_store
    eventually { refusal.to_s.include?('running') }
    expect(refusal).to match(/\Athe index of queries is \d+ s old: a refresh has been running for \d+ s\. The store/)
    expect(queries.report).to match('ok' => false, 'age' => a_kind_of(Float), 'error' => /\Aa refresh has been running/)
    expect(queries.text).to match(/^simpkv_index_comparing_seconds [\d.]*[1-9]/)
    gate.close
    eventually { refusal.nil? }
    eventually { queries.report['error'].nil? }
  end

  it 'says it before the first refresh has ended, too' do
    freeze_store
    queries.start
    eventually { refusal.to_s.include?('running') }
    expect(refusal).to match(/\Athe index of queries is being built: a refresh has been running for \d+ s\. The store/)
  end
end
