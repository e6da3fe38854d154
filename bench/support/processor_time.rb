# frozen_string_literal: true

require 'etc'

# The processor time of processes.
module ProcessorTime
  # Linux: the clock of the processor time of all threads of another process, also of those that have ended.
  CLOCK = ->(pid) { (~pid << 3) | 2 }
  TICKS = Etc.sysconf(Etc::SC_CLK_TCK).to_f
  private_constant :CLOCK, :TICKS

  # @return [Float] seconds of a process and of those that it has started. Those of one that has ended are whole ticks
  def self.of(pid)
    children = Dir["/proc/#{pid}/task/*/children"].flat_map { |file| File.read(file).split }
    ended = File.read("/proc/#{pid}/stat")[/\) (.*)/, 1].split.values_at(13, 14).sum(&:to_i) / TICKS
    Process.clock_gettime(CLOCK.call(pid)) + ended + children.sum { |child| of(Integer(child)) }
  rescue Errno::ENOENT, Errno::EINVAL, Errno::ESRCH # It has ended.
    0.0
  end
end
