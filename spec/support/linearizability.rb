# frozen_string_literal: true

require 'set'

# Linearizability of a register, which one key of a store is: get, put, delete, create (put with :absent), swap (put
# with :expect) and remove (delete with an expected document). A history is linearizable if each operation can take
# effect at one moment between its call and its return, so that the results are those of one register.
#
# The search follows Wing and Gong, in Lowe's form: it reads calls and returns in the order of time and keeps every
# configuration that explains the answers so far. An operation takes effect no earlier than the return of some
# operation requires.
class Linearizability
  # kind:: :get, :put, :delete, :create, :swap, :remove
  # value:: the value that it writes; nil for :get, :delete and :remove
  # expect:: the value that :swap replaces, and that :remove deletes
  # outcome:: :ok; :refused if the condition did not hold; :unknown if it may take effect at any time, or never
  # answer:: of :get, the value, nil for none; of :delete, whether the key existed, nil if that is not checked
  # called, returned:: monotonic times
  Operation = Struct.new(:client, :kind, :value, :expect, :outcome, :answer, :called, :returned, keyword_init: true) do
    # @param state [Object, nil] the register's value; nil for none
    # @return [Array(Object)] with the value after the operation; nil if the operation cannot have its outcome
    def apply(state)
      send("apply_#{kind}", state)
    end

    # @return [Object, nil] the register's value after an operation that had its outcome
    def result
      kind == :get ? answer : value
    end

    def to_s
      "client #{client}: #{kind}#{" #{expect} for" if expect} #{value} #{outcome} #{answer}".squeeze(' ').strip
    end

    private

    def apply_get(state)
      [state] if state == answer
    end

    def apply_put(_state)
      [value]
    end

    def apply_delete(state)
      [nil] if answer.nil? || answer == !state.nil?
    end

    def apply_create(state)
      conditional(state, state.nil?)
    end

    def apply_swap(state)
      conditional(state, state == expect)
    end

    alias_method :apply_remove, :apply_swap

    def conditional(state, holds)
      case outcome
      when :ok then [value] if holds
      when :refused then [state] unless holds
      else [holds ? value : state]
      end
    end
  end

  # Bits for the pending operations that have taken effect: `done` for those that will return, `unknown` for those that
  # never return.
  Configuration = Struct.new(:state, :done, :unknown)

  # A set of configurations. It omits each one for which another one has used fewer operations of unknown outcome.
  class Configurations
    include Enumerable

    def initialize(configurations = [])
      @all = Hash.new { |all, key| all[key] = [] }
      configurations.each { |configuration| add(configuration) }
    end

    # @return [Boolean] whether it was added
    def add(configuration)
      unknown = configuration.unknown
      others = @all[[configuration.state, configuration.done]]
      return false if others.any? { |other| unknown.allbits?(other) }

      others.reject! { |other| other.allbits?(unknown) }
      others << unknown
      true
    end

    def each
      @all.each { |(state, done), masks| masks.each { |unknown| yield Configuration.new(state, done, unknown) } }
    end
  end

  # @param operations [Array<Operation>] all of one register, which has no value at first
  def initialize(operations)
    @operations = operations.reject { |operation| operation.outcome == :unknown && operation.kind == :get }
    @observed = Set.new(operations.flat_map { |operation| [operation.expect, operation.answer] })
  end

  # @return [Array<Operation>] the operations that no order explains. The search continues after each with its value
  def violations
    @pending = {}
    @unknown = {}
    @configurations = Configurations.new([Configuration.new(nil, 0, 0)])
    events.each_with_object([]) do |(_, _, operation, returns), found|
      if !returns
        begin_operation(operation)
      elsif !linearize(operation)
        found << operation
        give_up(operation)
      end
    end
  end

  private

  # In the order of time; at the same moment, calls come first.
  def events
    calls = @operations.map { |operation| [operation.called, 0, operation, false] }
    returns = @operations.reject { |operation| operation.outcome == :unknown }
    (calls + returns.map { |operation| [operation.returned, 1, operation, true] }).sort_by { |event| event.first(2) }
  end

  def begin_operation(operation)
    taken = @pending.values + @unknown.values.flatten
    bit = (0..).find { |number| !taken.include?(1 << number) }
    if operation.outcome == :unknown
      (@unknown[class_of(operation)] ||= []) << (1 << bit)
    else
      @pending[operation] = 1 << bit
    end
  end

  # Returns the class of an operation of unknown outcome. Operations of one class are equivalent: the search tries only
  # the first remaining one.
  def class_of(operation)
    Operation.new(kind: operation.kind, value: told_apart(operation.value), expect: operation.expect, outcome: :unknown)
  end

  # Treats all values that no operation reads or expects as the same value.
  def told_apart(value)
    value.nil? || @observed.include?(value) ? value : :unobserved
  end

  # Keeps the configurations in which the operation has taken effect, now that it returns.
  #
  # @return [Boolean] whether there are any
  def linearize(operation)
    bit = @pending.fetch(operation)
    seen = Configurations.new(@configurations)
    queue = @configurations.to_a
    after = Configurations.new
    while (configuration = queue.shift)
      if configuration.done.nobits?(bit)
        queue.concat(successors(configuration).select { |successor| seen.add(successor) })
      else
        after.add(Configuration.new(configuration.state, configuration.done ^ bit, configuration.unknown))
      end
    end
    @pending.delete(operation)
    @configurations = after if after.any?
    after.any?
  end

  # @return [Array<Configuration>] after one more operation under way has taken effect
  def successors(configuration)
    done = configuration.done
    returning = @pending.map { |operation, bit| after(configuration, operation, bit, 0) if done.nobits?(bit) }
    unknown = @unknown.map do |operation, bits|
      bit = bits.find { |each| configuration.unknown.nobits?(each) }
      after(configuration, operation, 0, bit) if bit
    end
    (returning + unknown).compact
  end

  def after(configuration, operation, done, unknown)
    state, = possible = operation.apply(configuration.state)
    return unless possible

    Configuration.new(told_apart(state), configuration.done | done, configuration.unknown | unknown)
  end

  # Continues after an operation that no order explains.
  def give_up(operation)
    return if operation.outcome == :refused

    @configurations = Configurations.new([Configuration.new(operation.result, 0, 0)])
  end
end
