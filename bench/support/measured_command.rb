# frozen_string_literal: true

require 'English'
require_relative '../../spec/support/unbundled'
require_relative 'processor_time'

# The command, as a process of its own whose costs are measured.
module MeasuredCommand
  # Runs it, and looks at it meanwhile: the kernel has its largest memory until it ends.
  #
  # @param config [String] the configuration file
  # @param errors [String] the file that receives standard error
  # @return [Array(Float, Float, Float)] seconds, those of processor time, and MB
  # @raise [RuntimeError] it failed
  def self.run(config, errors, *arguments)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    pid = Process.spawn(Unbundled::VARIABLES.merge('SIMPKV_CONFIG' => config), *Unbundled::SIMPKV, *arguments,
                        out: File::NULL, err: errors)
    processor = memory = 0.0
    until Process.wait(pid, Process::WNOHANG)
      processor, memory = [[processor, ProcessorTime.of(pid)], [memory, largest(pid)]].map(&:max)
      sleep 0.02
    end
    raise File.read(errors) unless $CHILD_STATUS.success?

    [Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, processor, memory]
  end

  # @return [Float] MB
  def self.largest(pid)
    File.read("/proc/#{pid}/status")[/^VmHWM:\s*(\d+)/, 1].to_i / 1024.0
  end
  private_class_method :largest
end
