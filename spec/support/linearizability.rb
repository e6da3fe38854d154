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
  # repeated:: whether a request of the call was repeated after a lost connection
  Operation = Struct.new(:client, :kind, :value, :expect, :outcome, :answer, :called, :returned, :repeated,
                         keyword_init: true) do
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

  # The register that a key should be. {Ds389Register} is another one.
  class Register
    # @return [Object] its first state
    def start
      nil
    end

    # @param operation [Operation]
    # @param state [Object]
    # @return [Array<Array(Object, Boolean)>] the states to which the call can bring it, and whether it has then taken
    #   effect
    def steps(operation, state, *)
      after = operation.apply(state)
      after ? [[after.first, true]] : []
    end

    # @param state [Object]
    # @return [Object] once a call has returned
    def returned(state, *)
      state
    end

    # @return [Object] the state with this value, and nothing else
    def with_value(value)
      value
    end

    # @return [Array<Operation>] what may take effect beside the operations until it returns, with the outcome `:late`
    def late(_operations)
      []
    end

    # @yieldparam value [Object, nil] each value of a state
    # @yieldreturn [Object, nil] the one that stands for it
    def map(state)
      yield(state)
    end
  end

  # @param operations [Array<Operation>] all of one register, which has no value at first
  # @param register [Register] what the server is held to
  def initialize(operations, register = Register.new)
    @register = register
    operations += register.late(operations)
    @operations = operations.reject { |operation| operation.outcome == :unknown && operation.kind == :get }
    @observed = Set.new(operations.flat_map { |operation| [operation.expect, operation.answer] })
  end

  # @return [Array<Operation>] the operations that no order explains. The search continues after each with its value
  def violations
    @pending = {}
    @unknown = {}
    @expecting = Hash.new(0)
    @configurations = Configurations.new([Configuration.new(@register.start, 0, 0)])
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
      @expecting[operation.expect] |= 1 << bit if operation.expect
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
    return forget(operation, bit) if operation.outcome == :late

    after = explained(bit, false)
    after = explained(bit, true) if after.none?
    @pending.delete(operation)
    @expecting[operation.expect] &= ~bit if operation.expect
    @configurations = after if after.any?
    after.any?
  end

  # @param late [Boolean] whether late requests may take effect: only if nothing else explains the call
  # @return [Configurations] in which the call with this bit has taken effect
  def explained(bit, late)
    seen = Configurations.new(@configurations)
    queue = @configurations.to_a
    after = Configurations.new
    while (configuration = queue.shift)
      if configuration.done.nobits?(bit)
        queue.concat(successors(configuration, late).select { |successor| seen.add(successor) })
      else
        after.add(Configuration.new(@register.returned(configuration.state, bit), configuration.done ^ bit,
                                    configuration.unknown))
      end
    end
    after
  end

  # Ends what may have taken effect, or not.
  #
  # @return [true]
  def forget(operation, bit)
    all = @configurations.flat_map { |each| each.done.nobits?(bit) ? [each, *after(each, operation, bit, 0)] : [each] }
    @pending.delete(operation)
    @configurations = Configurations.new(all.map do |configuration|
      Configuration.new(configuration.state, configuration.done & ~bit, configuration.unknown)
    end)
    true
  end

  # @return [Array<Configuration>] after one more operation under way has taken effect
  def successors(configuration, late)
    returning = @pending.flat_map do |operation, bit|
      open = configuration.done.nobits?(bit) && (late || operation.outcome != :late)
      open ? after(configuration, operation, bit, 0) : []
    end
    returning + unknown_successors(configuration)
  end

  def unknown_successors(configuration)
    @unknown.flat_map do |operation, bits|
      bit = bits.find { |each| configuration.unknown.nobits?(each) }
      bit ? after(configuration, operation, 0, bit) : []
    end
  end

  # @return [Array<Configuration>]
  def after(configuration, operation, done, unknown)
    steps = @register.steps(operation, configuration.state, done | unknown, @expecting)
    steps.map do |state, last|
      state = @register.map(state) { |value| told_apart(value) }
      next Configuration.new(state, configuration.done, configuration.unknown) unless last

      Configuration.new(state, configuration.done | done, configuration.unknown | unknown)
    end
  end

  # Continues after an operation that no order explains.
  def give_up(operation)
    return if operation.outcome == :refused

    @configurations = Configurations.new([Configuration.new(@register.with_value(operation.result), 0, 0)])
  end
end
