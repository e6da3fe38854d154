# frozen_string_literal: true

require_relative 'linearizability'

# The register that a key on 389-DS is, with what records of docs/adr say of this server, and nothing more:
#
# - 0013: a replacement may find a value that another one has replaced during the same call.
# - 0038: a conditional deletion that has seen the expected value may delete another one, and puts it back before it
#   returns, unless another client has put one.
# - 0054: until the next write, a read may show a value that was deleted. A put may change what is left of a deleted
#   key; and one whose value is deleted before it returns puts it again.
# - 0022: a call that was repeated after a lost response may take effect again, late: see {late}.
class Ds389Register
  # value:: the stored one; nil for none
  # gone:: the value that reads may still show; nil for none
  # replaced:: pairs of a value and the bits of the calls under way that expect it and may not know that it has gone
  # left:: of calls that have something left to do, the bit, a value to be put, and whether it was deleted
  State = Struct.new(:value, :gone, :replaced, :left) do
    # @return [State] after a write
    def write(new, expecting)
      bits = value.nil? ? 0 : expecting.fetch(value, 0)
      deleted = new.nil? ? left.map { |bit, old, lost| [bit, old, lost || old == value] } : left
      State.new(new, (value if new.nil?), bits.zero? ? replaced : (replaced | [[value, bits]]).sort, deleted)
    end

    # @return [Boolean] whether a call may find this value
    def found?(expected, bit)
      value == expected || replaced.any? { |old, bits| old == expected && bits.anybits?(bit) }
    end

    # @return [State] in which a call has something left to do
    def leave(bit, value, lost)
      State.new(self.value, gone, replaced, [*left, [bit, value, lost]].sort_by(&:first))
    end

    # @return [Array(Integer, Object, Boolean), nil]
    def left_by(bit)
      left.find { |other, _| other == bit }
    end

    # @return [State] when a call has returned
    def without(bit)
      remaining = replaced.map { |old, bits| [old, bits & ~bit] }.reject { |_, bits| bits.zero? }
      State.new(value, gone, remaining, left.reject { |other, _| other == bit })
    end
  end

  # The time after a call in which its first request may still arrive: that of the proxies of the specs, and more.
  LATE = 300_000_000

  START = State.new(nil, nil, [], []).freeze

  # @param operations [Array<Linearizability::Operation>] all of the key
  def initialize(operations)
    @deletions = operations.select { |operation| deletion?(operation) }
    @interrupted = Hash.new { |all, put| all[put] = @deletions.any? { |operation| during?(operation, put) } }
    @interrupted.compare_by_identity
  end

  def start
    START
  end

  # @param operation [Linearizability::Operation]
  # @param state [State]
  # @param bit [Integer] of the call
  # @param expecting [Hash{Object => Integer}] by value, the bits of the calls under way that expect it
  # @return [Array<Array(State, Boolean)>] what the next request of a call can lead to, and whether it is the last one
  def steps(operation, state, bit, expecting)
    send(:"#{operation.kind}_steps", operation, state, bit, expecting)
  end

  # @return [State] once a call has returned
  def returned(state, bit)
    state.without(bit)
  end

  # @return [State] with others in place of its values
  def map(state)
    State.new(yield(state.value), yield(state.gone), state.replaced, state.left)
  end

  # @return [State] with this value
  def with_value(value)
    State.new(value, nil, [], [])
  end

  # A request of a call that was repeated, and may arrive late: it takes effect at most once more.
  #
  # @param operations [Array<Linearizability::Operation>]
  # @return [Array<Linearizability::Operation>]
  def late(operations)
    operations.select(&:repeated).reject { |operation| operation.kind == :get }.map do |operation|
      kind = %i[delete remove].include?(operation.kind) ? :late_deletion : :late_addition
      Linearizability::Operation.new(client: operation.client, kind: kind, value: operation.value, outcome: :late,
                                     called: operation.called,
                                     returned: (operation.returned || operation.called) + LATE)
    end
  end

  private

  def late_deletion_steps(_operation, state, _bit, expecting)
    state.value.nil? ? [] : [[state.write(nil, expecting), true]]
  end

  def late_addition_steps(operation, state, _bit, expecting)
    state.value.nil? ? [[state.write(operation.value, expecting), true]] : []
  end

  def deletion?(operation)
    case operation.kind
    when :delete then operation.answer != false
    when :remove then true
    end
  end

  # @param put [Linearizability::Operation] one of unknown outcome stands for several, and has no times: if it takes
  #   effect again, then as a late addition
  def during?(operation, put)
    return false unless put.called

    operation.called < (put.returned || Float::INFINITY) && (operation.returned || Float::INFINITY) > put.called
  end

  def get_steps(operation, state, *)
    shown = operation.answer == state.value || (state.value.nil? && state.gone == operation.answer)
    shown ? [[state, true]] : []
  end

  def put_steps(operation, state, bit, expecting)
    value = operation.value
    return put_left(state, bit, expecting) { |lost| lost } if state.left_by(bit)

    written = state.write(value, expecting)
    return [[written, true]] unless @interrupted[operation]

    half = State.new(nil, value, state.replaced, state.left).leave(bit, value, true) if state.value.nil? && state.gone
    [[written, true], [written.leave(bit, value, false), false], *([[half, false]] if half)]
  end

  def delete_steps(operation, state, _bit, expecting)
    return [] unless operation.answer.nil? || operation.answer == !state.value.nil?

    [[state.value.nil? ? state : state.write(nil, expecting), true]]
  end

  def create_steps(operation, state, _bit, expecting)
    conditional(operation, state, state.value.nil?) { state.write(operation.value, expecting) }
  end

  def swap_steps(operation, state, bit, expecting)
    conditional(operation, state, state.found?(operation.expect, bit), state.value != operation.expect) do
      state.write(operation.value, expecting)
    end
  end

  def remove_steps(operation, state, bit, expecting)
    return put_left(state, bit, expecting) { state.value.nil? } if state.left_by(bit)

    steps = conditional(operation, state, state.value == operation.expect) { state.write(nil, expecting) }
    steps + (operation.outcome == :ok ? [] : take(operation, state, bit, expecting))
  end

  # @param other [Boolean] whether the call may be refused
  # @return [Array<Array(State, Boolean)>]
  def conditional(operation, state, holds, other = !holds)
    done = [[yield, true]] if holds && operation.outcome != :refused
    refused = [[state, true]] if other && operation.outcome != :ok
    [*done, *refused]
  end

  # Deletes another value than the expected one, which the call has seen.
  def take(operation, state, bit, expecting)
    return [] if state.value.nil? || state.value == operation.expect || !state.found?(operation.expect, bit)

    [[state.write(nil, expecting).leave(bit, state.value, true), false]]
  end

  # @yieldparam lost [Boolean] whether the value was deleted
  # @yieldreturn [Boolean] whether the call has to put the value
  def put_left(state, bit, expecting)
    _, value, lost = state.left_by(bit)
    [[yield(lost) ? state.write(value, expecting) : state, true]]
  end
end
