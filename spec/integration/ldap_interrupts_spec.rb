# frozen_string_literal: true

require 'timeout'
require_relative '../support/ldap_store'
require_relative '../support/eventually'
require_relative '../support/processes'
require_relative '../support/silent_proxy'

# Calls that wait for a response of the server, and interrupts of them.
module StalledCalls
  # By title: the request to which the proxy sends no response, and the call.
  ALL = {
    'a first call, which connects' => [:bind, ->(store) { store.get('globals/i/k') }],
    'get' => [:search, ->(store) { store.get('globals/i/k') }],
    'exists' => [:search, ->(store) { store.exist?('globals/i') }],
    'list' => [:search, ->(store) { store.list('globals/i') }],
    'tree' => [:search, ->(store) { store.tree('globals/i') }],
    'put, while it reads' => [:search, ->(store) { store.put('globals/i/k', new) }],
    'put, while it replaces' => [:modify, ->(store) { store.put('globals/i/k', new) }],
    'put, while it adds' => [:add, ->(store) { store.put('globals/i/new', new) }],
    'put, while it makes a folder' => [:add, ->(store) { store.put('globals/i/new/new', new) }],
    'put on condition :absent' => [:add, ->(store) { store.put('globals/i/new', new, condition: :absent) }],
    'put on condition :expect' => [:modify, lambda do |store|
      store.put('globals/i/k', new, condition: :expect, expect: old)
    end],
    'delete' => [:delete, ->(store) { store.delete('globals/i/k') }],
    'deletetree' => [:delete, ->(store) { store.deletetree('globals/i') }]
  }.freeze

  # Each interrupts a call: when its request has reached the proxy, or 0.2 s after it begins.
  INTERRUPTS = {
    'Thread#raise' => lambda do |reached, call|
      target = Thread.current
      over = false
      thread = Thread.new do
        sleep 0.01 until reached.call || over
        target.raise(IOError, 'enough') if reached.call
      end
      call.call
    ensure
      over = true
      thread.join
    end,
    'Timeout' => ->(_reached, call) { Timeout.timeout(0.2, IOError) { call.call } }
  }.freeze

  # Yields each call with Thread#raise, and one call of each kind with Timeout, which is based on Thread#raise.
  def self.each_interrupt
    kinds = ALL.slice('get', 'list', 'put, while it replaces')
    INTERRUPTS.each_with_index do |(how, interrupt), index|
      (index.zero? ? ALL : kinds).each { |name, stalled_call| yield how, interrupt, name, stalled_call }
    end
  end
end

RSpec.shared_context 'with stalled calls' do
  include Eventually
  include Processes

  include_context 'with slapd'

  attr_reader :proxy

  before(:context) { @proxy = SilentProxy.new(slapd) }
  after(:context) { @proxy.stop }

  # A pool of its own.
  let(:options) do
    { 'ldap_uri' => proxy.uri, 'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }
  end
  let(:store) { open_store(options) }
  let(:old) { '{"value":"old"}' }
  let(:new) { '{"value":"new"}' }

  # Stores a key, and opens a connection unless the call waits for its bind.
  def prepare(stalled)
    open_store.put('globals/i/k', old)
    eventually { store.kind('globals') } unless stalled == :bind
  end

  # @return [Proc] which returns true once another request of that kind has reached the proxy
  def reached(stalled)
    before = proxy.count(stalled)
    -> { proxy.count(stalled) > before }
  end

  # Interrupts a call, which must raise the interrupt's error.
  def interrupt_call(interrupt, stalled, call)
    requested = reached(stalled)
    expect { interrupt.call(requested, -> { instance_exec(store, &call) }) }.to raise_error(IOError)
  end

  # Java opens and closes other descriptors.
  def descriptors
    RUBY_ENGINE == 'jruby' ? sockets.length : Dir.children('/proc/self/fd').length
  end

  # Expects that the store works, and that the interrupted call left no descriptor open. On a busy machine the first
  # calls over a new connection may time out. The proxy closes its two ends of the connection after the store.
  def expect_nothing_left(stalled, before)
    eventually { store.put('globals/after', old) || true }
    expect(store.get('globals/after')).to eq(old)
    eventually { descriptors <= before + (stalled == :bind ? 3 : 0) }
  end
end

RSpec.describe 'Interrupts of calls that wait for a directory server', needs: :cext do
  include_context 'with stalled calls'

  # An operation may take 30 s.
  let(:soon) { 20 }

  StalledCalls.each_interrupt do |how, interrupt, name, (stalled, call)|
    it "end #{name}, by #{how}, and leave no descriptor open" do
      prepare(stalled)
      before = descriptors
      expect(seconds { proxy.hold(stalled) { interrupt_call(interrupt, stalled, call) } }).to be < soon
      expect_nothing_left(stalled, before)
    end
  end

  # @return [Integer] a child that stops before its call, and succeeds if Ctrl-C interrupts the call
  def stopped_before(stalled, call, beside: nil)
    options
    id
    pid = child do
      trap(:INT, 'DEFAULT')
      Thread.new(&beside) if beside
      prepare(stalled)
      Process.kill(:STOP, Process.pid)
      instance_exec(store, &call)
      false
    rescue Interrupt
      true
    end
    Process.wait(pid, Process::WUNTRACED)
    pid
  end

  # Interrupts the child during its call.
  def expect_an_end_by_ctrl_c(stalled, call, **other)
    pid = stopped_before(stalled, call, **other)
    requested = reached(stalled)
    proxy.hold(stalled) do
      Process.kill(:CONT, pid)
      eventually { requested.call }
      Process.kill(:INT, pid)
      expect(seconds { expect_success_of(pid) }).to be < soon
    end
  end

  StalledCalls::ALL.each do |name, (stalled, call)|
    it("end #{name}, by Ctrl-C") { expect_an_end_by_ctrl_c(stalled, call) }
  end

  # The thread that reads gets the signal, and cannot interrupt the main thread.
  it 'end a get, by Ctrl-C, beside a thread that reads (the interrupt used to take effect at the deadline)' do
    expect_an_end_by_ctrl_c(*StalledCalls::ALL.fetch('get'), beside: -> { IO.pipe.first.read })
  end
end

# FFI cannot interrupt a call.
RSpec.describe 'Interrupts of calls that wait for a directory server, over FFI', needs: :ffi do
  include_context 'with stalled calls'

  StalledCalls.each_interrupt do |how, interrupt, name, (stalled, call)|
    it "take effect at the deadline of #{name}, by #{how}, and leave no descriptor open" do
      deadline = how == 'Timeout' ? 3 : 0.7
      options.update('operation_timeout_seconds' => deadline, 'retries' => 0)
      prepare(stalled)
      before = descriptors
      took = seconds { proxy.hold(stalled) { interrupt_call(interrupt, stalled, call) } }
      expect(took).to be_between(deadline - 0.1, 20)
      expect_nothing_left(stalled, before)
    end
  end

  # @return [Integer] the number of connections that the store has borrowed
  def in_use
    pools = Simpkv.stats['pools'].select { |pool| pool['identity'] == options['admin_dn'] }
    pools.sum { |pool| pool['in_use'] }
  end

  # A list that was interrupted between its first response and its end used to keep its connection forever.
  decoded = ['a get in one call', [:search, ->(store) { store.get_decoded('globals/i', 'k', false) }]]
  calls = StalledCalls::ALL.slice('get', 'list').to_a << decoded
  StalledCalls::INTERRUPTS.to_a.product(calls).each do |(how, interrupt), (name, (_, call))|
    it "take effect when the response of #{name} arrives, by #{how}, and its connection returns to the pool" do
      prepare(:search)
      took = seconds do
        proxy.hold(:search, seconds: 0.6) { interrupt_call(interrupt, :search, call) }
      end
      expect(took).to be_between(0.5, 20)
      expect(in_use).to eq(0)
      expect(store.get('globals/i/k')).to eq(old)
      expect(store.get_decoded('globals/i', 'k', false)).to eq(value: 'old', metadata: {})
    end
  end
end

RSpec.describe 'Calls that wait for a directory server' do
  include_context 'with stalled calls'

  StalledCalls::ALL.each do |name, (stalled, call)|
    it "do not block the calls of other threads: #{name}" do
      prepare(stalled)
      near = open_store
      requested = reached(stalled)
      waiting = nil
      proxy.hold(stalled) do
        waiting = Thread.new { instance_exec(store, &call) }
        eventually { requested.call }
        6.times { near.kind('globals') }
        expect(waiting).to be_alive
      end
      waiting.value
    end
  end
end

RSpec.describe 'Signals with a handler' do
  include Eventually

  include_context 'with slapd', more: 'limits * size=unlimited'

  attr_reader :handled

  around do |example|
    @handled = 0
    before = trap(:USR1) { @handled += 1 }
    example.run
  ensure
    trap(:USR1, before)
  end

  def document(value)
    "{\"value\":#{value}}"
  end

  # A child sends signals while the block runs.
  #
  # @param most [Integer] the number of signals after which it ends
  def under_signals(pause: 0.005, most: 1_000_000)
    pid = Process.spawn('sh', '-c', "i=0; while [ $i -lt #{most} ] && kill -USR1 #{Process.pid}; " \
                                    "do i=$((i + 1)); sleep #{pause}; done")
    yield
  ensure
    Process.kill(:KILL, pid)
    Process.wait(pid)
  end

  def key(number)
    "globals/s/k#{number % 50}"
  end

  def put_and_get(number)
    expect(store.put(key(number), document(number))).to be(true)
    expect(store.get(key(number))).to eq(document(number))
  end

  def put_on_conditions(number)
    expect(store.put("globals/s/new#{number}", document(number), condition: :absent)).to be(true)
    expect(store.put(key(number), document(-number), condition: :expect, expect: document(number))).to be(true)
  end

  # Adds conditional puts to every tenth put.
  def put_all_kinds(number)
    put_and_get(number)
    put_on_conditions(number) if (number % 10).zero?
  end

  it 'break no call and no connection: at least 200 signals, during 4,000 gets and puts' do
    before = slapd.connections
    number = 0
    under_signals { put_all_kinds(number += 1) until number >= 2000 && handled >= 200 }
    expect(slapd.connections - before).to be <= 2
    old, new = store.list('globals/s')[:keys].partition { |name, _| name.start_with?('k') }
    expect(old.to_h.values).to match_array(((number - 49)..number).map { |n| document((n % 10).zero? ? -n : n) })
    expect(new.length).to eq(number / 10)
  end

  # Each signal used to give the call its whole time again, so that it never ended.
  { 'get' => ->(store) { store.get('globals/k') }, 'list' => ->(store) { store.list('globals') },
    'get_many' => ->(store) { raise store.get_many(['globals/k']).fetch('globals/k') },
    'deletetree' => ->(store) { store.deletetree('globals/none') } }.each do |name, call|
    it "do not prolong #{name} beyond its deadline", heavy: name != 'get' do
      proxy = SilentProxy.new(slapd)
      far = open_apart('ldap_uri' => proxy.uri, 'operation_timeout_seconds' => 1, 'retries' => 0)
      store.put('globals/k', document(1))
      eventually { far.get('globals/k') }
      ends = -> { expect { call.call(far) }.to raise_error(Simpkv::TimeoutError) }
      expect(seconds { proxy.hold(:search) { under_signals(pause: 0.3, most: 80, &ends) } }).to be < 15
      expect(handled).to be_positive
    ensure
      proxy&.stop
    end
  end

  # Delays the response to one request of the block, and sends a signal when the proxy has that request.
  def under_a_signal(proxy, operation, &block)
    before = proxy.count(operation)
    thread = Thread.new do
      eventually { proxy.count(operation) > before }
      Process.kill(:USR1, Process.pid)
    end
    proxy.hold(operation, seconds: 1, &block)
  ensure
    thread.join
  end

  # The core does not wait for the late response, and has to determine without it that the write was its own.
  it 'do not make a conditional put report its own write as a conflict' do
    proxy = SilentProxy.new(slapd)
    far = open_store('ldap_uri' => proxy.uri)
    far.put('globals/k', document(1))
    slowly = ->(operation, &call) { under_a_signal(proxy, operation, &call) }
    slowly.call(:modify) do
      expect(far.put('globals/k', document(2), condition: :expect, expect: document(1))).to be(true)
    end
    slowly.call(:add) { expect(far.put('globals/new', document(3), condition: :absent)).to be(true) }
    slowly.call(:add) { expect(far.put('globals/folder/new', document(3), condition: :absent)).to be(true) }
    expect([store.get('globals/k'), store.get('globals/folder/new')]).to eq([document(2), document(3)])
    expect { far.put('globals/k', document(4), condition: :expect, expect: document(1)) }
      .to raise_error(Simpkv::ConflictError)
    eventually { handled == 3 }
  ensure
    proxy&.stop
  end
end
