# frozen_string_literal: true

$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'simpkv/estate'
require_relative 'query_data'

# The nodes of {QueryData} in an estate, in files, for a service.
class QueryNodes
  # @return [Hash] the options of the service
  attr_reader :options

  # @return [Simpkv::Estate]
  attr_reader :estate

  # @param folder [String] a temporary folder
  def initialize(folder)
    @root = File.join(folder, 'store')
    backend = { 'type' => 'file', 'id' => 'bench', 'root_path' => @root }
    @options = { 'backends' => { 'default' => backend }, 'estate' => { 'catalogs' => true },
                 'server' => { 'index' => File.join(folder, 'index.sqlite') } }
    @estate = Simpkv::Estate.new(@options) { store }
    @estate.make
  end

  # @return [Simpkv::Store]
  def store
    @store ||= Simpkv::Store.open('file', 'root_path' => @root)
  end

  # A run of a node: its facts, its catalog, and a report.
  #
  # @param run [Integer, nil] changes the facts; nil: the node runs with the facts of before
  def run(number, run = 0)
    name = QueryData.name(number)
    @estate.facts.save(name, QueryData.facts(number, run), timestamp: QueryData::TIME) if run
    save_catalog(number) if run == 0 # rubocop:disable Style/NumericPredicate -- it may be nil
    @estate.reports.save(name, 'environment' => QueryData.environment(number), 'status' => 'unchanged', 'noop' => false)
  end

  # Has the next service build its index anew.
  def delete_index
    FileUtils.rm_f(Dir["#{options['server']['index']}*"])
  end

  private

  def save_catalog(number)
    environment = QueryData.environment(number)
    @estate.exports.save(QueryData.name(number), {}, environment)
    catalog = { 'name' => QueryData.name(number), 'version' => 1, 'environment' => environment,
                'resources' => QueryData.resources(number), 'edges' => [], 'classes' => [] }
    @estate.catalogs.put(QueryData.name(number), catalog)
  end
end
