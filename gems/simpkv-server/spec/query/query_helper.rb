# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/query/engine'
require_relative '../support/query_tables'

# The nodes of QueryEstate in an index.
RSpec.shared_context 'with the index of an estate' do
  # The index is the same for all examples of a file: queries do not change it.
  before(:context) do
    @tables = QueryTables.new.fill
    @database = @tables.database
  end

  after(:context) { @database.close }

  let(:engine) { @tables.engine }

  # @param entity [String, nil] as in a path
  # @param query [Array, nil]
  # @param paging [Hash] parameters of Paging.of
  # @return [Array] the parsed rows
  def rows(entity, query = nil, **paging)
    [].tap do |rows|
      engine.query(entity, query, Simpkv::Query::Paging.of(**paging)) { |row| rows << JSON.parse(row) }
    end
  end

  # @return [Array<String>] the names of the nodes that a condition selects, sorted
  def nodes(condition, entity = 'inventory')
    rows(entity, ['extract', 'certname', condition]).map { |row| row['certname'] }.sort
  end

  # @return [Array<String>] the titles of the resources that a condition selects, sorted
  def titles(condition)
    rows('resources', ['extract', 'title', condition]).map { |row| row['title'] }.sort
  end

  # @return [RSpec::Matchers::BuiltIn::RaiseError]
  def be_refused(message)
    raise_error(Simpkv::Query::InvalidError, message)
  end
end
