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
    statuses = children.map { |pid| Process.wait2(pid).last }
    expect(statuses).to all(be_success)
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
