# frozen_string_literal: true

require_relative 'side_by_side'

# Repeats an operation until it takes no less time than before: Java goes on compiling hot code for minutes.
module Steady
  BLOCK = 10       # operations
  AGREED = 0.03    # by which three blocks in a row may differ
  MOST_SECONDS = 12

  # @param title [String] for a warning: on a busy machine, blocks do not agree
  # @yield does the operation once
  def self.reach(title, &operation)
    return if SideBySide::QUICK

    late = now + MOST_SECONDS
    blocks = []
    blocks << SideBySide.median(Array.new(BLOCK) { seconds(&operation) }) until agreed?(blocks.last(3)) || now > late
    warn "  #{title}: three blocks did not agree within #{MOST_SECONDS} s" unless agreed?(blocks.last(3))
  end

  def self.agreed?(blocks)
    blocks.length == 3 && blocks.max - blocks.min <= AGREED * blocks.min
  end

  def self.seconds
    began = now
    yield
    now - began
  end

  def self.now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
  private_class_method :agreed?, :seconds, :now
end
