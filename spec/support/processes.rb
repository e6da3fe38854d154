# frozen_string_literal: true

# For specs that need processes of their own, which they fork.
module Processes
  # Runs the block in a child; its exit status is 0 when the block answers something true.
  # @return [Integer] the child's id
  def child
    fork do
      ok = yield
      exit!(ok ? 0 : 1)
    rescue StandardError => e
      warn "in a child: #{e.class}: #{e.message}"
      exit!(2)
    end
  end

  # Waits for the children, and expects that each ended well.
  def expect_success_of(*children)
    expect(children.map { |pid| status_of(pid) }).to all(be_success)
  end

  # @return [Process::Status] how the child ended; a child that does not end fails the example
  def status_of(pid)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120
    # Ruby 3.1 now and then misses the end of a child for which it waits while it has other threads.
    until (ended = Process.wait2(pid, Process::WNOHANG))
      if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        Process.kill(:KILL, pid)
        raise "child #{pid} does not end"
      end
      sleep 0.005
    end
    ended.last
  end

  # Runs the block in a child without root's rights, as the user nobody if need be.
  def as_nobody(&block)
    expect_success_of(child do
      if Process.euid.zero?
        nobody = Etc.getpwnam('nobody')
        Process::Sys.setgid(nobody.gid)
        Process.groups = []
        Process::Sys.setuid(nobody.uid)
      end
      block.call
    end)
  end
end
