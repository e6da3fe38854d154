# frozen_string_literal: true

# The memory of processes.
module Memory
  # The proportional set size, in which shared memory counts once.
  #
  # @return [Float] MB of a process and of those that it has started
  def self.of(pid)
    children = Dir["/proc/#{pid}/task/*/children"].flat_map { |file| File.read(file).split }
    own = File.read("/proc/#{pid}/smaps_rollup")[/^Pss:\s*(\d+)/, 1].to_i / 1024.0
    own + children.sum { |child| of(Integer(child)) }
  end
end
