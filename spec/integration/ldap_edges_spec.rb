# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/eventually'
require_relative '../support/faulty_proxy'
require_relative '../support/processes'
require_relative '../support/silent_proxy'

# Behaviour of the core that the quirks of libldap and of the servers require.
RSpec.describe 'A store in a directory', :once do
  include Eventually
  include Processes

  include_context 'with slapd', tls: true, more: 'limits * size=unlimited'
  include_context 'with proxies'

  let(:old) { '{"value":"old"}' }
  let(:new) { '{"value":"new"}' }

  def log_of
    before = slapd.log.length
    yield
    slapd.log[before..]
  end

  # The requests that slapd logs while the block runs.
  def requests(&block)
    log_of(&block).scan(/ (SRCH|ADD|MOD|DEL) (?:base|dn)/).flatten
  end

  it 'reads first, adds only missing keys, and replaces only other documents' do
    store.put('globals/f/k', old)
    expect(requests { store.put('globals/f/k', new) }).to eq(%w[SRCH MOD])
    expect(requests { store.put('globals/f/k', new) }).to eq(%w[SRCH])
    expect(requests { store.put('globals/f/new', new) }).to eq(%w[SRCH ADD])
  end

  # For each page, slapd reads all of its entries, including those of other folders.
  it 'requests a whole folder first, and pages only for a folder larger than a page' do
    paged = open_apart('page_size' => 3)
    [1, 1, 1, 3, 3, 3, 4].each.with_index(1) do |searches, keys|
      store.put("globals/f/k#{keys}", '{"value":1}')
      log = log_of { expect(paged.list('globals/f')[:keys].length).to eq(keys) }
      expect(log.scan(/SRCH base="ou=f,.*scope=1/).length).to eq(searches), "#{keys} keys"
    end
  end

  # 389-DS answers two concurrent operations of a connection ten times slower than two sequential ones.
  it 'sends one operation at a time over a connection' do
    proxy = SilentProxy.new(slapd)
    store.put('globals/k', old)
    far = open_store('ldap_uri' => proxy.uri, 'pool_size' => 1)
    far.kind('globals')
    before = slapd.connections
    took = seconds do
      proxy.hold(:search, seconds: 0.3) do
        expect(Array.new(4) { Thread.new { far.get('globals/k') } }.map(&:value)).to all(eq(old))
      end
    end
    expect(took).to be_between(1.2, 30)
    expect(slapd.connections).to eq(before)
  ensure
    proxy&.stop
  end

  # caseExactMatch treats a run of spaces as one space; slapd also treats equivalent Unicode forms as equal.
  { 'spaces' => ['{"value":"a b"}', '{"value":"a  b"}'],
    'accents' => ["{\"value\":\"\u00e9\"}", "{\"value\":\"e\u0301\"}"] }.each do |what, (one, other)|
    it "distinguishes two documents that differ in #{what} only" do
      store.put('globals/k', one)
      expect { store.put('globals/k', new, condition: :expect, expect: other) }.to raise_error(Simpkv::ConflictError)
      expect(store.put('globals/k', other)).to be(true)
      expect(store.get('globals/k')).to eq(other)
      expect(store.put('globals/k', one, condition: :expect, expect: other)).to be(true)
      expect(store.get('globals/k')).to eq(one)
    end
  end

  it 'reports a document that is too large for the server, does not retry, and keeps working' do
    alone = open_apart('retries' => 5)
    alone.put('globals/k', old)
    before = slapd.connections
    expect { alone.put('globals/k', 'x' * 20_000_000) }
      .to raise_error(Simpkv::TooLargeError, /#{Regexp.escape(slapd.uri)}.*SockbufMaxIncomingAuth/)
    expect(alone.get('globals/k')).to eq(old)
    expect(slapd.connections - before).to be <= 1
  end

  # libldap would follow it with an anonymous bind. A list without the entry would be incomplete.
  it 'follows no referral, and omits none from a list' do
    store.put('globals/f/k', old)
    log = log_of do
      slapd.add("dn: #{dn('globals/f/far')}\nobjectClass: referral\nobjectClass: extensibleObject\n" \
                "simpkvKey: far\nref: #{slapd.tcp_uri}/#{Slapd::BASE_DN}\n")
      [[:get, 'far'], [:delete, 'far'], [:list, ''], [:tree, '']].each do |call, name|
        expect { store.public_send(call, "globals/f/#{name}".chomp('/')) }
          .to raise_error(Simpkv::Error, /refers to '#{slapd.tcp_uri}.*\. Do not follow that unseen: .* referral/)
      end
    end
    expect(log).not_to include('BIND anonymous')
  end

  it 'does not mistake a late response for the response to another call' do
    proxy = SilentProxy.new(slapd)
    store.put('globals/a', old)
    store.put('globals/b', new)
    far = open_store('ldap_uri' => proxy.uri, 'operation_timeout_seconds' => 0.5, 'retries' => 0)
    eventually { far.kind('globals') }
    proxy.hold(:search, seconds: 0.8) do
      expect { far.get('globals/a') }.to raise_error(Simpkv::TimeoutError, /#{proxy.uri}/)
    end
    # On a slow machine, some of them may time out.
    expect(Array.new(10) { sleep(0.05) && eventually { far.get('globals/b') } }).to all(eq(new))
  ensure
    proxy&.stop
  end

  # @return [Float] the seconds of processor time of this process
  def processor_time
    times = Process.times
    times.utime + times.stime
  end

  # libldap used to use 100% of a processor when a TLS peer stopped answering.
  it 'uses no processor time while it waits for a server that has stopped responding, over TLS as well' do
    [{ 'ldap_uri' => slapd.tls_uri }, { 'ldap_uri' => slapd.tcp_uri, 'enable_tls' => true }].each do |server|
      alone = open_apart(server.merge('tls_cacert' => slapd.certificates.cacert, 'operation_timeout_seconds' => 1.5))
      eventually { alone.kind('globals') }
      before = processor_time
      took = seconds { slapd.freeze_process { expect { alone.get('globals/k') }.to raise_error(Simpkv::TimeoutError) } }
      expect(took).to be_between(1.4, 30)
      expect(processor_time - before).to be < 0.75
    end
  end

  it 'ends at the deadline, however many retries it has' do
    [%w[ldap://127.0.0.1:1], %w[ldap://127.0.0.1:1 ldap://127.0.0.1:2]].each do |uris|
      gone = open_store('ldap_uri' => uris, 'retries' => 100, 'operation_timeout_seconds' => 0.5)
      took = seconds { expect { gone.get('globals/k') }.to raise_error(Simpkv::Error, /127\.0\.0\.1:1\b/) }
      expect(took).to be < 30
    end
  end

  it 'uses the next server while the first accepts connections and does not respond' do
    silent = TCPServer.new('127.0.0.1', 0)
    both = open_store('ldap_uri' => ["ldap://127.0.0.1:#{silent.addr[1]}", slapd.tcp_uri],
                      'connect_timeout_seconds' => 0.5, 'operation_timeout_seconds' => 20)
    expect(seconds { both.put('globals/k', old) }).to be_between(0.4, 20)
    expect(seconds { 100.times { both.get('globals/k') } }).to be < 30
  ensure
    silent&.close
  end

  # Accepts connections, and never answers.
  #
  # @return [Hash] the number of connections so far, and the largest number at one time
  def accept_silently(server)
    seen = { all: 0, most: 0 }
    thread = Thread.new do
      clients = []
      loop do
        IO.select([server, *clients]).first.each do |ready|
          clients.include?(ready) ? clients.delete(ready).close : clients.push(server.accept) && seen[:all] += 1
        end
        seen[:most] = [seen[:most], clients.length].max
      end
    end
    thread.report_on_exception = false
    seen
  end

  it 'retries a server that did not respond over one connection at a time' do
    silent = TCPServer.new('127.0.0.1', 0)
    both = open_store('ldap_uri' => ["ldap://127.0.0.1:#{silent.addr[1]}", slapd.tcp_uri],
                      'connect_timeout_seconds' => 0.2)
    eventually { both.put('globals/k', old) || true }
    seen = accept_silently(silent)
    reader = -> { eventually { both.get('globals/k') && seen[:all] > 2 } }
    Array.new(8) { Thread.new(&reader) }.each(&:join)
    expect(seen[:most]).to eq(1)
  ensure
    silent&.close
  end

  # The connection is cut in the middle of the 1,500 requests.
  it 'reports how many entries it deleted when it cannot delete all of a folder' do
    store.put_many((1..1500).to_h { |n| ["globals/t/k#{n}", old] })
    proxy = new_proxy
    far = open_behind(proxy, 'retries' => 0)
    far.kind('globals/t')
    proxy.arm(:cut, :up, 60_000)
    expect { far.deletetree('globals/t') }
      .to raise_error(Simpkv::UnavailableError, /#{proxy.uri}.*; [1-9]\d* of its entries were deleted before that\z/)
    expect(store.list('globals/t')[:keys].length).to be_between(1, 1450)
    expect(store.deletetree('globals/t')).to be(true)
  end

  # Such an address used to run the command.
  it 'does not run a command in an address' do
    marker = File.join(slapd.folder, 'ran')
    touch = "touch%20#{marker.gsub('/', '%2F')}"
    [";#{touch}", "$(#{touch})"].each do |command|
      expect { open_store('ldap_uri' => slapd.uri + command).kind('globals') }.to raise_error(Simpkv::Error)
    end
    expect(File.exist?(marker)).to be(false)
  end
end

RSpec.describe 'A store in a directory, with each binding' do
  include Eventually
  include Processes

  include_context 'with slapd'

  let(:document) { '{"value":"old"}' }

  it 'requests the next page while a block handles one, and abandons a list when the block ends it' do
    7.times { |number| store.put("globals/f/k#{number}", "{\"value\":#{number}}") }
    paged = open_apart('page_size' => 2, 'pool_size' => 1)
    searches = -> { slapd.log.scan(/SRCH base="ou=f,.*scope=1/).length }
    before = searches.call
    names = []
    paged.list('globals/f') do |name, _|
      # The first search is for the whole folder.
      expected = 1 + [((names.push(name).length + 1) / 2) + 1, 4].min
      eventually { searches.call - before >= expected }
    end
    expect(names.length).to eq(7)
    expect(paged.list('globals/f') { |name, _| break name }).to start_with('k')
    expect { paged.list('globals/f') { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
    expect(paged.list('globals/f')[:keys].length).to eq(7)
    expect(paged.get('globals/f/k3')).to eq('{"value":3}')
  end

  it 'leaves no socket to the programs that the process starts' do
    before = sockets
    open_apart.kind('globals')
    open_apart('ldap_uri' => slapd.tcp_uri).kind('globals')
    mine = sockets - before
    expect(mine.length).to eq(2)
    theirs = IO.popen(['sh', '-c', 'for f in /proc/self/fd/*; do readlink $f; done'], close_others: false, &:read)
    expect(mine & theirs.lines(chomp: true)).to eq([])
  end

  # libldap's unbind in the child would end the session of the parent.
  it 'can be used on both sides of a fork', needs: :fork do
    store.put('globals/k', document)
    connections = slapd.connections
    children = Array.new(2) do |n|
      child { store.put("globals/child#{n}", document) && store.get('globals/k') == document }
    end
    expect_success_of(*children)
    expect(store.get('globals/k')).to eq(document)
    expect(store.list('globals')[:keys].length).to eq(3)
    expect(slapd.connections - connections).to eq(2)
  end

  it 'has statistics of each pool and server' do
    alone = open_apart('pool_size' => 2, 'ldap_uri' => ['ldap://127.0.0.1:1', slapd.tcp_uri])
    alone.put('globals/k', document)
    2.times { alone.get('globals/k') }
    pool = Simpkv.stats['pools'].find { |each| each['servers'].map { |server| server['uri'] }.include?(slapd.tcp_uri) }
    gone, here = pool['servers']
    expect(pool).to include('open' => 1, 'idle' => 1, 'in_use' => 0, 'waiting' => 0, 'size' => 2)
    expect(gone).to include('failures' => be >= 1, 'open' => 0, 'resting' => true, 'binds' => 0)
    expect(here).to include('connects' => 1, 'binds' => 1, 'failures' => 0, 'resting' => false,
                            'operations' => include('put' => 1, 'get' => 2), 'retries' => include('lost' => 0))
    expect(here['latency_log2_us'].sum).to eq(3)
    expect([gone, here].map { |server| server.values_at('vendor', 'tls') }).to eq([[nil, nil], ['OpenLDAP', nil]])
    expect(Simpkv.stats.to_s).not_to include(Slapd::PASSWORD)
  end
end
