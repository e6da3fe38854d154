# frozen_string_literal: true

require_relative '../support/file_store'
require_relative '../support/native_memory'

RSpec.describe 'Memory of the core', :thorough, needs: :ffi do
  include FileStoreHelp

  # By how many bytes so many calls let it grow; a few are made before, for what is made once.
  def growth(calls, &call)
    20.times(&call)
    before = NativeMemory.taken
    calls.times(&call)
    NativeMemory.taken - before
  end

  def expect_failure(error, &call)
    expect(&call).to raise_error(error)
  end

  it 'is given back after calls that answer much' do
    store.put('globals/k', 'x' * 100_000)
    grown = growth(500) { store.get('globals/k') && store.list('globals') && store.tree('') && Simpkv.stats }
    # 150 MB if the answers were lost.
    expect(grown).to be < 50_000_000
  end

  it 'is given back after calls that fail' do
    store.put('globals/k', 'd')
    grown = growth(2000) do
      expect_failure(Simpkv::NotFoundError) { store.get('globals/none') }
      expect_failure(Simpkv::NotFoundError) { store.list('globals/none') }
      expect_failure(Simpkv::NotFoundError) { store.tree('globals/none') }
      expect_failure(Simpkv::IsKeyError) { store.put('globals/k/x', 'd') }
      expect_failure(Simpkv::InvalidError) { Simpkv::Native.key_join('..', '..') }
    end
    # 70 MB if the replies were lost; Java takes some for itself.
    expect(grown).to be < 35_000_000
  end
end
