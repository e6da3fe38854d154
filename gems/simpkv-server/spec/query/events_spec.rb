# frozen_string_literal: true

require_relative 'query_helper'

# The parameters that only events have, and the entities that count them.
RSpec.describe Simpkv::Query::Compiler::Options do
  include_context 'with the index of an estate'

  let(:window) do
    { 'distinct_resources' => 'true', 'distinct_start_time' => '2026-11-01T00:00:00Z',
      'distinct_end_time' => '2026-12-01T00:00:00Z' }
  end

  # @return [Array<Hash>]
  def answer(entity, query, options, **paging)
    [].tap do |rows|
      engine.query(entity, query, Simpkv::Query::Paging.of(**paging), options) { |row| rows << JSON.parse(row) }
    end
  end

  # @return [Hash{Object => Array<Integer>}] failures, skips, successes and noops by the title of the subject
  def counts(options, query = nil, **paging)
    answer('event-counts', query, options, **paging).to_h do |row|
      [row['subject']['title'], row.values_at('failures', 'skips', 'successes', 'noops')]
    end
  end

  describe 'distinct_resources' do
    def events(query, options)
      answer('events', query, options).map { |row| row.values_at('resource_title', 'property', 'status') }
    end

    it 'keeps the newest event of each property of a resource' do
      expect(events(%w[= certname web1], window))
        .to contain_exactly(%w[nginx ensure success], %w[/etc/nginx.conf mode success],
                            %w[/etc/nginx.conf owner success], ['/var/www', nil, 'skipped'])
    end

    it 'applies the query to the newest events' do
      expect(events(%w[= status failure], window)).to eq([])
      before = window.merge('distinct_end_time' => '2026-11-20T23:00:00Z')
      expect(events(%w[= status failure], before)).to eq([%w[nginx ensure failure]])
    end

    it 'needs both ends of the time' do
      expect { answer('events', nil, { 'distinct_resources' => 'true' }) }
        .to be_refused("'distinct_resources' query parameter requires accompanying parameters " \
                       "'distinct_start_time' and 'distinct_end_time'")
      expect { answer('events', nil, window.merge('distinct_end_time' => 'x')) }
        .to be_refused(/must be valid datetime strings/)
      expect { answer('nodes', nil, window) }.to be_refused("Unsupported query parameter 'distinct_resources'")
    end
  end

  describe 'event-counts' do
    it 'counts events by resource, class or node' do
      expect(counts({ 'summarize_by' => 'certname' }))
        .to eq('db1' => [0, 0, 0, 1], 'web1' => [1, 1, 3, 0], 'old1' => [0, 0, 1, 0])
      expect(counts({ 'summarize_by' => 'containing_class' })).to eq(nil => [0, 0, 0, 1], 'Nginx' => [1, 1, 4, 0])
      expect(counts({ 'summarize_by' => 'resource' })['/etc/nginx.conf']).to eq([0, 0, 2, 0])
      expect(answer('event-counts', %w[= certname db1], { 'summarize_by' => 'resource' }).first)
        .to include('subject_type' => 'resource', 'subject' => { 'type' => 'User', 'title' => 'postgres' })
    end

    it 'counts nodes' do
      options = { 'summarize_by' => 'resource', 'count_by' => 'certname' }

      expect(counts(options)['/etc/nginx.conf']).to eq([0, 0, 1, 0])
    end

    it 'filters the counts, and sorts them' do
      expect(counts({ 'summarize_by' => 'certname', 'counts_filter' => '[">","failures",0]' }).keys).to eq(%w[web1])
      expect(counts({ 'summarize_by' => 'certname' }, order_by: '[{"field":"noops"}]').keys.last).to eq('db1')
      expect(counts({ 'summarize_by' => 'certname' }, order_by: '[{"field":"certname"}]', limit: 1).keys)
        .to eq(%w[db1])
    end

    it 'refuses other parameters' do
      { {} => "Missing required query parameter 'summarize_by'",
        { 'summarize_by' => 'color' } => "Unsupported value for 'summarize_by': 'color'",
        { 'summarize_by' => 'certname', 'count_by' => 'x' } => "Unsupported value for 'count_by': 'x'",
        { 'summarize_by' => 'certname', 'counts_filter' => '["~","failures","0"]' } => /operator '~' is unknown/,
        { 'summarize_by' => 'certname', 'counts_filter' => '["=","x",0]' } =>
          'x is not a queryable object for event counts',
        { 'summarize_by' => 'certname', 'counts_filter' => '["=","failures"]' } => /exactly two arguments/,
        { 'summarize_by' => 'certname', 'counts_filter' => '[' } => /no JSON/ }.each do |options, message|
        expect { counts(options) }.to be_refused(message)
      end
      expect { counts({ 'summarize_by' => 'certname' }, order_by: '[{"field":"x"}]') }
        .to be_refused(/Unrecognized column 'x' specified in :order_by/)
    end
  end

  describe 'aggregate-event-counts' do
    def aggregates(options, query = nil, **paging)
      answer('aggregate-event-counts', query, options, **paging)
    end

    it 'counts the subjects that have such events' do
      expect(aggregates({ 'summarize_by' => 'resource,certname' }))
        .to eq([{ 'summarize_by' => 'resource', 'failures' => 1, 'skips' => 1, 'successes' => 3, 'noops' => 1,
                  'total' => 5 },
                { 'summarize_by' => 'certname', 'failures' => 1, 'skips' => 1, 'successes' => 2, 'noops' => 1,
                  'total' => 3 }])
    end

    it 'has zeros if there are no events' do
      expect(aggregates({ 'summarize_by' => 'certname' }, %w[= certname nope]).first.values_at('failures', 'total'))
        .to eq([0, 0])
    end

    it 'has no pages' do
      expect { aggregates({ 'summarize_by' => 'certname' }, nil, limit: 1) }.to be_refused(/no pages/)
    end
  end
end
