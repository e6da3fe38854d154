# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/patience'
require_relative '../support/processes'
require_relative '../support/silent_proxy'

# What shared/LDAP.md says of libldap and the servers, and no other spec has.
RSpec.describe 'A store in a directory' do
  include Patience
  include Processes

  include_context 'with slapd', tls: true, more: 'limits * size=unlimited'

  let(:old) { '{"value":"old"}' }
  let(:new) { '{"value":"new"}' }

  # In a pool of its own.
  def open_alone(more = {})
    open_store({ 'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }.merge(more))
  end

  def log_of
    before = slapd.log.length
    yield
    slapd.log[before..]
  end

  it 'reads first: adds only what is not there, and changes only what is another' do
    store.put('globals/f/k', old)
    expect(log_of { store.put('globals/f/k', new) }.scan(/ (SRCH|ADD|MOD|DEL) (?:base|dn)/).flatten).to eq(%w[SRCH MOD])
    expect(log_of { store.put('globals/f/k', new) }.scan(/ (SRCH|ADD|MOD|DEL) (?:base|dn)/).flatten).to eq(%w[SRCH])
    expect(log_of { store.put('globals/f/new', new) }.scan(/ (SRCH|ADD|MOD|DEL) (?:base|dn)/).flatten)
      .to eq(%w[SRCH ADD])
  end

  # In pages, slapd looks at all entries that it has, those of other folders as well.
  it 'asks for all of a folder at first, and in pages only where it is larger than one' do
    paged = open_alone('page_size' => 3)
    [1, 1, 1, 3, 3, 3, 4].each.with_index(1) do |searches, keys|
      store.put("globals/f/k#{keys}", '{"value":1}')
      log = log_of { expect(paged.list('globals/f')[:keys].length).to eq(keys) }
      expect(log.scan(/SRCH base="ou=f,.*scope=1/).length).to eq(searches), "#{keys} keys"
    end
  end

  it 'has asked for the next page while a block is at work on one, and gives up a list that the block ends' do
    7.times { |number| store.put("globals/f/k#{number}", "{\"value\":#{number}}") }
    paged = open_alone('page_size' => 2, 'pool_size' => 1)
    searches = -> { slapd.log.scan(/SRCH base="ou=f,.*scope=1/).length }
    before = searches.call
    names = []
    paged.list('globals/f') do |name, _|
      # The first one is for all, should that be no more than a page.
      asked = 1 + [((names.push(name).length + 1) / 2) + 1, 4].min
      eventually { searches.call - before >= asked }
    end
    expect(names.length).to eq(7)
    expect(paged.list('globals/f') { |name, _| break name }).to start_with('k')
    expect { paged.list('globals/f') { raise 'enough' } }.to raise_error(RuntimeError, 'enough')
    expect(paged.list('globals/f')[:keys].length).to eq(7)
    expect(paged.get('globals/f/k3')).to eq('{"value":3}')
  end

  # 389-DS answers two at a time ten times slower than one after the other.
  it 'has one operation at a time on a connection' do
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
    expect(took).to be_between(1.2, 10)
    expect(slapd.connections).to eq(before)
  ensure
    proxy&.stop
  end

  # caseExactMatch takes runs of spaces for one, and slapd also what Unicode says is equivalent.
  { 'spaces' => ['{"value":"a b"}', '{"value":"a  b"}'],
    'accents' => ["{\"value\":\"\u00e9\"}", "{\"value\":\"e\u0301\"}"] }.each do |what, (one, other)|
    it "takes no document for another that differs in #{what} only" do
      store.put('globals/k', one)
      expect { store.put('globals/k', new, condition: :expect, expect: other) }.to raise_error(Simpkv::ConflictError)
      expect(store.put('globals/k', other)).to be(true)
      expect(store.get('globals/k')).to eq(other)
      expect(store.put('globals/k', one, condition: :expect, expect: other)).to be(true)
      expect(store.get('globals/k')).to eq(one)
    end
  end

  it 'says that a document is larger than the server takes, does not try again, and works on' do
    alone = open_alone('retries' => 5)
    alone.put('globals/k', old)
    before = slapd.connections
    expect { alone.put('globals/k', 'x' * 20_000_000) }
      .to raise_error(Simpkv::TooLargeError, /#{Regexp.escape(slapd.uri)}.*SockbufMaxIncomingAuth/)
    expect(alone.get('globals/k')).to eq(old)
    expect(slapd.connections - before).to be <= 1
  end

  # libldap would go there, as nobody; and a list without it would be a part of the list.
  it 'follows no referral, and leaves none out of a list' do
    store.put('globals/f/k', old)
    log = log_of do
      slapd.add("dn: #{dn('globals/f/far')}\nobjectClass: referral\nobjectClass: extensibleObject\n" \
                "simpkvKey: far\nref: #{slapd.tcp_uri}/#{Slapd::BASE_DN}\n")
      [[:get, 'far'], [:delete, 'far'], [:list, ''], [:tree, '']].each do |call, name|
        expect { store.public_send(call, "globals/f/#{name}".chomp('/')) }
          .to raise_error(Simpkv::Error, /refers to #{slapd.tcp_uri}/)
      end
    end
    expect(log).not_to include('BIND anonymous')
  end

  it 'takes no late answer for that to another call' do
    proxy = SilentProxy.new(slapd)
    store.put('globals/a', old)
    store.put('globals/b', new)
    far = open_store('ldap_uri' => proxy.uri, 'operation_timeout_seconds' => 0.5, 'retries' => 0)
    far.kind('globals')
    proxy.hold(:search, seconds: 1) do
      expect { far.get('globals/a') }.to raise_error(Simpkv::TimeoutError, /#{proxy.uri}/)
    end
    expect(Array.new(20) { sleep(0.1) && far.get('globals/b') }).to all(eq(new))
  ensure
    proxy&.stop
  end

  # @return [Float] seconds of a processor, for this process
  def worked
    times = Process.times
    times.utime + times.stime
  end

  # libldap span at 100% of a processor when a TLS peer fell silent.
  it 'waits without work for a server that has fallen silent, over TLS as well' do
    [{ 'ldap_uri' => slapd.tls_uri }, { 'ldap_uri' => slapd.tcp_uri, 'enable_tls' => true }].each do |server|
      alone = open_alone({ 'tls_cacert' => slapd.certificates.cacert, 'operation_timeout_seconds' => 2 }.merge(server))
      alone.kind('globals')
      before = worked
      took = seconds { slapd.freeze_process { expect { alone.get('globals/k') }.to raise_error(Simpkv::TimeoutError) } }
      expect(took).to be_between(1.9, 10)
      expect(worked - before).to be < 1
    end
  end

  it 'ends in time, however often it may try again' do
    [%w[ldap://127.0.0.1:1], %w[ldap://127.0.0.1:1 ldap://127.0.0.1:2]].each do |uris|
      gone = open_store('ldap_uri' => uris, 'retries' => 100, 'operation_timeout_seconds' => 1)
      expect(seconds { expect { gone.get('globals/k') }.to raise_error(Simpkv::Error, /127\.0\.0\.1:1\b/) }).to be < 3
    end
  end

  it 'goes to the next server, and soon only there, when the first accepts and stays silent' do
    silent = TCPServer.new('127.0.0.1', 0)
    both = open_store('ldap_uri' => ["ldap://127.0.0.1:#{silent.addr[1]}", slapd.tcp_uri],
                      'connect_timeout_seconds' => 1, 'operation_timeout_seconds' => 20)
    expect(seconds { both.put('globals/k', old) }).to be_between(0.9, 10)
    expect(seconds { 100.times { both.get('globals/k') } }).to be < 10
  ensure
    silent&.close
  end

  # A server that says nothing. @return [Hash] how many connections it has had so far, and at once
  def listen_in_silence(server)
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

  it 'tries a server that was silent again, by one connection at a time' do
    silent = TCPServer.new('127.0.0.1', 0)
    both = open_store('ldap_uri' => ["ldap://127.0.0.1:#{silent.addr[1]}", slapd.tcp_uri],
                      'connect_timeout_seconds' => 0.2)
    both.put('globals/k', old)
    seen = listen_in_silence(silent)
    threads = Array.new(8) { Thread.new { 100.times { sleep(0.02) && both.get('globals/k') } } }
    threads.each(&:join)
    expect(seen).to match(all: be > 2, most: 1)
  ensure
    silent&.close
  end

  it 'leaves no socket to the programs that the process starts' do
    before = sockets
    open_alone.kind('globals')
    open_alone('ldap_uri' => slapd.tcp_uri).kind('globals')
    mine = sockets - before
    expect(mine.length).to eq(2)
    theirs = IO.popen(['sh', '-c', 'for f in /proc/self/fd/*; do readlink $f; done'], close_others: false, &:read)
    expect(mine & theirs.lines(chomp: true)).to eq([])
  end

  # libldap would have said goodbye in the name of the parent.
  it 'can be used on both sides of a fork', needs: :fork do
    store.put('globals/k', old)
    connections = slapd.connections
    children = Array.new(2) do |n|
      child { store.put("globals/child#{n}", old) && store.get('globals/k') == old }
    end
    expect_success_of(*children)
    expect(store.get('globals/k')).to eq(old)
    expect(store.list('globals')[:keys].length).to eq(3)
    expect(slapd.connections - connections).to eq(2)
  end

  # Stops the server once it has carried out so many deletes of the block; answers what the block raised.
  def with_server_stopped_after(count)
    before = slapd.log.length
    helper = Thread.new do
      sleep 0.005 until slapd.log[before..].scan(' DEL dn').length > count
      slapd.stop_serving
    end
    yield
  rescue Simpkv::Error => e
    e
  ensure
    helper.join
    slapd.launch
  end

  it 'says how far it came when it cannot delete all of a folder' do
    # On a busy machine all may be deleted before the server is stopped.
    error = true
    5.times do
      next unless error == true

      store.put_many((1..1500).to_h { |n| ["globals/t/k#{n}", old] })
      error = with_server_stopped_after(50) { open_alone('retries' => 0).deletetree('globals/t') }
    end
    expect(error.message).to match(/#{slapd.uri}.*; [1-9]\d* of its entries were deleted before that\z/)
    expect(eventually { store.list('globals/t')[:keys].length }).to be_between(1, 1450)
    expect(store.deletetree('globals/t')).to be(true)
  end

  # DEFECTS 10: ran the command.
  it 'takes a hostile address for an address' do
    marker = File.join(slapd.folder, 'ran')
    touch = "touch%20#{marker.gsub('/', '%2F')}"
    [";#{touch}", "$(#{touch})"].each do |command|
      expect { open_store('ldap_uri' => slapd.uri + command).kind('globals') }.to raise_error(Simpkv::Error)
    end
    expect(File.exist?(marker)).to be(false)
  end

  it 'has statistics, of each pool and server' do
    alone = open_alone('pool_size' => 2, 'ldap_uri' => ['ldap://127.0.0.1:1', slapd.tcp_uri])
    alone.put('globals/k', old)
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
