# frozen_string_literal: true

# Forks child processes for specs.
module Processes
  # Runs the block in a child process, whose exit status is 0 if the block returns a truthy value.
  # @return [Integer] the ID of the child process
  def child
    fork do
      ok = yield
      exit!(ok ? 0 : 1)
    rescue StandardError => e
      warn "in a child: #{e.class}: #{e.message}"
      exit!(2)
    end
  end

  # Waits for the child processes, and expects that each one succeeded.
  def expect_success_of(*children)
    expect(children.map { |pid| status_of(pid) }).to all(be_success)
  end

  # @return [Process::Status] the status of the child process; a process that does not end fails the example
  def status_of(pid)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 120
    # Ruby 3.1 sometimes misses the end of a child process if it waits for it while other threads run.
    until (ended = Process.wait2(pid, Process::WNOHANG))
      if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
        Process.kill(:KILL, pid)
        raise "child #{pid} does not end"
      end
      sleep 0.005
    end
    ended.last
  end

  # @param pid [Integer, String] of any process; 'self' for this one
  # @return [Integer] the number of descriptors of the file that the process has
  def descriptors_of(pid, file)
    Dir["/proc/#{pid}/fd/*"].count { |fd| File.symlink?(fd) && File.readlink(fd) == File.realpath(file) }
  rescue Errno::ENOENT # One was closed meanwhile.
    retry
  end

  # Runs the block in a child process without root's rights: as the user nobody if this process runs as root.
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
