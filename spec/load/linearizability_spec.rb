# frozen_string_literal: true

require_relative '../support/ds389_register'
require_relative '../support/faulty_proxy'
require_relative '../support/file_store'
require_relative '../support/ldap_store'
require_relative '../support/linearizability'
require_relative '../support/register_clients'
require_relative '../support/tally'

# Checks that a key is a linearizable register for clients in processes of their own, while clients and servers are
# killed, and while a network delivers requests after their connection is lost (docs/adr/0022). LOAD_SECONDS=600 has
# each client make 300 times as many calls.
RSpec.describe 'A key as a register', needs: :fork, heavy: true do
  clients = 6
  operations = (Float(ENV.fetch('LOAD_SECONDS', '2')) * 100).to_i
  kills = [operations / 120, 1].max

  # Lets clients work, and counts the operations that no order explains.
  #
  # @return [Array<Linearizability::Operation>] these
  def violations_of(registers, &breaking)
    histories_of(registers, &breaking).flat_map { |history| Linearizability.new(history).violations }
  end

  # @return [Array<Array<Linearizability::Operation>>] the operations of each key
  def histories_of(registers, &breaking)
    histories = registers.run(&breaking)
    @operations = histories.values.sum(&:length)
    expect_writes(histories)
    histories.values
  end

  # Calls that fail violate nothing: most writes have to succeed, or to be refused.
  def expect_writes(histories)
    writes = histories.values.flatten.reject { |operation| operation.kind == :get }
    unknown, known = writes.partition { |operation| operation.outcome == :unknown }
    expect(unknown.length).to be < known.length
  end

  def tally(name, faults, violations)
    expect(faults).to be > 0
    tally = Tally.new("linearizability, #{name}")
    tally.add(faults: faults, operations: @operations, anomalies: violations.map(&:to_s))
    tally
  end

  # The row has the number of violations that simpkv does not promise to avoid.
  def tally_counted(name, faults, violations)
    tally("#{name} (#{violations.length} violations, counted only)", faults, [])
  end

  def kill_clients(registers, count)
    count.times do
      sleep(rand(0.05..0.2))
      registers.kill_one
    end
  end

  def kill_server(count)
    count.times do
      sleep(rand(0.1..0.5))
      directory.kill
      directory.launch
    end
  end

  describe Linearizability do
    # @param calls [Array<Array>] of each operation the kind, the value, the outcome (the answer of :delete), the times
    #   of call and return, what :swap expects, and whether the call was repeated
    # @param on_389ds [Boolean] whether the key is on 389-DS
    def violations(*calls, on_389ds: false)
      history = calls.each_with_index.map do |(kind, value, outcome, called, returned, expect, repeated), client|
        outcome, answer = outcome.is_a?(Symbol) ? [outcome, (value if kind == :get)] : [:ok, outcome]
        described_class::Operation.new(client: client, kind: kind, value: (value unless kind == :get), expect: expect,
                                       outcome: outcome, answer: answer, called: called, returned: returned,
                                       repeated: repeated)
      end
      register = on_389ds ? Ds389Register.new(history) : described_class::Register.new
      described_class.new(history, register).violations.map(&:client)
    end

    {
      'calls one after the other' =>
        [[:get, nil, :ok, 0, 1], [:put, 1, :ok, 2, 3], [:get, 1, :ok, 4, 5], [:delete, nil, true, 6, 7],
         [:delete, nil, false, 8, 9], [:create, 2, :ok, 10, 11], [:create, 3, :refused, 12, 13],
         [:swap, 4, :ok, 14, 15, 2], [:swap, 5, :refused, 16, 17, 2], [:get, 4, :ok, 18, 19],
         [:remove, nil, :refused, 20, 21, 2], [:remove, nil, :ok, 22, 23, 4], [:get, nil, :ok, 24, 25]],
      'a value that is read before its put returns' =>
        [[:put, 1, :ok, 0, 9], [:get, nil, :ok, 1, 2], [:get, 1, :ok, 3, 4]],
      'two puts at the same time, in either order' =>
        [[:put, 1, :ok, 0, 9], [:put, 2, :ok, 1, 8], [:get, 2, :ok, 10, 11]],
      'a put of unknown outcome that takes effect later' =>
        [[:put, 1, :ok, 0, 1], [:put, 2, :unknown, 2, nil], [:get, 1, :ok, 3, 4], [:get, 2, :ok, 5, 6]],
      'a put of unknown outcome that takes no effect' =>
        [[:put, 1, :ok, 0, 1], [:put, 2, :unknown, 2, nil], [:get, 1, :ok, 3, 4]]
    }.each do |what, calls|
      it "accepts #{what}" do
        expect([false, true].map { |on_389ds| violations(*calls, on_389ds: on_389ds) }).to eq([[], []])
      end
    end

    # What 389-DS does, by the record that says so; of each, the number of the call that is wrong on other servers.
    {
      'two replacements of one value at the same time (0013)' =>
        [2, [:put, 1, :ok, 0, 1], [:swap, 2, :ok, 2, 5, 1], [:swap, 3, :ok, 3, 6, 1]],
      'a key that is missing while a refused removal puts it back (0038)' =>
        [3, [:put, 1, :ok, 0, 1], [:remove, nil, :refused, 2, 9, 1], [:put, 2, :ok, 3, 4], [:get, nil, :ok, 5, 6],
         [:get, 2, :ok, 7, 8]],
      'a deleted value that a read still shows (0054)' =>
        [2, [:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3], [:get, 1, :ok, 4, 5], [:get, nil, :ok, 6, 7]],
      'a put that puts its value again after a deletion (0054)' =>
        [3, [:put, 1, :ok, 0, 9], [:get, 1, :ok, 1, 2], [:delete, nil, true, 3, 4], [:get, 1, :ok, 10, 11]],
      'a late request of a deletion that was repeated (0022)' =>
        [3, [:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3, nil, true], [:put, 2, :ok, 4, 5], [:get, nil, :ok, 6, 7]],
      'a late request of an addition that was repeated (0022)' =>
        [2, [:put, 1, :ok, 0, 1, nil, true], [:delete, nil, true, 2, 3], [:get, 1, :ok, 4, 5], [:get, 1, :ok, 6, 7]]
    }.each do |what, (wrong, *calls)|
      it "accepts #{what} on 389-DS alone" do
        expect(violations(*calls, on_389ds: true)).to eq([])
        expect(violations(*calls).first).to eq(wrong)
      end
    end

    {
      'two replacements of one value, one after the other' =>
        [[:put, 1, :ok, 0, 1], [:swap, 2, :ok, 2, 3, 1], [:swap, 3, :ok, 4, 5, 1]],
      'a key that is missing after a refused removal' =>
        [[:put, 1, :ok, 0, 1], [:remove, nil, :refused, 2, 5, 1], [:put, 2, :ok, 3, 4], [:get, nil, :ok, 6, 7]],
      'a deleted value that a read shows after another one was put' =>
        [[:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3], [:put, 2, :ok, 4, 5], [:get, 1, :ok, 6, 7]],
      'a put that puts its value again after another put' =>
        [[:put, 1, :ok, 0, 9], [:get, 1, :ok, 1, 2], [:put, 2, :ok, 3, 4], [:get, 2, :ok, 5, 6],
         [:get, 1, :ok, 10, 11]],
      'a late request of a call that was not repeated' =>
        [[:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3], [:put, 2, :ok, 4, 5], [:get, nil, :ok, 6, 7]],
      'a late request that is too late' =>
        [[:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3, nil, true], [:put, 2, :ok, 4, 5],
         [:create, 3, :refused, Ds389Register::LATE + 6, Ds389Register::LATE + 7],
         [:get, nil, :ok, Ds389Register::LATE + 8, Ds389Register::LATE + 9]],
      'a late request that takes effect twice' =>
        [[:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3, nil, true], [:put, 2, :ok, 4, 5], [:get, nil, :ok, 6, 7],
         [:put, 3, :ok, 8, 9], [:get, nil, :ok, 10, 11]]
    }.each do |what, calls|
      it "finds #{what}, on 389-DS too" do
        last = [false, true].map { |on_389ds| violations(*calls, on_389ds: on_389ds).last }
        expect(last).to eq([calls.length - 1] * 2)
      end
    end

    {
      'a stale read' => [[:put, 1, :ok, 0, 1], [:put, 2, :ok, 2, 3], [:get, 1, :ok, 4, 5]],
      'a value that goes away again' => [[:put, 1, :ok, 0, 9], [:get, 1, :ok, 1, 2], [:get, nil, :ok, 3, 4]],
      'two swaps of one value' =>
        [[:put, 1, :ok, 0, 1], [:swap, 2, :ok, 2, 5, 1], [:swap, 3, :ok, 3, 6, 1]],
      'two that remove one value' =>
        [[:put, 1, :ok, 0, 1], [:remove, nil, :ok, 2, 5, 1], [:remove, nil, :ok, 3, 6, 1]],
      'a removal that undoes a later put' =>
        [[:put, 1, :ok, 0, 1], [:put, 2, :ok, 2, 3], [:remove, nil, :ok, 4, 5, 1]],
      'a deletion that undoes a later put' =>
        [[:put, 1, :ok, 0, 1], [:delete, nil, true, 2, 3], [:put, 2, :ok, 4, 5], [:get, nil, :ok, 6, 7]],
      'two that create a key' => [[:create, 1, :ok, 0, 3], [:create, 2, :ok, 1, 4]],
      'a put of unknown outcome that takes effect twice' =>
        [[:put, 1, :unknown, 0, nil], [:get, 1, :ok, 1, 2], [:put, 2, :ok, 3, 4], [:get, 1, :ok, 5, 6]]
    }.each do |what, calls|
      it "finds #{what}" do
        expect(violations(*calls)).to eq([calls.length - 1])
      end
    end

    it 'finds a violation that is planted in a long history, and continues after it' do
      rounds = (0...200).flat_map do |number|
        [[:put, number, :ok, 10 * number, (10 * number) + 5], [:put, -number - 1, :unknown, (10 * number) + 1, nil],
         [:get, number == 100 ? 98 : number, :ok, (10 * number) + 6, (10 * number) + 7]]
      end
      expect(violations(*rounds)).to eq([302])
    end
  end

  describe 'in files' do
    include FileStoreHelp

    it 'is linearizable while clients are killed' do
      store
      registers = RegisterClients.new(clients, operations) { open_store }
      violations = violations_of(registers) { kill_clients(registers, kills) }
      expect(tally('files, clients killed', kills, violations).anomalies).to eq([])
    end
  end

  # @param options [Hash] of {RegisterClients}
  # @return [RegisterClients] whose stores are on the server, or behind the proxy
  def registers_on(uri, count, operations, **options)
    here = { 'id' => id, 'ldap_uri' => uri, 'retries' => 10, 'pool_size' => 1 }
    RegisterClients.new(count, operations, **options) { open_store(here) }
  end

  describe 'on slapd' do
    include_context 'with slapd'
    include_context 'with proxies'

    it 'is linearizable while clients are killed' do
      registers = registers_on(directory.uri, clients, operations)
      violations = violations_of(registers) { kill_clients(registers, kills) }
      expect(tally('slapd, clients killed', kills, violations).anomalies).to eq([])
    end

    it 'is linearizable while the server is killed' do
      registers = registers_on(directory.uri, clients, operations, deletions: false)
      violations = violations_of(registers) { kill_server(kills) }
      expect(tally('slapd, server killed', kills, violations).anomalies).to eq([])
    end

    # 45 violations in 6,000 operations before writes asserted the version that was read.
    it 'is linearizable while replacements and deletions reach the server after their call has repeated them' do
      proxy = new_proxy
      proxy.deliver_late(%i[modify delete], 0.05)
      violations = violations_of(registers_on(proxy.uri, clients, operations, deletions: false))
      expect(tally('slapd, late writes', proxy.delivered_late, violations).anomalies).to eq([])
    end

    # 29 violations in 12,000 operations if a put whose answer was lost is made again after another client's.
    it 'is linearizable while the responses to replacements and deletions are lost' do
      proxy = new_proxy
      proxy.deliver_late(%i[modify delete], 0.05, 0..0)
      violations = violations_of(registers_on(proxy.uri, clients, operations, deletions: false))
      expect(tally('slapd, lost answers', proxy.delivered_late, violations).anomalies).to eq([])
    end

    it 'may show a deleted key again, if an addition reaches the server late' do
      proxy = new_proxy
      proxy.deliver_late(%i[add], 0.2)
      violations = violations_of(registers_on(proxy.uri, clients, operations, deletions: false))
      tally_counted('slapd, late additions', proxy.delivered_late, violations)
    end
  end

  describe 'on 389-DS', :ds389 do
    include_context 'with a directory', Ds389
    include_context 'with proxies'

    kinds = %i[get put create]

    it 'is linearizable without deletions and swaps, while clients are killed and replacements are late' do
      proxy = new_proxy
      proxy.deliver_late(%i[modify], 0.05)
      directory.audit
      registers = registers_on(proxy.uri, clients, operations / 2, kinds: kinds)
      violations = violations_of(registers) { kill_clients(registers, kills) }
      expect(proxy.delivered_late).to be > 0
      anomalies = tally('389-DS, late replacements', proxy.delivered_late + kills, violations).anomalies
      # The server's own anomalies, docs/adr/0013.
      expect(anomalies).to eq([]), -> { "#{anomalies}; replaced twice: #{directory.replaced_twice.values.sum}" }
    end

    # Fewer clients than elsewhere: the register of 389-DS has many more states.
    def unexplained(registers)
      histories_of(registers).flat_map do |history|
        Linearizability.new(history, Ds389Register.new(history)).violations.map { |found| among_others(found, history) }
      end
    end

    # @return [String] an operation, and those called in the 20 ms before its return, with their microseconds
    def among_others(found, history)
      from = [found.called, found.returned - 20_000_000].min
      near = history.select { |each| each.called&.between?(from, found.returned) }
      others = near.sort_by(&:called).map do |each|
        "#{[each.called, each.returned].compact.map { |time| (time - from) / 1000 }.join(' to ')}: #{each}"
      end
      [found, *others].join("\n")
    end

    # 2 to 20 violations, which nothing compared with the records.
    it 'does what docs/adr/0013, 0038 and 0054 say, and nothing else' do
      violations = unexplained(registers_on(directory.uri, 4, operations))
      expect(violations.map(&:to_s)).to eq([])
    end

    it 'does what docs/adr/0022 says as well, while all writes may be late' do
      proxy = new_proxy
      proxy.deliver_late(%i[modify delete add], 0.05)
      violations = unexplained(registers_on(proxy.uri, 4, operations / 2, deletions: false))
      expect(tally('389-DS, all late', proxy.delivered_late, violations).anomalies).to eq([])
    end

    it 'loses no put while the server is killed' do
      registers = registers_on(directory.uri, clients, operations / 2, kinds: kinds)
      violations = violations_of(registers) { kill_server(1) }
      expect(tally('389-DS, server killed', 1, violations).anomalies).to eq([])
    end
  end
end
