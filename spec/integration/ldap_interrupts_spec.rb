# frozen_string_literal: true

require 'timeout'
require_relative '../support/ldap_store'
require_relative '../support/patience'
require_relative '../support/processes'
require_relative '../support/silent_proxy'

# Calls that are made to wait, and interrupts of them.
module StalledCalls
  # What each call waits for in vain, and the call.
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

  # So soon after its begin each interrupts a call.
  INTERRUPTS = {
    'Thread#raise' => lambda do |call|
      target = Thread.current
      thread = Thread.new do
        sleep 0.2
        target.raise(IOError, 'enough')
      end
      call.call
    ensure
      thread.join
    end,
    'Timeout' => ->(call) { Timeout.timeout(0.2, IOError) { call.call } }
  }.freeze
end

RSpec.shared_context 'with stalled calls' do
  include Patience
  include Processes

  include_context 'with slapd'

  attr_reader :proxy

  before(:context) { @proxy = SilentProxy.new(slapd) }
  after(:context) { @proxy.stop }

  # No other example has a pool of that name.
  let(:options) do
    { 'ldap_uri' => proxy.uri, 'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }
  end
  let(:store) { open_store(options) }
  let(:old) { '{"value":"old"}' }
  let(:new) { '{"value":"new"}' }

  # Lets the store have a connection, if the call is to start with one.
  def prepare(stalled)
    open_store.put('globals/i/k', old)
    store.kind('globals') unless stalled == :bind
  end

  # Java has others that come and go.
  def descriptors
    RUBY_ENGINE == 'jruby' ? sockets.length : Dir.children('/proc/self/fd').length
  end

  # The server serves a new connection, which on a busy machine may take longer than the first calls may. The one that
  # was given up is closed: the store's end, and the proxy's two.
  def expect_nothing_left(stalled, before)
    eventually { store.put('globals/after', old) || true }
    expect(store.get('globals/after')).to eq(old)
    eventually(within: 5) { descriptors <= before + (stalled == :bind ? 3 : 0) }
  end
end

RSpec.describe 'Interrupts of calls that wait for a directory server', needs: :cext do
  include_context 'with stalled calls'

  # An operation's own time is 30 s.
  let(:soon) { 1.5 }

  StalledCalls::INTERRUPTS.each do |how, interrupt|
    StalledCalls::ALL.each do |name, (stalled, call)|
      it "end #{name}, by #{how}, and leave nothing behind" do
        prepare(stalled)
        before = descriptors
        took = seconds do
          proxy.hold(stalled) do
            expect { interrupt.call(-> { instance_exec(store, &call) }) }.to raise_error(IOError)
          end
        end
        expect(took).to be_between(0.2, soon)
        expect_nothing_left(stalled, before)
      end
    end
  end

  # A child that stops before its call, and ends with success when Ctrl-C interrupts that.
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

  # Interrupts it in the midst of its call.
  def expect_an_end_by_ctrl_c(stalled, call, **other)
    pid = stopped_before(stalled, call, **other)
    proxy.hold(stalled) do
      Process.kill(:CONT, pid)
      sleep 0.3
      Process.kill(:INT, pid)
      expect(seconds { expect_success_of(pid) }).to be < soon
    end
  end

  StalledCalls::ALL.each do |name, (stalled, call)|
    it("end #{name}, by Ctrl-C") { expect_an_end_by_ctrl_c(stalled, call) }
  end

  # Ruby then leaves it to that thread to tell the main one, which it cannot.
  it 'end a get, by Ctrl-C, beside a thread that reads (it took effect at the deadline)' do
    expect_an_end_by_ctrl_c(*StalledCalls::ALL.fetch('get'), beside: -> { IO.pipe.first.read })
  end
end

# Nobody reaches into a call there.
RSpec.describe 'Interrupts of calls that wait for a directory server, over FFI', needs: :ffi do
  include_context 'with stalled calls'

  def interrupted(interrupt, call)
    interrupt.call(-> { instance_exec(store, &call) })
  end

  StalledCalls::INTERRUPTS.to_a.product(StalledCalls::ALL.to_a).each do |(how, interrupt), (name, (stalled, call))|
    it "take effect at the deadline of #{name}, by #{how}, and leave nothing behind" do
      options.update('operation_timeout_seconds' => 1, 'retries' => 0)
      prepare(stalled)
      before = descriptors
      took = seconds { proxy.hold(stalled) { expect { interrupted(interrupt, call) }.to raise_error(IOError) } }
      expect(took).to be_between(0.9, 5)
      expect_nothing_left(stalled, before)
    end
  end

  # How many of the store's connections are not given back.
  def in_use
    pools = Simpkv.stats['pools'].select { |pool| pool['identity'] == options['admin_dn'] }
    pools.sum { |pool| pool['in_use'] }
  end

  # A list used to keep its connection for good, for it was interrupted between its first answer and its end.
  StalledCalls::INTERRUPTS.to_a.product(%w[get list]).each do |(how, interrupt), name|
    it "take effect when the answer of #{name} comes, by #{how}, and its connection is given back" do
      prepare(:search)
      took = seconds do
        proxy.hold(:search, seconds: 1) do
          expect { interrupted(interrupt, StalledCalls::ALL.fetch(name).last) }.to raise_error(IOError)
        end
      end
      expect(took).to be_between(0.9, 5)
      expect(in_use).to eq(0)
      expect(store.get('globals/i/k')).to eq(old)
    end
  end
end

RSpec.describe 'Calls that wait for a directory server' do
  include_context 'with stalled calls'

  StalledCalls::ALL.each do |name, (stalled, call)|
    it "leave other threads, and their calls, alone: #{name}" do
      prepare(stalled)
      near = open_store
      others = 0
      proxy.hold(stalled, seconds: 0.5) do
        waiting = Thread.new { instance_exec(store, &call) }
        others += 1 while waiting.alive? && near.kind('globals')
        waiting.value
      end
      expect(others).to be > 10
    end
  end
end

RSpec.describe 'Signals that a handler takes' do
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

  # Has a child send signals while the block runs.
  def under_signals
    pid = Process.spawn('sh', '-c', "while kill -USR1 #{Process.pid}; do sleep 0.005; done")
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

  # Every tenth is followed by conditional ones.
  def put_all_kinds(number)
    put_and_get(number)
    put_on_conditions(number) if (number % 10).zero?
  end

  it 'break nothing: 200 and more of them during 15,000 gets and puts cost not even a connection' do
    before = slapd.connections
    number = 0
    under_signals { put_all_kinds(number += 1) until number >= 7500 && handled >= 200 }
    expect(slapd.connections - before).to be <= 2
    old, new = store.list('globals/s')[:keys].partition { |name, _| name.start_with?('k') }
    expect(old.to_h.values).to match_array(((number - 49)..number).map { |n| document((n % 10).zero? ? -n : n) })
    expect(new.length).to eq(number / 10)
  end

  # One signal while the block runs.
  def under_a_signal
    thread = Thread.new do
      sleep 0.1
      Process.kill(:USR1, Process.pid)
    end
    yield
  ensure
    thread.join
  end

  # The answer comes later than the connection is waited for, so that nobody can see in it whose write it was.
  it 'do not make a conditional put doubt its own write' do
    proxy = SilentProxy.new(slapd)
    far = open_store('ldap_uri' => proxy.uri)
    far.put('globals/k', document(1))
    slowly = ->(operation, &call) { under_a_signal { proxy.hold(operation, seconds: 1, &call) } }
    slowly.call(:modify) do
      expect(far.put('globals/k', document(2), condition: :expect, expect: document(1))).to be(true)
    end
    slowly.call(:add) { expect(far.put('globals/new', document(3), condition: :absent)).to be(true) }
    slowly.call(:add) { expect(far.put('globals/folder/new', document(3), condition: :absent)).to be(true) }
    expect([store.get('globals/k'), store.get('globals/folder/new')]).to eq([document(2), document(3)])
    expect { far.put('globals/k', document(4), condition: :expect, expect: document(1)) }
      .to raise_error(Simpkv::ConflictError)
    expect(handled).to eq(3)
  ensure
    proxy&.stop
  end
end
