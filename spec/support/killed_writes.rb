# frozen_string_literal: true

# Kills the process before a write of any store or directory, or after one that has succeeded.
module KilledWrites
  WRITES = %i[put delete create_folder add_entry modify_entry delete_entry set_entry_password].freeze

  class << self
    attr_accessor :begun, :done
    attr_reader :before, :after

    # @param before [Integer, nil] the number of the write before which to kill this process
    # @param after [Integer, nil] the number of the write after which to kill it
    def start(before: nil, after: nil)
      @begun = @done = 0
      @before = before
      @after = after
      [Simpkv::Store, Simpkv::Directory].each { |kind| kind.prepend(self) }
    end
  end

  WRITES.each do |name|
    define_method(name) do |*arguments, **more|
      Process.kill(:KILL, Process.pid) if (KilledWrites.begun += 1) == KilledWrites.before
      result = super(*arguments, **more)
      # A failed write raises, and another call for it follows.
      Process.kill(:KILL, Process.pid) if (KilledWrites.done += 1) == KilledWrites.after
      result
    end
  end
end
