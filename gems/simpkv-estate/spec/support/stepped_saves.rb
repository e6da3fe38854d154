# frozen_string_literal: true

require_relative '../../../../spec/support/stepped_store'

# Saves of one node that take turns: each makes one call of the store, and pauses. They begin in any order.
class SteppedSaves
  # @return [SteppedStore]
  attr_reader :store
  # @return [Array<Integer>] what has happened: the number of the save that made a call; -1 - number for its death
  attr_reader :schedule

  # @param store [SteppedStore]
  # @param count [Integer] of saves, of which the last one is the latest
  # @yieldparam number [Integer] of a save that has begun, and must be made
  def initialize(store, count)
    @store = store
    @schedule = []
    @latest = -1
    @fibers = Array.new(count) do |number|
      Fiber.new do
        yield number unless @store.step { @latest = [@latest, number].max } > number
      end
    end
    @fibers.each { |fiber| @store.stepped { fiber.resume } }
  end

  # @return [Boolean] whether a later save has begun
  def later?(number)
    @store.step { @latest > number }
  end

  # @param choice [Integer] see {#schedule}
  # @return [void]
  def go(choice)
    @schedule << choice
    @store.stepped { @fibers[choice].resume } unless choice.negative?
  end

  # @return [Boolean] whether a save has died
  def death?
    @schedule.any?(&:negative?)
  end

  # @return [Array<Integer>] the numbers of the saves that have not ended
  def alive
    @fibers.each_index.select { |number| @fibers[number].alive? && !@schedule.include?(-1 - number) }
  end
end
