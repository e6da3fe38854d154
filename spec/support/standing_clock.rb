# frozen_string_literal: true

require_relative 'clock'

# A clock that stands still, at noon of the first day of 2026 unless an example sets it.
#
#   include StandingClock
#   at(3600) { simpkv!('get', 'a') }
module StandingClock
  BEGAN = Time.utc(2026, 1, 1, 12).freeze

  def self.included(group)
    group.include(Clock)
    group.before { clock_at('2026-01-01T12:00:00Z') }
  end

  # Sets the clock for the block.
  #
  # @param seconds [Integer] since the beginning
  def at(seconds)
    former = ENV.fetch('SIMPKV_NOW')
    clock_at((BEGAN + seconds).strftime('%FT%TZ'))
    yield
  ensure
    clock_at(former)
  end
end
