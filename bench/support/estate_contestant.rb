# frozen_string_literal: true

# A contestant of the benchmark of the estate, as a process (see other_process.rb). The arguments are the client, the
# operation, and a type for searches or the number of types for saves:
#
#   ruby estate_contestant.rb estate search Bench::Host     # Simpkv::Estate
#   ruby estate_contestant.rb puppet search Bench::Host     # Puppet's indirection, with the terminus simpkv
#   ruby estate_contestant.rb puppetdb search Bench::Host   # HTTP and JSON.parse
#   ruby estate_contestant.rb puppetdb_collector search Bench::Host
#   ruby estate_contestant.rb estate save 5
#
# SIMPKV_CONFIG names the file with the options of the estate, BENCH_PUPPETDB is the URI of PuppetDB.
$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'json'
require_relative 'estate_data'
require_relative 'estate_turns'

# The operations on a store of simpkv, without Puppet.
class EstateClient
  def initialize(operation, argument)
    require 'simpkv/estate'
    @types = Integer(argument) if operation.start_with?('save')
    @changes = operation == 'save'
    @estate = Simpkv::Estate.load
  end

  def search(type, _round)
    @estate.exports.all(type.downcase)
  end

  # @return [Array<String>] the titles of the result of a search
  def titles(found)
    found.values.flatten(1).map { |resource| resource['title'] }
  end

  # Makes what a save stores.
  def before(round)
    @resources = EstateData.by_name(EstateData.saved(@types, @changes ? round : 0)) if @types
  end

  def save(_types, _round)
    @estate.exports.save('saver', @resources, 'production')
  end

  # The exports do not change.
  alias save_unchanged save
end

# The search of a collector.
class PuppetClient
  def initialize(_operation, _argument)
    require 'puppet'
    require 'puppet/test/test_helper'
    Puppet::Test::TestHelper.initialize
    Puppet::Test::TestHelper.before_all_tests
    Puppet::Test::TestHelper.before_each_test
    Puppet::Resource.indirection.terminus_class = :simpkv
    @environment = Puppet::Node::Environment.create(:production, [ENV.fetch('BENCH_MODULES')])
    @loaders = Puppet::Pops::Loaders.new(@environment)
  end

  # Each search belongs to a compiler of its own, which keeps what it has found.
  def before(_round)
    node = Puppet::Node.new('collector', environment: @environment)
    @scope = Puppet::Parser::Compiler.new(node).topscope
  end

  def search(type, _round)
    Puppet.override(loaders: @loaders, current_environment: @environment) do
      Puppet::Resource.indirection.search(type, host: 'collector', filter: nil, scope: @scope)
    end
  end

  def titles(found)
    found.map(&:title)
  end
end

# The same on PuppetDB, without its terminus: makes the resources as simpkv does.
class PuppetDBCollector < PuppetClient
  def initialize(operation, argument)
    super
    require 'simpkv/termini/resources'
    @client = PuppetDBClient.new(operation, argument)
  end

  def search(type, round)
    Puppet.override(loaders: @loaders, current_environment: @environment) do
      resource_type = Puppet::Pops::Evaluator::Runtime3ResourceSupport.find_resource_type(@scope, type)
      @client.search(type, round).map do |data|
        Simpkv::Termini::Resources.collected(resource_type, data, @scope, data['resource'])
      end
    end
  end
end

# PuppetDB over HTTP, without Puppet.
class PuppetDBClient
  def initialize(operation, argument)
    require_relative '../../gems/simpkv-server/spec/support/puppetdb_client'
    @types = Integer(argument) if operation.start_with?('save')
    @changes = operation != 'save_unchanged'
    @client = PuppetDB::Client.new(ENV.fetch('BENCH_PUPPETDB'))
  end

  def search(type, _round)
    @client.query('resources', ['and', ['=', 'type', type], ['=', 'exported', true],
                                ['not', ['=', 'certname', 'collector']]])
  end

  def titles(found)
    found.map { |resource| resource['title'] }
  end

  # Makes what a save submits.
  def before(round)
    return unless @types

    @round = @changes ? round : 0
    @resources = EstateData.catalog_resources(EstateData.saved(@types, @round))
  end

  # Returns when PuppetDB has accepted the catalog.
  def save(_types, _round)
    @client.replace_catalog('saver', @resources, wait: false)
  end

  # The exports do not change.
  alias save_unchanged save

  # Returns when queries return the catalog.
  def save_visibly(_types, _round)
    @client.replace_catalog('saver', @resources, wait: true)
  end

  # Waits until queries return the catalog, so that PuppetDB does not work on it while others are measured.
  def after
    sleep 0.02 until @round.nil? || stored?
  end

  private

  def stored?
    query = ['and', ['=', 'certname', 'saver'], ['=', 'type', 'Bench::Saved0'], ['=', 'exported', true]]
    @client.query('resources', query).any? { |each| each['parameters']['round'] == @round }
  end
end

client, operation, argument = ARGV
clients = { 'estate' => EstateClient, 'puppet' => PuppetClient, 'puppetdb' => PuppetDBClient,
            'puppetdb_collector' => PuppetDBCollector }
EstateTurns.new(clients.fetch(client).new(operation, argument), operation, argument).run($stdin, $stdout)
