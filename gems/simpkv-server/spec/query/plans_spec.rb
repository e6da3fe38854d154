# frozen_string_literal: true

require_relative 'query_helper'

# Queries that sites ask often must find their rows by an index: a table of 10,000 nodes has a million facts.
RSpec.describe Simpkv::Query::Compiler, 'with the planner of SQLite' do
  include_context 'with the index of an estate'

  # A scan of a table with many rows for each node. The names are those of the sources of entities.
  scan = /\ASCAN (?:f|own|r|e|facts|resources|edges|reports|events)\b/

  # @return [Array<String>] the steps of a query
  def plan(entity, query)
    engine # defines the functions
    rows = described_class.new(entity).compile(query).rows
    @database.execute("EXPLAIN QUERY PLAN #{rows.sql}", rows.binds).map(&:last)
  end

  nginx = ['and', %w[= type Class], %w[= title Nginx]]
  { 'nodes by a structured fact' => ['inventory', ['extract', 'certname', %w[= facts.os.family Debian]]],
    'nodes by a fact' => ['nodes', ['=', %w[fact kernel], 'Linux']],
    'nodes by a subquery of facts' => ['nodes', ['subquery', 'facts', ['and', %w[= name kernel], %w[= value Linux]]]],
    'nodes by a path of a fact' => ['nodes', ['subquery', 'fact_contents', ['=', 'path', %w[os family]]]],
    'nodes by a pattern of a path' => ['nodes', ['subquery', 'fact_contents', ['~>', 'path', %w[os .*]]]],
    'nodes by a class' => ['nodes', ['subquery', 'resources', nginx]],
    'nodes without a class' => ['nodes', ['not', ['subquery', 'resources', nginx]]],
    'a fact of all nodes' => ['facts', %w[= name kernel]],
    'the facts of a node' => ['facts', %w[= certname web1]],
    'a fact of a node' => ['facts', ['and', %w[= certname web1], %w[= name os]]],
    'the inventory of a node' => ['inventory', %w[= certname web1]],
    'exported resources' => ['resources', ['and', %w[= type Host], ['=', 'exported', true], %w[= tag hosts]]],
    'the resources of a node' => ['resources', %w[= certname web1]],
    'the catalog of a node' => ['catalogs', %w[= certname web1]],
    'the edges of a node' => ['edges', %w[= certname web1]],
    'the reports of a node' => ['reports', %w[= certname web1]],
    'a report' => ['reports', %w[= hash abc]],
    'the events of a report' => ['events', %w[= report abc]],
    'the events of a node' => ['events', %w[= certname web1]] }.each do |name, (entity, query)|
    it "finds #{name} by an index" do
      expect(plan(entity, query).grep(scan)).to eq([])
    end
  end

  # The nodes were half of the time of a count of half a million resources.
  it 'counts resources and events without a look at the node of each' do
    since = ['in', 'report', ['extract', 'hash', ['select_reports', ['>', 'producer_timestamp', '2026-01-01']]]]
    { 'resources' => ['extract', [%w[function count], 'type'], %w[group_by type]],
      'events' => ['extract', [%w[function count], 'resource_type'], since, %w[group_by resource_type]] }
      .each { |entity, query| expect(plan(entity, query).grep(/ n\b/)).to eq([]) }
    titles = ['extract', [%w[function count], 'title', 'exported'], %w[= type File], %w[group_by title exported]]
    expect(plan('resources', titles).grep_v(/SUBQUERY|nodes/))
      .to match([/\ASEARCH r USING COVERING INDEX/])
    expect(plan('resources', ['extract', 'certname', %w[= type Class]]).grep(/ n\b/)).not_to eq([])
  end

  # To gather and sort the hashes of a day's reports took longer than all else, and more than twice as long for twice as
  # many.
  it 'compares nodes and reports of a subquery by their numbers' do
    day = ['select_reports', ['>', 'producer_timestamp', '2026-01-01']]
    expect(plan('events', ['in', 'report', ['extract', 'hash', day]]).join("\n"))
      .to match(/SEARCH r USING INTEGER PRIMARY KEY.*SEARCH r USING COVERING INDEX reports_by_time/m)
    expect(plan('nodes', ['in', 'certname', ['extract', 'certname', ['select_facts', %w[= name kernel]]]]).join("\n"))
      .to match(/SEARCH n USING INTEGER PRIMARY KEY/)
  end

  it 'sees a scan where there is one' do
    expect(plan('facts', %w[= value Linux]).grep(scan)).to eq(['SCAN f'])
  end
end
