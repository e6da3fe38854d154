# frozen_string_literal: true

require 'tmpdir'

# Of the extension for MRI: on FFI an interrupt waits for the end of the call.
RSpec.describe 'Interrupts of calls that wait for a lock' do
  around do |example|
    Dir.mktmpdir('simpkv') do |folder|
      @root = File.realpath(folder)
      @store = Simpkv::Store.open('file', 'root_path' => @root, 'lock_timeout_seconds' => 60)
      @store.put('globals/k', '{"value":1}')
      example.run
    end
  end

  def open_below_root
    Dir['/proc/self/fd/*'].count do |descriptor|
      File.readlink(descriptor).start_with?(@root)
    rescue Errno::ENOENT
      false
    end
  end

  # Sends signals to this process for some seconds: harmless ones, and every 40th raises while a call is under way.
  def under_signals(seconds)
    counts = { harmless: 0, raised: 0 }
    armed = false
    previous = { USR1: trap(:USR1) { counts[:harmless] += 1 }, USR2: trap(:USR2) { raise IOError, 'stop' if armed } }
    sender = signal_sender(seconds)
    until Process.wait(sender, Process::WNOHANG)
      begin
        armed = true
        yield
      rescue IOError
        counts[:raised] += 1
      ensure
        armed = false
      end
    end
    counts
  ensure
    previous.each { |signal, handler| trap(signal, handler) }
  end

  def signal_sender(seconds)
    target = Process.pid
    fork do
      %i[USR1 USR2].each { |signal| trap(signal, 'DEFAULT') }
      finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      (1..Float::INFINITY).each do |i|
        break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > finish

        Process.kill((i % 40).zero? ? :USR2 : :USR1, target)
      end
      exit!(0)
    end
  end

  it 'leave no descriptor open and no lock behind, when one follows the other (some raised across the core)' do
    holder = File.open(File.join(@root, 'globals', 'k'), 'r+')
    holder.flock(File::LOCK_EX)
    before = open_below_root
    counts = under_signals(3) { @store.get('globals/k') }
    GC.start
    expect(open_below_root).to eq(before)
    expect(counts[:raised]).to be > 10
    expect(counts[:harmless]).to be > 100

    holder.close
    expect(@store.put('globals/k', '{"value":2}')).to be(true)
    expect(@store.get('globals/k')).to eq('{"value":2}')
  end
end
