# frozen_string_literal: true

require_relative 'query_helper'

RSpec.describe Simpkv::Query::Paging do
  include_context 'with the index of an estate'

  def kernels(**paging)
    rows('facts', %w[= name kernel], **paging).map { |row| row['certname'] }
  end

  it 'sorts rows by one or more fields' do
    expect(kernels(order_by: '[{"field":"certname"}]')).to eq(%w[db1 facts-only web1 web2])
    expect(kernels(order_by: '[{"field":"environment","order":"desc"},{"field":"certname","order":"DESC"}]'))
      .to eq(%w[db1 web2 web1 facts-only])
  end

  it 'sorts values by their kind as PostgreSQL does, empty lists first' do
    values = rows('facts', %w[= certname web1], order_by: '[{"field":"value"}]').map { |row| row['value'] }

    expect(values.slice_when { |one, other| one.class != other.class }.map { |group| group.first.class }.uniq)
      .to eq([Array, String, Float, Integer, TrueClass, Hash])
  end

  it 'puts rows without the field last, and first in descending order' do
    environments = ->(order) { rows('nodes', nil, order_by: %([{"field":"facts_environment","order":"#{order}"}])) }

    expect(environments.call('asc').last['certname']).to eq('catalog-only')
    expect(environments.call('desc').first['certname']).to eq('catalog-only')
  end

  # PuppetDB sorts by fields only.
  it 'sorts groups by an aggregate function' do
    counted = ->(**paging) { rows('facts', ['extract', [%w[function count], 'name'], %w[group_by name]], **paging) }
    numbers = counted.call(order_by: '[{"field":"count","order":"desc"},{"field":"name"}]')

    expect(numbers.first(2).map { |row| row.values_at('name', 'count') }).to eq([['kernel', 4], ['os', 4]])
    expect(numbers.map { |row| row['count'] }).to eq(numbers.map { |row| row['count'] }.sort.reverse)
    expect(counted.call(order_by: '[{"field":"count"}]', limit: 1).first['count']).to eq(1)
    expect { rows('facts', nil, order_by: '[{"field":"count"}]') }.to be_refused(/Unrecognized column 'count'/)
    maxima = rows('facts', ['extract', ['name', %w[function max value]], %w[= name uptime_seconds], %w[group_by name]],
                  order_by: '[{"field":"max"}]')
    expect(maxima).to eq([{ 'name' => 'uptime_seconds', 'max' => 90_000 }])
  end

  it 'answers with a page' do
    sorted = '[{"field":"certname"}]'

    expect(kernels(order_by: sorted, limit: '2')).to eq(%w[db1 facts-only])
    expect(kernels(order_by: sorted, limit: 2, offset: '3')).to eq(%w[web2])
    expect(kernels(order_by: sorted, offset: 3)).to eq(%w[web2])
  end

  it 'counts the rows of all pages' do
    paging = described_class.of(limit: 1, include_total: 'true')

    expect(engine.query('facts', %w[= name kernel], paging) { |_| nil }).to eq(4)
    expect(engine.query('facts', %w[= name kernel], described_class.none) { |_| nil }).to be_nil
  end

  it 'refuses other values, with the words of PuppetDB' do
    { { limit: '0' } => "Illegal value '0' for :limit; expected a positive non-zero integer.",
      { limit: 'x' } => "Illegal value 'x' for :limit; expected a positive non-zero integer.",
      { limit: '9' * 30 } => /expected a positive non-zero integer/,
      { offset: '-1' } => "Illegal value '-1' for :offset; expected a non-negative integer.",
      { order_by: 'certname' } => "Illegal value 'certname' for :order_by; expected a JSON array of maps.",
      { order_by: '["certname"]' } => /for :order_by; expected an array of maps/,
      { order_by: '[{"order":"asc"}]' } => /in :order_by; missing required key field/,
      { order_by: '[{"field":"certname","order":"up"}]' } => /'order' must be either 'asc' or 'desc'/,
      { order_by: '[{"field":"color"}]' } =>
        "Unrecognized column 'color' specified in :order_by; " \
        "Supported columns are 'name', 'certname', 'environment', 'value'" }.each do |paging, message|
      expect { kernels(**paging) }.to be_refused(message)
    end
  end
end
