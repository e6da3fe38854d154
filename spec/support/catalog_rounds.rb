# frozen_string_literal: true

# A program for JRuby: creates the adapter and its plugins for each of ARGV[0] rounds, as each catalog does, and uses
# the backends ARGV[1] (JSON). Prints ten samples as JSON: the memory that the process uses after a collection, in
# bytes, and the number of its connections and files.
require 'java'
require 'json'
require 'rspec/core'
require_relative '../puppet_helper'
require_relative 'native_memory'

rounds = Integer(ARGV[0])
options = { 'environment' => 'production', 'softfail' => false, 'backends' => JSON.parse(ARGV[1]) }

sample = lambda do |round|
  3.times { Java::JavaLang::System.gc }
  memory = Java::JavaLang::Runtime.getRuntime
  servers = Simpkv.stats['pools'].flat_map { |pool| pool['servers'] }
  { 'round' => round, 'heap' => memory.totalMemory - memory.freeMemory,
    'native' => NativeMemory.taken,
    'connections' => servers.sum { |server| server['open'] }, 'files' => Dir.children('/proc/self/fd').size }
end

work = lambda do |adapter, backend, round|
  chosen = options.merge('backend' => backend)
  value = { 'round' => round, 'float' => 9.898, 'text' => 'λ' * 100 }
  answers = [adapter.put("k#{round % 10}", value, { 'by' => 'rounds' }, chosen),
             adapter.get("k#{round % 10}", chosen), adapter.list('/', chosen),
             adapter.get('absent', chosen), adapter.delete("k#{round % 10}", chosen)]
  raise "round #{round}: another value" unless answers[1].dig(:result, :value) == value
  raise "round #{round}: an absent key was found" unless answers[3][:err_msg].include?('Key not found')
end

Puppet::Test::TestHelper.before_all_tests
Puppet::Test::TestHelper.before_each_test
world = PuppetWorld.new
adapter_class = world.adapter.class
world.inside do
  samples = (1..rounds).each_with_object([]) do |round, found|
    adapter = adapter_class.new
    options['backends'].each_key { |backend| work.call(adapter, backend, round) }
    found << sample.call(round) if (round % (rounds / 10)).zero?
  end
  puts JSON.generate(samples)
end
world.close
