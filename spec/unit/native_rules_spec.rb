# frozen_string_literal: true

require 'json'
require 'timeout'

# spec/unit/rules_cases_spec.rb has the cases of conditions and actions.
RSpec.describe 'Simpkv::Native::Rules' do
  native = Simpkv::Native

  def rules(*rules)
    Simpkv::Native::Rules.new(JSON.generate('rules' => rules))
  end

  def inspect_node(rules, input)
    JSON.parse(rules.inspect_node(JSON.generate({ 'phases' => %w[preprocess main], 'inventory' => {} }.merge(input))))
  end

  it 'returns the node and its plugin data, if there are no rules' do
    input = { 'node' => { 'environment' => 'production' }, 'plugin_data' => { 'a' => [1.5, "\u0000é"] } }
    expect(inspect_node(rules, input)).to eq(input.merge('rules' => [], 'effects' => [], 'sensitive_paths' => []))
  end

  it 'returns a String in UTF-8' do
    expect(rules.inspect_node('{"phases":["early"]}').encoding).to be(Encoding::UTF_8)
  end

  it 'knows the names of secrets, which the core masks' do
    secret = ['db_Password', 'x-api_key-y', "a\0token", 'bindpw', 'AWSAccessKeyId']
    other = ['', 'key', "pa\0ss", "\xff", 'passive', 'public_key']
    expect(secret.map { |name| native.secret_name?(name) }).to all(be(true))
    expect(other.map { |name| native.secret_name?(name) }).to all(be(false))
    expect { native.secret_name?(nil) }.to raise_error(TypeError, 'no implicit conversion of nil into String')
  end

  it 'knows the names of secrets that a site adds' do
    secret = %w[Kennwort db_kennwort2 snmpText old.SNMP-text]
    expect(secret.map { |name| native.secret_name?(name, "kennwort\nsnmp text") }).to all(be(true))
    expect(%w[kennworte snmp text x].map { |name| native.secret_name?(name, "kennwort\nsnmp text") }).to all(be(false))
    expect(['kennwort', ''].map { |name| native.secret_name?(name, '') }).to all(be(false))
    expect { native.secret_name?('x', 1) }.to raise_error(TypeError, /no implicit conversion of Integer into String/)
  end

  it 'masks them' do
    copy = { 'op' => 'set-attribute', 'args' => ['/parameters/copy', '{inventory}'] }
    facts = { 'kennwort' => 'a', 'site_pin' => 'b', 'os' => 'c' }
    copied = lambda do |more|
      outcome = inspect_node(rules('actions' => [copy]), { 'inventory' => facts, 'node' => {} }.merge(more))
      outcome['node']['parameters']['copy']
    end

    expect(copied.call({})).to eq(facts)
    expect(copied.call('secret_names' => "kennwort\npin"))
      .to eq('kennwort' => '******', 'site_pin' => '******', 'os' => 'c')
    expect { copied.call('secret_names' => ['pin']) }
      .to raise_error(Simpkv::InvalidError, /'secret_names' is not a text/)
  end

  it 'knows the parameters that Puppet sets itself' do
    expect(['fact', '1a', '', "\0", 'facts2'].map { |name| native.parameter_check(name) }).to all(be_nil)
    %w[facts trusted server_facts environment 0 12].each do |name|
      expect { native.parameter_check(name) }.to raise_error(Simpkv::InvalidError, /\Aa node cannot have /), name
    end
  end

  it 'suggests the condition that an operator of another language means' do
    { 'gte' => '!lt', '>=' => '!lt', '==' => 'eq', '!=' => '!eq', 'in' => 'one-of' }.each do |op, meant|
      expect { rules('conditions' => [{ 'op' => op, 'args' => [1, 2] }], 'actions' => []) }
        .to raise_error(Simpkv::InvalidError, /there is no condition '\S+': expected .*: did you mean '#{meant}'\?\z/)
    end
  end

  it 'reads as many rules as its constant says' do
    rule = { 'actions' => [{ 'op' => 'log', 'args' => ['x'] }] }
    expect { rules(*Array.new(native::Rules::MAX, rule)) }.not_to raise_error
    expect { rules(*Array.new(native::Rules::MAX + 1, rule)) }.to raise_error(Simpkv::InvalidError, /10000 are allowed/)
  end

  it 'serves several threads at once, and survives those that are killed' do
    shared = rules({ 'conditions' => [{ 'op' => 'matches', 'args' => ['{node.name}', 'n.*'] }],
                     'actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/p', '{item}'],
                                     'loop' => '{inventory[list]}' }] })
    input = { 'node' => { 'name' => 'n1' }, 'inventory' => { 'list' => Array.new(500) { |number| "text #{number}" } } }
    killed = Array.new(4) { Thread.new { loop { inspect_node(shared, input) } } }
    outcomes = Array.new(4) { Thread.new { Array.new(50) { inspect_node(shared, input) } } }.flat_map(&:value)
    killed.each(&:kill).each(&:join)
    expect(outcomes.map { |outcome| outcome.dig('node', 'parameters', 'p') }.uniq).to eq(['text 499'])
  end

  # Each of the threads used to succeed, and the extension leaked all rules but the last.
  it 'takes the rules of one of several threads that initialize one object at once' do
    json = JSON.generate('rules' => Array.new(3000) do |number|
      { 'actions' => [{ 'op' => 'log', 'args' => ["rule #{number}"] }] }
    end)
    object = native::Rules.allocate
    start = Queue.new
    threads = Array.new(4) do
      Thread.new do
        start.pop
        object.__send__(:initialize, json)
        'read'
      rescue Simpkv::InvalidError => e
        e.message
      end
    end
    start.close
    expect(threads.map(&:value)).to contain_exactly('read', *['the rules are read already'] * 3)
    expect(inspect_node(object, 'node' => {}).dig('error', 'message')).to include('effects')
  end

  # Looks for the last of 100,000 ports until the limit of steps: some 0.5 s.
  def long_inspection
    action = { 'op' => 'set-port-attribute', 'args' => ['99999', '/x', 1], 'loop' => '{inventory[list]}' }
    ports = Array.new(100_000) { |number| { 'mac' => number.to_s } }
    input = { 'inventory' => { 'list' => (1..1000).to_a }, 'node' => { 'ports' => ports } }
    long = rules('actions' => [action])
    -> { inspect_node(long, input)['error']['message'] }
  end

  def seconds
    start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  end

  # An interrupt used to wait for the end.
  it 'ends an inspection when another thread interrupts it', needs: :cext do
    inspection = long_inspection
    whole = seconds { inspection.call }
    ended = seconds { expect { Timeout.timeout(0.001) { inspection.call } }.to raise_error(Timeout::Error) }

    expect(ended).to be < whole * 0.8
    expect(inspection.call).to include('more than 200000 steps')
  end

  it 'completes an inspection under harmless signals', needs: %i[fork cext] do
    former = trap(:USR2) { nil }
    sender = fork { loop { sleep(Process.kill(:USR2, Process.ppid) * 0.02) } }

    expect(long_inspection.call).to include('more than 200000 steps')
  ensure
    Process.kill(:KILL, sender)
    Process.wait(sender)
    trap(:USR2, former)
  end

  it 'inspects nodes in a forked process', needs: :fork do
    shared = rules({ 'actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/p', '{node.name}'] }] })
    reader, writer = IO.pipe
    child = fork do
      writer.write(shared.inspect_node('{"phases":["main"],"node":{"name":"n1"}}'))
      writer.close
      shared = nil
      GC.start
      exit!(0)
    end
    writer.close
    expect(JSON.parse(reader.read)['node']['parameters']).to eq('p' => 'n1')
    expect(Process.wait2(child).last).to be_success
    expect(inspect_node(shared, 'node' => { 'name' => 'n2' })['node']['parameters']).to eq('p' => 'n2')
  end

  no_string = 'no implicit conversion of %s into String'
  {
    'nil for rules' => [-> { native::Rules.new(nil) }, TypeError, format(no_string, 'nil')],
    'a list for rules' => [-> { native::Rules.new([]) }, TypeError, format(no_string, 'Array')],
    'a number for an input' =>
      [-> { native::Rules.new('{"rules":[]}').inspect_node(1) }, TypeError, format(no_string, 'Integer')],
    'rules that are no JSON' => [-> { native::Rules.new('{"rules":[') }, Simpkv::InvalidError, /rules/],
    'an input that is no object' =>
      [-> { native::Rules.new('{"rules":[]}').inspect_node('[]') }, Simpkv::InvalidError, /input.*object/],
    'to inspect without rules' => [-> { native::Rules.allocate.inspect_node('{}') }, Simpkv::InvalidError,
                                   'no rules are read'],
    'a clone of rules' => [-> { native::Rules.new('{"rules":[]}').clone.inspect_node('{}') }, Simpkv::InvalidError,
                           'no rules are read'],
    'to dump rules' => [-> { Marshal.dump(native::Rules.new('{"rules":[]}')) }, TypeError, /dump/],
    'a copy of rules' => [-> { native::Rules.new('{"rules":[]}').dup.inspect_node('{}') }, Simpkv::InvalidError,
                          'no rules are read'],
    'to read rules twice' => [-> { native::Rules.new('{"rules":[]}').__send__(:initialize, '{"rules":[]}') },
                              Simpkv::InvalidError, 'the rules are read already']
  }.each do |what, (call, error, message)|
    it "refuses #{what}" do
      expect(&call).to raise_error(error, message)
    end
  end
end
