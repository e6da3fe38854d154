# frozen_string_literal: true

require_relative 'query_helper'

# What a client sends must never become SQL.
RSpec.describe Simpkv::Query::Compiler do
  let(:marker) { "x' OR \"y\" -- ; DROP TABLE nodes" }

  # Queries with a text at each place where a client may write one. Those that name what must be known are refused.
  let(:queries) do
    [['=', marker, marker], ['=', 'certname', marker], ['~', 'certname', marker],
     ['in', 'certname', ['array', [marker]]], ['in', marker, ['array', [marker]]],
     ['=', ['fact', marker], marker], ['=', [marker, 'x'], marker],
     ['=', ['parameter', marker], marker], ['null?', marker, true], [marker, 'certname', 'x'],
     ['=', "facts.#{marker}", marker], ['=', "facts.os.#{marker}", marker],
     ['=', "parameters.\"#{marker}\".x[0]", marker],
     ['=', "facts.os.match(\"#{marker}\").x", marker], ['=', 'trusted.x', { marker => [marker] }],
     ['>', 'timestamp', marker], ['=', 'node_state', marker], ['~>', 'path', [marker]], ['=', 'path', [marker, 1]],
     ['subquery', marker, ['=', 'certname', marker]], ['subquery', 'facts', ['=', 'name', marker]],
     ['in', 'certname', ['extract', 'certname', ["select_#{marker}", ['=', 'name', marker]]]],
     ['in', 'certname', ['extract', marker, ['select_facts', ['=', 'name', marker]]]],
     ['in', 'certname', ['from', marker, %w[extract certname]]],
     ['in', 'certname', ['from', 'facts', %w[extract certname], ['order_by', [marker]]]],
     ['extract', marker], ['extract', ["facts.#{marker}", "parameters.os.#{marker}"], ['=', 'certname', marker]],
     ['extract', [['function', marker]]], ['extract', [['function', 'to_string', 'timestamp', marker]]],
     ['extract', [['function', 'avg', "facts.#{marker}"]]], ['extract', 'certname', ['group_by', marker]],
     ['extract', ["facts.#{marker}"], ['group_by', "facts.#{marker}"]]]
  end

  # @return [Array<String>] the SQL of a query on each entity that accepts it
  def compiled(query)
    Simpkv::Query::Entities::ALL.keys.flat_map do |entity|
      [entity, nil].map do |name|
        statement = described_class.new(name).compile(name ? query : ['from', entity, query])
        [statement.rows.sql, statement.total.sql]
      rescue Simpkv::Query::InvalidError
        []
      end
    end.flatten
  end

  it 'puts no text of a client into SQL' do
    statements = queries.to_h { |query| [query, compiled(query)] }

    expect(statements.values.flatten.grep(/DROP|OR "y"|x'/)).to eq([])
    expect(statements.count { |_, sql| sql.any? }).to be >= 16
  end

  it 'puts no parameter of a request into SQL' do
    options = { 'summarize_by' => 'certname', 'count_by' => 'certname', 'counts_filter' => ['>', 'failures', 0],
                'distinct_resources' => 'true', 'distinct_start_time' => '2026-11-01',
                'distinct_end_time' => '2026-12-01' }
    compile = lambda do |changed, **paging|
      described_class.new('event-counts', options.merge(changed))
                     .compile(['=', 'message', marker], Simpkv::Query::Paging.of(**paging)).rows.sql
    end

    (options.keys - ['distinct_resources']).each do |name|
      expect { compile.call({ name => marker }) }.to raise_error(Simpkv::Query::InvalidError)
    end
    [[marker, 'failures', 0], ['>', marker, 0], ['>', 'failures', marker]].each do |filter|
      expect { compile.call({ 'counts_filter' => filter }) }.to raise_error(Simpkv::Query::InvalidError)
    end
    expect { compile.call({}, order_by: [{ 'field' => marker }]) }.to raise_error(Simpkv::Query::InvalidError)
    expect(compile.call({ 'distinct_resources' => marker })).not_to include('DROP')
  end

  it 'has a value for each placeholder' do
    query = ['and', ['=', 'certname', marker], ['=', "facts.#{marker}.x", 5],
             ['in', ['fact', marker], ['array', [1, 'x']]]]
    rows = described_class.new('inventory').compile(query, Simpkv::Query::Paging.of(limit: 5)).rows

    expect(rows.binds.length).to eq(rows.sql.count('?'))
    expect(rows.binds).to include(marker, 5)
  end
end
