# frozen_string_literal: true

require_relative '../spec_helper'
require_relative '../support/file_store'

RSpec.describe 'Simpkv::Store#watch, in files' do
  include FileStoreHelp

  # Watches in a thread, and runs the block once the watch has begun.
  #
  # @param count [Integer] how many changes to wait for, after the first one
  # @return [Array<Simpkv::Change>] with the first one
  def changes(folder = 'globals', count: 1, since: nil, &block)
    seen = Queue.new
    watcher = Thread.new { store.watch(folder, since: since) { |change| seen << change } }
    first = seen.pop
    block&.call
    [first] + Array.new(count) { seen.pop }
  ensure
    watcher.kill.join
  end

  it 'yields each change with the path of its key, after it is ready' do
    store.put('globals/old', 'd')
    store.put('globals/a/other', 'd')
    seen = changes(count: 3) do
      store.put('globals/new', 'd')
      store.put('globals/a/b', 'd')
      store.delete('globals/old')
    end
    expect(seen.map { |change| [change.kind, change.key] })
      .to eq([[:ready, ''], [:put, 'new'], [:put, 'a/b'], [:delete, 'old']])
    expect(seen.map(&:complete)).to eq([true, nil, nil, nil])
    expect(seen.map(&:cookie)).to all(match(/\Afile:\d+\z/))
  end

  it 'continues from a cookie, and says whether deletions are unknown' do
    cookie = changes(count: 0).first.cookie
    store.put('globals/a/b', 'd')
    seen = []
    store.watch('globals', since: cookie) do |change|
      seen << change
      break if change.kind == :ready
    end
    expect(seen.map { |change| [change.kind, change.key] }).to eq([[:put, 'a/b'], [:ready, '']])
    expect(seen.last.complete).to be(false)
  end

  it 'raises what is wrong' do
    store.put('globals/key', 'd')
    expect { store.watch('globals/none') { nil } }.to raise_error(Simpkv::NotFoundError)
    expect { store.watch('globals/key') { nil } }.to raise_error(Simpkv::NotFoundError)
    expect { store.watch('globals', since: 'x') { nil } }.to raise_error(Simpkv::InvalidError, /cookie/)
    expect { store.watch('globals', since: 'file:1' * 999) { nil } }.to raise_error(Simpkv::TooLargeError)
    expect { store.watch('globals', since: 1) { nil } }.to raise_error(TypeError)
  end

  # The JVM opens some descriptors of its own. A leak would be ten.
  it 'ends with the exceptions of its block and of other threads, and leaves no descriptor' do
    before = Dir.children('/proc/self/fd').length
    5.times { expect { store.watch('globals') { raise StopIteration } }.to raise_error(StopIteration) }
    5.times { changes(count: 0) }
    expect(Dir.children('/proc/self/fd').length).to be < before + 5
  end

  it 'ends when its folder is deleted, after the deletions' do
    store.put('globals/f/a', 'd')
    seen = []
    expect do
      store.watch('globals/f') do |change|
        seen << change.kind
        store.deletetree('globals/f') if change.kind == :ready
      end
    end.to raise_error(Simpkv::NotFoundError)
    expect(seen).to eq(%i[ready delete])
  end
end
