# frozen_string_literal: true

require 'json'
require_relative '../support/file_store'
require_relative '../support/native_memory'

RSpec.describe 'Memory of the core', :thorough, needs: :ffi do
  include FileStoreHelp

  # Returns the number of bytes by which calls let the memory grow. Calls before allocate what stays.
  def growth(calls, &call)
    20.times(&call)
    before = NativeMemory.taken
    calls.times(&call)
    NativeMemory.taken - before
  end

  def expect_failure(error, &call)
    expect(&call).to raise_error(error)
  end

  it 'is freed after calls that return large data' do
    store.put('globals/k', 'x' * 100_000)
    grown = growth(500) do
      store.get('globals/k') && store.list('globals') && store.tree('') && Simpkv.stats
      store.get_decoded('globals', 'k', false)
    end
    # A leak of the data would take 150 MB.
    expect(grown).to be < 50_000_000
  end

  it 'is freed after calls that fail' do
    store.put('globals/k', 'd')
    grown = growth(2000) do
      expect_failure(Simpkv::NotFoundError) { store.get('globals/none') }
      expect_failure(Simpkv::NotFoundError) { store.get_decoded('globals', 'none', false) }
      expect_failure(Simpkv::NotFoundError) { store.list('globals/none') }
      expect_failure(Simpkv::NotFoundError) { store.tree('globals/none') }
      expect_failure(Simpkv::IsKeyError) { store.put('globals/k/x', 'd') }
      expect_failure(Simpkv::InvalidError) { Simpkv::Native.key_join('..', '..') }
    end
    # A leak of the replies would take 70 MB. Java takes some memory, too.
    expect(grown).to be < 35_000_000
  end

  it 'is freed with rules that nobody refers to' do
    actions = [{ 'op' => 'log', 'args' => ['x' * 20_000] }]
    json = JSON.generate('rules' => Array.new(10) { { 'actions' => actions } })
    rounds = Array.new(3) do
      growth(300) do |count|
        Simpkv::Native::Rules.new(json).inspect_node('{"phases":["early"]}')
        expect_failure(Simpkv::InvalidError) { Simpkv::Native::Rules.new("#{json}]") }
        GC.start if (count % 100).zero?
      end
    end
    # A leak of the rules would take 60 MB in each round. JRuby frees them in a thread, which may be late in one.
    expect(rounds.min).to be < 35_000_000
  end
end
