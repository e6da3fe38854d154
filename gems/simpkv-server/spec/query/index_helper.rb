# frozen_string_literal: true

require 'simpkv/query'
require 'simpkv/query/index'
require 'simpkv/query/rows'
require_relative '../../../../spec/support/scratch'

# An index in a folder of its own.
RSpec.shared_context 'with an index' do
  let(:parent) { Scratch.make('simpkv-index') }
  let(:folder) { File.join(parent, 'index') }
  let(:index) { Simpkv::Query::Index.new(folder, 'estate') }

  after do
    index.close
    FileUtils.remove_entry(parent)
  end

  # @return [Array<Array>] what the index answers
  def select(sql, *values)
    index.read { |database| database.execute(sql, values) }
  end

  # @return [Array<String>]
  def certnames
    select('SELECT certname FROM nodes ORDER BY certname').flatten
  end
end
