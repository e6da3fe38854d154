# frozen_string_literal: true

# A program for spec/integration/interrupts_spec.rb. It waits for a lock while another process sends it signals as fast
# as possible. Most signals are harmless; every 40th one raises. The program runs for ARGV[0] seconds, and longer until
# ten signals have raised. It prints the number of exceptions, the number of descriptors below the root that were left
# open, and whether the key can be used afterwards.
require 'simpkv'
require_relative 'scratch'

# The process that receives the signals.
class SignalStorm
  def initialize(folder)
    @root = File.realpath(folder)
    @store = Simpkv::Store.open('file', 'root_path' => @root, 'lock_timeout_seconds' => 60)
    @store.put('globals/k', '{"value":1}')
    @armed = @raised = @harmless = 0
  end

  def run(duration)
    trap(:USR1) { @harmless += 1 }
    trap(:USR2) { stop if @armed.positive? }
    before = open_below_root
    File.open(File.join(@root, 'globals', 'k'), 'r+') do |lock|
      lock.flock(File::LOCK_EX)
      wait_under_signals(duration)
    end
    GC.start
    left_open = open_below_root - before
    "#{@raised} #{left_open} #{usable?}"
  end

  private

  # Raises at most twice in a call: the second signal may arrive while the first exception unwinds the stack.
  def stop
    @armed -= 1
    raise IOError, 'stop'
  end

  def counted
    yield
  rescue IOError
    @raised += 1
  end

  def wait_under_signals(duration)
    finish = now + duration
    sender = fork { send_signals(Process.ppid) }
    wait_for_lock while now < finish || (@raised < 10 && now < finish + 60)
    Process.kill(:KILL, sender)
    Process.wait(sender)
  end

  # Nested handlers catch both exceptions wherever they are raised, so that neither reaches the caller.
  def wait_for_lock
    counted do
      counted do
        counted { wait_armed }
        @armed = 0
      end
      @armed = 0
    end
  end

  def wait_armed
    @armed = 2
    @store.get('globals/k')
  end

  def send_signals(pid)
    %i[USR1 USR2].each { |signal| trap(signal, 'DEFAULT') }
    (1..).each { |count| Process.kill((count % 40).zero? ? :USR2 : :USR1, pid) }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def open_below_root
    Dir['/proc/self/fd/*'].count do |descriptor|
      File.readlink(descriptor).start_with?(@root)
    rescue Errno::ENOENT
      false
    end
  end

  def usable?
    @store.put('globals/k', '{"value":2}') && @store.get('globals/k') == '{"value":2}'
  end
end

Scratch.make('simpkv') { |folder| puts SignalStorm.new(folder).run(Float(ARGV.fetch(0))) }
