# frozen_string_literal: true

require_relative '../support/eventually'
require_relative '../support/file_store'
require_relative '../support/processes'

# Several processes on one root, and signals during calls.
RSpec.describe Simpkv::Store, 'in files, used by several processes', :once, needs: :fork do
  include FileStoreHelp
  include Processes

  # The parent opens it, so that all children have the same root.
  before { store }

  # Calls the block until it has returned another result than the time before 20 times, while two processes write.
  #
  # @param write [Proc] called again and again with the number of the process and that of the call
  # @return [Array] the different results
  def read_beside(write, &read)
    writers = (0..1).map { |writer| child { (0..).each { |count| write.call(writer, count) } } }
    results = met(20, &read)
    writers.each { |pid| Process.kill(:KILL, pid) }
    # They had not failed before.
    expect(writers.map { |pid| status_of(pid).termsig }).to eq([9, 9])
    results
  ensure
    writers.each { |pid| Process.kill(:KILL, pid) } unless results
  end

  def met(changes)
    results = [yield]
    last = results.first
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120
    while changes.positive?
      raise 'the writers write too little' if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      found = yield
      changes -= 1 if found != last
      results |= [last = found]
    end
    results
  end

  it 'never returns an incomplete document to a reader (3,359 failures in 4 s)' do
    documents = [10, 5_000, 200_000].map { |size| ('a'.ord + (size % 7)).chr * size }
    store.put('globals/k', documents.first)
    write = ->(writer, count) { store.put('globals/k', documents[(count + writer) % 3]) }
    expect(documents).to include(*read_beside(write) { store.get('globals/k') })
    expect(documents).to include(store.get('globals/k'))
  end

  it 'never returns an incomplete document of a key that is created and deleted' do
    document = 'x' * 50_000
    write = ->(*) { store.put('globals/f/k', document) && store.deletetree('globals/f') }
    results = read_beside(write) do
      store.get('globals/f/k')
    rescue Simpkv::NotFoundError
      nil
    end
    expect(results).to contain_exactly(document, nil)
  end

  it 'deletes a tree that other processes delete and create again (it waited for a deleted folder)' do
    others = (0..3).map do
      child do
        200.times do |i|
          store.put("globals/f/k#{i % 10}", i.to_s)
          store.deletetree('globals/f') if (i % 20).zero?
        end
      end
    end
    expect_success_of(*others)
  end

  it 'lets one writer succeed when several expect the same document' do
    store.put('globals/n', '0')
    counters = (0..2).map do
      child do
        won = 0
        while won < 50
          seen = store.get('globals/n')
          begin
            store.put('globals/n', seen.succ, condition: :expect, expect: seen)
            won += 1
          rescue Simpkv::ConflictError
            next
          end
        end
        true
      end
    end
    expect_success_of(*counters)
    expect(store.get('globals/n')).to eq('150')
  end

  it 'lets one of several writers create a key' do
    made = (0..19).map do |i|
      reading, writing = IO.pipe
      makers = (0..2).map do |n|
        child do
          store.put("globals/new#{i}", "document #{n}", condition: :absent)
          writing.write(n.to_s)
        rescue Simpkv::ExistsError
          true
        end
      end
      expect_success_of(*makers)
      writing.close
      winners = reading.read
      reading.close
      [winners.length, store.get("globals/new#{i}") == "document #{winners}"]
    end
    expect(made.uniq).to eq([[1, true]])
  end
end

RSpec.describe Simpkv::Store, 'in files, with each binding', needs: :fork do
  include Eventually
  include FileStoreHelp
  include Processes

  before { store }

  it 'serves a store that was opened before a fork, in the child and in the parent' do
    store.put('globals/k', 'd')
    expect_success_of(child { store.put('globals/c', store.get('globals/k')) })
    expect([store.get('globals/c'), store.get('globals/k')]).to eq(%w[d d])
  end

  it 'completes its calls during 200 harmless signals (they interrupted a call)' do
    caught = 0
    before = Signal.trap(:USR1) { caught += 1 }
    target = Process.pid
    sender = child { loop { Process.kill(:USR1, target) && sleep(0.003) } }
    count = 0
    until caught >= 200 && count > 10
      store.put('globals/k', "document #{count}")
      expect(store.get('globals/k')).to eq("document #{count}")
      count += 1
    end
  ensure
    Process.kill(:KILL, sender)
    status_of(sender)
    Signal.trap(:USR1, before)
  end

  # Sends a signal, and waits until the process has received it: a signal that comes before the last one of its kind is
  # received would be lost.
  def deliver(signal, pid)
    Process.kill(signal, pid)
    eventually { pending_signals(pid).nobits?(1 << (Signal.list[signal.to_s] - 1)) }
  end

  # @return [Integer] a bit for each signal
  def pending_signals(pid)
    File.read("/proc/#{pid}/status").scan(/^(?:SigPnd|ShdPnd):\s*(\h+)/).flatten.map(&:hex).inject(:|)
  end

  it 'keeps waiting for a lock after a harmless signal, and stops after a signal whose handler raises' do
    store.put('globals/k', 'd')
    # The call ends after the signals. Over FFI they take effect at its end.
    waiting = open_store(root, 'lock_timeout_seconds' => Simpkv::Native.binding_name == 'cext' ? 60 : 3)
    caught = 0
    before = [Signal.trap(:USR1) { caught += 1 }, Signal.trap(:USR2) { raise IOError, 'enough' }]
    target = Process.pid
    sender = child do
      # The descriptors of the lock's holder and of the call.
      eventually { descriptors_of(target, path('globals/k')) == 2 }
      20.times { deliver(:USR1, target) }
      Process.kill(:USR2, target)
    end
    took = with_lock('globals/k') do
      seconds { expect { waiting.get('globals/k') }.to raise_error(IOError, 'enough') }
    end
    before.zip(%i[USR1 USR2]) { |handler, name| Signal.trap(name, handler) }
    expect_success_of(sender)
    expect(caught).to be > 1
    expect(took).to be < 50
  ensure
    waiting&.close
  end
end
