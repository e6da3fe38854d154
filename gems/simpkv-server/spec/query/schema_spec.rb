# frozen_string_literal: true

require 'simpkv/query'
require 'sqlite3'

RSpec.describe Simpkv::Query::Schema do
  it 'is what SQLite takes' do
    database = SQLite3::Database.new(':memory:')
    database.execute_batch(described_class::TABLES)

    tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").flatten
    expect(tables).to include('nodes', 'facts', 'resources', 'reports', 'events')
  end
end
