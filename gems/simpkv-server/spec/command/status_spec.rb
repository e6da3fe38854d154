# frozen_string_literal: true

require 'simpkv/status'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/page'
require_relative '../../../../spec/support/replica'
require_relative '../../../simpkv-estate/spec/command/nodes_helper'

RSpec.describe 'simpkv status' do
  include_context 'with nodes'

  # Runs the command with a state that needs nothing else.
  def status(*arguments, **more)
    simpkv('status', *arguments, **more)
  end

  it 'is ok for a site that needs nothing' do
    run('web1')
    expect(status).to have_attributes(code: 0, err: '', out: /\Aok at .*Nodes\n  1 active: 0 failed, .*1 unchanged/m)
    expect(data('status')).to include('state' => 'ok', 'alerts' => [], 'nodes' => include('total' => 1),
                                      'servers' => include('servers' => []), 'access' => include('configured' => false))
  end

  it 'warns about failed and overdue nodes, or finds them critical from a number on' do
    run('db1', status: 'failed', last_seen: days_ago(3))
    outcome = status
    expect(outcome.code).to eq(1)
    expect(outcome.out).to match(/\Awarning at .*\nwarning   The last run failed on 1 node\.\nwarning   Not seen for a/)
    expect(status('--failed-critical', '1')).to have_attributes(code: 2, out: /\Acritical at/)
    expect(status('--failed-critical', '2', '--failed-warning', '2', '--overdue-warning', '2').code).to eq(0)
  end

  it 'warns until simpkv init has completed an estate of an earlier version' do
    estate.store.put('globals/estate/inventory/.estate', '{"value":{"folders":["reports"]}}')
    expect(status)
      .to have_attributes(code: 1, out: /^warning   .* catalogs, counters, inspections, node_cache and purged: run/)
    expect(JSON.parse(status('-o', 'json').out)['nodes'])
      .to include('without_markers' => %w[catalogs counters inspections node_cache purged])
    simpkv!('init', '--only', 'estate')
    expect(status).to have_attributes(code: 0, out: /\Aok/)
  end

  it 'warns about keys that expire, and finds those that cannot be read critical' do
    simpkv!('put', 'token', 'x', '--expires-after', '2d')
    expect(status).to have_attributes(code: 1, out: /Keys that expire\n .*\n  default +production +token +20/)
    estate.store.put('globals/broken', '{"value":"pl4nted","expires":"nonsense"}')
    outcome = status
    expect(outcome).to have_attributes(code: 2, out: /Keys or folders that cannot be read: 1/)
    expect(outcome.out + outcome.err + status('-o', 'json').out).not_to include('pl4nted')
  end

  # Only documents with "expires" were read, and the state was ok. Later, the number was all that it said, and JSON with
  # such a name was an internal error.
  it 'finds truncated documents critical, and names them' do
    ['cut', "na\nme\xFF"].each { |name| File.binwrite(File.join(folder, 'keys/globals', name), '{"value":"pl4nt') }
    names = ['globals/cut', 'globals/na\x0Ame\xFF']
    text = "Keys or folders that cannot be read: 2 (#{names.map { |name| "#{name} of 'default'" }.join(', ')})."
    outcome = status
    expect(outcome).to have_attributes(code: 2, out: include("critical  #{text}\n", "  2 cannot be read:\n"))
    # It was 'Failed to deserialize: JSON parse error: not a JSON document'.
    why = 'its document is corrupt (15 bytes)'
    expect(outcome.out).to match(%r{^  default  globals/cut +#{Regexp.escape(why)}$})
    expect(simpkv('doctor').out).to include("key 'globals/cut': #{why}\n")
    expect(status('--format', 'nagios').out).to include("\nCRITICAL: #{text}\n")
    found = JSON.parse(status('-o', 'json').out)
    expect(found.dig('expiring_keys', 'unreadable', 'keys').map { |key| key['path'] }).to match_array(names)
    expect(outcome.out + found.to_s).not_to include('pl4nt')
    expect(status('--format', 'prometheus').out).to include("simpkv_site_readable 0.0\n")
  end

  # The missing one hid the keys of the other, and the state was unknown.
  it 'judges the keys of a backend beside one that cannot be read, and names that one' do
    backends['second'] = { 'type' => 'file', 'id' => 'second', 'root_path' => File.join(folder, 'missing') }
    configure
    File.write(File.join(folder, 'keys/globals/cut'), '{"value":"pl4nt')
    outcome = status('--parts', 'expiring_keys')
    expect(outcome.code).to eq(2)
    expect(outcome.out)
      .to match(%r{^critical  Keys or folders that cannot be read: 1 \(globals/cut of 'default'\)\.$})
      .and match(/^unknown   The keys of the backend 'second' cannot be read: .*missing/)
      .and match(/^  none within 14 days, of those .*\n  those of 'second' cannot be read: see above$/)
    found = JSON.parse(status('--parts', 'expiring_keys', '-o', 'json').out)
    expect(found.dig('expiring_keys', 'unreadable'))
      .to include('total' => 1, 'backends' => { 'second' => /missing/ })
    expect(status('--parts', 'expiring_keys', '--format', 'nagios').out.lines.first).not_to include('|')
  end

  it 'is unknown if a part cannot be read, and has the others' do
    run('web1')
    estate.store.deletetree('globals/estate/status')
    expect(status('--parts', 'nodes,servers'))
      .to have_attributes(code: 3, out: /\Aunknown at .*\nunknown   The nodes cannot be read: .*'simpkv init'/)
    expect(status).to have_attributes(code: 3, out: /^unknown   The nodes .*^Keys that expire\n  none within/m)
  end

  # One such document hid the numbers of all nodes.
  it 'finds documents of nodes that cannot be read critical, names them, and has the other nodes' do
    run('db1', status: 'failed')
    %w[web1 web2].each { |name| run(name) }
    { 'status/web1' => 'pl4nted', 'inventory/web2' => '{"value":"pl4nted"}' }.each do |key, document|
      estate.store.put("globals/estate/#{key}", document)
    end
    outcome = status('--parts', 'nodes')
    expect(outcome.code).to eq(2)
    expect(outcome.out).to match(/^critical  Nodes whose status or inventory cannot be read: 2 \(web1, web2\)\.$/)
      .and match(/^warning   The last run failed on 1 node\.$/)
      .and match(/^  2 active: 1 failed, 0 changed, 0 noop, 1 unchanged/)
      .and match(%r{^  globals/estate/status/web1: .*\n  globals/estate/inventory/web2: it has another form})
    found = JSON.parse(status('--parts', 'nodes', '-o', 'json').out)
    expect(found.dig('nodes', 'unreadable')).to match(
      'total' => 2,
      'nodes' => [{ 'name' => 'web1', 'documents' => { 'globals/estate/status/web1' => be_a(String) } },
                  { 'name' => 'web2', 'documents' => { 'globals/estate/inventory/web2' => /another form/ } }]
    )
    all = JSON.parse(status('-o', 'json').out)
    # The first document had a second alert, as a key. Status and doctor say why in the same words.
    expect(all['alerts'].map { |alert| alert['text'] }).to match([/2 \(web1, web2\)/, /failed on 1 node/])
    why = 'its document is corrupt (7 bytes)'
    expect(found.dig('nodes', 'unreadable', 'nodes', 0, 'documents').values).to eq([why])
    expect(all.dig('expiring_keys', 'unreadable')).to eq(
      'total' => 1, 'of_nodes' => 1, 'keys' => [{ 'backend' => 'default', 'path' => 'globals/estate/status/web1',
                                                  'why' => why, 'of_node' => true }]
    )
    expect(simpkv('doctor').out).to include("globals/estate/status/web1': #{why}\n")
    expect([outcome.out, all.to_s].join).not_to include('pl4nted')
  end

  # The place was in no log, and a page of metrics said nothing at all.
  it 'has the place of an internal error, without its message' do
    allow(Simpkv::Status::NodeCounts).to receive(:of).and_raise(TypeError, 'pl4nted')
    allow(Simpkv::Estate::NodeList).to receive(:new).and_raise(TypeError, 'pl4nted')
    place = /internal error: TypeError at \S+\.rb:\d+:in .*\. Please report it/
    screen = status('--parts', 'nodes')
    metrics = status('--format', 'prometheus')
    expect(screen).to have_attributes(code: 3, out: place)
    expect(metrics).to have_attributes(code: 0, out: /^simpkv_site_readable 0\.0$/, err: place)
    expect([*screen.to_a, *metrics.to_a].join).not_to include('pl4nted')
  end

  it 'knows of a site without nodes that it has none' do
    FileUtils.rm_r(File.join(folder, 'keys', 'globals', 'estate'))
    site.delete('estate')
    configure
    expect(status).to have_attributes(code: 0, out: /Nodes\n  none: the site keeps no nodes/)
    # It was 0, which is a critical alert.
    expect(status('--format', 'prometheus').out).to match(/^simpkv_site_readable 1\.0$/)
  end

  # Each part had the errors of both servers, twice.
  it 'says once why several parts cannot be read while both servers are down' do
    uris = %w[ldap://127.0.0.1:1 ldap://127.0.0.1:2]
    password = File.join(folder, 'password').tap { |file| File.write(file, 'pl4nted', perm: 0o600) }
    backends['default'] = { 'type' => 'ldap', 'id' => 'l', 'ldap_uri' => uris.join(' '), 'write_uri' => uris.first,
                            'base_dn' => 'dc=x', 'admin_dn' => 'cn=x', 'admin_pw_file' => password }
    configure
    outcome = status
    expect(outcome).to have_attributes(code: 2, err: '')
    refused = 'connection refused: check that the server runs'
    uris.each { |uri| expect(outcome.out).to match(/^critical  The server #{uri} does not answer: #{refused}/) }
    expect(outcome.out).to match(/^unknown   The compilers, nodes and keys that expire cannot be read: could not/)
    expect(outcome.out.scan(refused).length).to eq(4)
    expect(outcome.out).to match(/^Nodes\n  cannot be read: see above$/)
    expect(status('--format', 'nagios').out).to match(/\ASIMPKV CRITICAL - .*, and the port\. And 2 more\.\n/)
  end

  # The servers did not answer, by status, while ping exited with 78.
  it 'says as ping does that the password file of a directory does not exist, and what to do, and asks no server' do
    uris = 'ldap://127.0.0.1:1 ldap://127.0.0.1:2'
    backends['ldap'] = { 'type' => 'ldap', 'id' => 'l', 'ldap_uri' => uris, 'write_uri' => 'ldap://127.0.0.1:1',
                         'base_dn' => 'dc=x', 'admin_dn' => 'cn=x', 'admin_pw_file' => '/no/such' }
    configure
    why = "configuration error: Configured 'admin_pw_file' /no/such does not exist: write the password of cn=x into " \
          "it, readable by its owner alone, or correct 'admin_pw_file'"
    expect(simpkv('-b', 'ldap', 'ping')).to have_attributes(code: 78, err: "simpkv: ldap/l: #{why}\n")
    text = "The servers of the backend 'ldap' cannot be asked: #{why}"
    expect(status('--parts', 'servers'))
      .to have_attributes(code: 2, out: include("\ncritical  #{text}\n\nServers"))
    found = JSON.parse(status('--parts', 'servers', '-o', 'json').out)
    expect(found['alerts']).to eq([{ 'level' => 'critical', 'text' => text }])
    expect(found.dig('servers', 'servers'))
      .to match(uris.split.map { |uri| include('uri' => uri, 'state' => 'misconfigured', 'lag_seconds' => nil) })
    metrics = status('--format', 'prometheus').out
    expect(metrics).to include(%(simpkv_backend_misconfigured{backend="ldap"} 1.0\n))
    expect(metrics).not_to include('simpkv_directory_server_up{')
  end

  # It was an internal error, which hid the servers of all other backends. Then `-` was the name of a server in metrics.
  it 'says that a directory has no servers in its options' do
    backends['ldap'] = { 'type' => 'ldap', 'id' => 'l' }
    configure
    text = "The servers of the backend 'ldap' cannot be asked: configuration error: Plugin missing 'ldap_uri' " \
           "configuration: set 'ldap_uri' to the URI of a server, such as ldaps://ldap1.example.com"
    expect(status('--parts', 'servers'))
      .to have_attributes(code: 2, out: /^critical  #{text}\n.*^  ldap +- +no +misconfigured/m)
    metrics = status('--format', 'prometheus', '--parts', 'servers').out
    expect(metrics).to include(%(simpkv_backend_misconfigured{backend="ldap"} 1.0\n))
    expect(metrics).not_to include('server=')
  end

  it 'prints a line with performance data for Nagios, and a line for each alert' do
    run('db1', status: 'failed', last_seen: days_ago(3))
    outcome = status('--format', 'nagios', '--failed-critical', '5')
    expect(outcome.code).to eq(1)
    expect(outcome.out).to eq(<<~TEXT)
      SIMPKV WARNING - The last run failed on 1 node. And 1 more. | 'compilers'=0 'nodes'=1 'nodes_failed'=1;0;4 'nodes_overdue'=1;0 'expiring_keys'=0
      WARNING: The last run failed on 1 node.
      WARNING: Not seen for a day: 1 node.
    TEXT
  end

  # Nagios takes codes from 64 on for a state of its own.
  it 'is unknown to Nagios if the configuration or the command line is wrong' do
    estate_options['reprots'] = 3
    expect(status('--format', 'nagios')).to have_attributes(code: 3, out: /\ASIMPKV UNKNOWN - .*'reprots'/)
    # Abbreviated, it was 64.
    ['--format=nagios', '--form=nagios', '--fo=nag'].each do |option|
      expect(status('--lag-warning', 'soon', option))
        .to have_attributes(code: 3, out: /\ASIMPKV UNKNOWN - --lag-warning must be a number of seconds, .* as 14d/)
    end
    expect(status('--lag-warning', 'soon', '--fo', 'nagios').code).to eq(3)
    expect(status('--lag-warning', 'soon')).to have_attributes(code: 64, out: '')
    expect(status('--parts', 'servers,keys'))
      .to have_attributes(code: 64, err: /there is no part 'keys': expected some of servers, .*expiring_keys/)
    expect(status('--parts=')).to have_attributes(code: 64)
  end

  # The JSON was printed, and the format had no effect.
  it 'refuses a format together with JSON or YAML' do
    expect(status('--format', 'nagios', '-o', 'json'))
      .to have_attributes(code: 3, out: /\ASIMPKV UNKNOWN - --format nagios .* --output json/)
    expect(status('--format', 'prometheus', '-o', 'yaml'))
      .to have_attributes(code: 64, out: '', err: /--format prometheus .* --output yaml/)
    expect(status('--format', 'nagios', '-o', 'table')).to have_attributes(code: 0, out: /\ASIMPKV OK/)
  end

  it 'refuses a time limit that nothing can keep, and numbers below 0' do
    { '--timeout' => %w[0 -1 x], '--watch' => %w[0 -1 x], '--failed-warning' => %w[-1 x 1.5],
      '--latency-critical' => %w[-1], '--certificate-warning' => %w[0 -1d] }.each do |name, values|
      values.each do |value|
        expect(status("#{name}=#{value}"))
          .to have_attributes(code: 64, out: '', err: /#{name} must be a (?:whole )?number/)
      end
    end
    expect(simpkv('ping', '--count', '0')).to have_attributes(code: 64, err: /--count must be a whole number from 1/)
  end

  it 'replaces a file with metrics in the form of Prometheus at once' do
    run('db1', status: 'failed')
    file = File.join(folder, 'simpkv.prom')
    File.write(file, 'old')
    outcome = status('--format', 'prometheus', '--to', file)
    expect(outcome.to_a).to eq(['', '', 0])
    text = File.read(file)
    expect(text).to include(%(simpkv_nodes{status="failed"} 1.0\n), "# TYPE simpkv_nodes gauge\n",
                            "simpkv_site_readable 1.0\n", %(simpkv_part_readable{part="servers"} 1.0\n))
    expect(text).to eq(status('--format', 'prometheus').out)
    expect(Dir.children(folder).grep(/simpkv.prom/)).to eq(['simpkv.prom'])
    expect(File.stat(file).mode & 0o777).to eq(0o644)
    expect(status('--format', 'prometheus', '--to', '/nonexistent/x')).to have_attributes(code: 73)
  end

  # All parts were read, and limits had no effect.
  it 'has the metrics of the chosen parts, and refuses limits' do
    run('db1')
    File.write(File.join(folder, 'keys/globals/cut'), '{"value":"pl4nt')
    all = status('--format', 'prometheus').out
    expect(all).to include('simpkv_nodes{', "simpkv_site_readable 0.0\n", '{part="servers"}')
    nodes = status('--format', 'prometheus', '--parts', 'nodes').out
    expect(nodes).to include('simpkv_nodes{', "simpkv_site_readable 1.0\n")
    expect(nodes).not_to match(/simpkv_(?:part|keys|access)/)
    servers = status('--format', 'prometheus', '--parts', 'servers,certificates').out
    expect(servers.scan(/^simpkv.*/)).to eq(['simpkv_part_readable{part="servers"} 1.0'])
    expect(status('--format', 'prometheus', '--lag-warning', '1m'))
      .to have_attributes(code: 64, out: '', err: /--format prometheus takes no --lag-warning/)
    expect(status('--format', 'prometheus', '--parts', 'certificates')).to have_attributes(code: 64, out: '')
  end

  # As root, it put a file in the place of /dev/full.
  it 'does not replace a device, a pipe or a link by metrics' do
    pipe = File.join(folder, 'pipe')
    File.mkfifo(pipe)
    link = File.join(folder, 'link')
    File.symlink(File.join(folder, 'target'), link)
    [pipe, link].each do |file|
      expect(status('--format', 'prometheus', '--to', file)).to have_attributes(code: 73, err: /no regular file/)
    end
    expect([File.ftype(pipe), File.ftype(link)]).to eq(%w[fifo link])
  end

  # Makes the counters of a compiler.
  def compiler(name, version: '1.1.0', **more)
    counters = { 'time' => Time.now.utc.iso8601, 'pid' => 1, 'version' => version, 'pools' => [] }
    estate.counters.put(name, counters.merge(more.transform_keys(&:to_s)))
  end

  it 'warns if compilers have other versions or files of keys' do
    compiler('c1', keys: { 'secret' => 'a' * 16 })
    compiler('c2', keys: { 'secret' => 'a' * 16 })
    compiler('old')
    expect(status.code).to eq(0)
    compiler('c2', version: '1.2.0', keys: { 'secret' => 'b' * 16 })
    outcome = status
    expect(outcome.code).to eq(1)
    expect(outcome.out).to include('different versions of simpkv: 1.1.0 on c1, old; 1.2.0 on c2.')
      .and include("files of keys of the backend 'secret' differ: #{'a' * 16} on c1; #{'b' * 16} on c2.")
    expect(simpkv('doctor').out).to match(/^warning  keys of compilers: the files .* 'secret' differ/)
  end

  # @return [Array(String, String)] the alert about the certificate of the client
  def client_certificate(*arguments)
    alerts = JSON.parse(status('--parts', 'certificates', '-o', 'json', *arguments).out)['alerts']
    alerts.find { |alert| alert['text'].include?('tls_cert') && !alert['text'].include?('cacert') }.values
  end

  it 'has the certificates that a backend names, and does not take a file of the system for them' do
    certificates = Certificates.new(folder)
    cert, key = certificates.issue(days: 3)
    backends['ldap'] = { 'type' => 'ldap', 'id' => 'l', 'ldap_uri' => 'ldaps://127.0.0.1:1', 'base_dn' => 'dc=x',
                         'tls_cert' => cert, 'tls_key' => key, 'tls_cacert' => certificates.cacert,
                         'admin_pw_file' => key }
    configure
    expect(client_certificate)
      .to match(['critical', /\AThe certificate CN=.* \('tls_cert' of the .*\) expires in 2 days/])
    expect(client_certificate('--certificate-critical', '2d').first).to eq('warning')
    # 71h were 2 days, and 12h none.
    expect(client_certificate('--certificate-critical', '73h').first).to eq('critical')
    expect(client_certificate('--certificate-critical', '71h').first).to eq('warning')
    File.write(cert, File.read(certificates.issue(days: 1.0 / 24).first))
    expect(client_certificate('--certificate-critical', '12h'))
      .to match(['critical', /\AThe certificate CN=.* expires in less than a day/])
    expect(status('--parts', 'certificates').out).to match(/ldap +tls_cacert +CN=/)
    File.write(certificates.cacert, File.read(certificates.cacert) * 11)
    expect(status('--parts', 'certificates').out).not_to include('tls_cacert')
  end

  it 'repeats with --watch in blocks until Ctrl-C' do
    command = [{ 'SIMPKV_CONFIG' => config }, *Unbundled::COMMAND, 'status', '--watch', '0.1']
    IO.popen(command) do |io|
      2.times { expect(io.each_line.find { |line| line.start_with?('ok at ') }).to be_a(String) }
      Process.kill('INT', io.pid)
      expect(io.read).not_to include("\e")
      expect(Process.wait2(io.pid).last.exitstatus).to eq(0)
    end
  end

  it 'redraws a terminal with --watch' do
    command = [{ 'SIMPKV_CONFIG' => config, 'NO_COLOR' => '1' }, *Unbundled::COMMAND, 'status', '--watch', '0.1']
    PTY.spawn(*command) do |out, input, pid|
      shown = +''
      shown << out.readpartial(4096) until shown.scan("\e[H\e[2Jok at ").length > 1
      input.write("\u0003")
      begin
        loop { out.readpartial(4096) }
      rescue Errno::EIO, EOFError
        expect(Process.wait2(pid).last.exitstatus).to eq(0)
      end
    end
  end
end

RSpec.describe 'simpkv status and ping of a directory with a replica' do
  include Eventually

  rule = Page.new('status.md').blocks('How to let simpkv read the lag', 'conf').first

  include_context 'with nodes'
  include_context 'with slapd', more: Replica::SUPPLIER, rules: rule

  attr_reader :replica

  let(:rules) { rule }
  let(:uris) { [directory.uri, replica.uri] }
  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => id, 'write_uri' => uris.first,
                                     'ldap_uri' => uris.join(' '), 'connect_timeout_seconds' => 2) }
  end

  around do |example|
    Replica.run(directory, follows: false, rules: rules) do |server|
      @replica = server
      example.run
    end
  end

  # The estate of the context is made at the supplier.
  before { replica.restart }

  # @return [Array<Hash>] the supplier and the replica
  def servers
    found = JSON.parse(simpkv('status', '-o', 'json').out)['servers']['servers']
    uris.map { |uri| found.find { |server| server['uri'] == uri } }
  end

  it 'have the lag of a replica that lacks changes, which is critical from 15 minutes on' do
    expect(servers.map { |server| server['lag_seconds'] }).to eq([0, 0])
    sleep(1.2)
    store.put('globals/k', '{"value":1}')
    expect(servers).to match([include('lag_seconds' => 0, 'writes' => true), include('lag_seconds' => be > 1)])
    expect(simpkv('status', '--lag-warning', '1s')).to have_attributes(code: 1, out: /lacks changes: its last one/)
    expect(simpkv('status', '--lag-critical', '1s').code).to eq(2)
    expect(simpkv('status', '--format', 'prometheus').out)
      .to match(/^simpkv_replica_lag_seconds\{backend="default",server="#{Regexp.escape(replica.uri)}"\} [1-9]/)
    replica.restart
    expect(servers.map { |server| server['lag_seconds'] }).to eq([0, 0])
    expect(simpkv('status', '--parts', 'servers').code).to eq(0)
  end

  # A line on stderr was all, and Nagios saw none.
  it 'warn about two servers that can take writes, in each form' do
    backends['default'].delete('write_uri')
    configure
    warning = "Several servers of the backend 'default' can take writes, and one key can get two values: set '"
    parts = %w[--parts servers]
    expect(simpkv('status', *parts)).to have_attributes(code: 1, out: /^warning   #{warning}write_uri' to one/)
    expect(simpkv('status', *parts, '--format', 'nagios'))
      .to have_attributes(code: 1, out: /\ASIMPKV WARNING - #{warning}.*\nWARNING: #{warning}/)
    found = JSON.parse(simpkv('status', *parts, '-o', 'json').out)
    expect(found).to include('state' => 'warning', 'servers' => include('without_write_uri' => ['default']))
    expect(simpkv('status', '--format', 'prometheus').out)
      .to include(%(simpkv_backend_without_write_uri{backend="default"} 1.0\n))
  end

  # It was 0, and whoever moves writes reads it.
  it 'do not know the lag while the other server is down' do
    store.put('globals/k', '{"value":1}')
    gone = 'ldap://127.0.0.1:1'
    backends['default'].merge!('write_uri' => gone, 'ldap_uri' => "#{gone} #{replica.uri}")
    configure
    why = "#{gone} does not say which changes there are"
    found = JSON.parse(simpkv('status', '--parts', 'servers', '-o', 'json').out)
    expect(found.dig('servers', 'servers'))
      .to match([include('uri' => gone, 'state' => 'down', 'lag_seconds' => nil),
                 include('uri' => replica.uri, 'lag_seconds' => nil, 'lag_unknown' => why)])
    expect(simpkv('status', '--parts', 'servers'))
      .to have_attributes(code: 2, out: /^  \S+ +#{replica.uri} +no +up +\S+ ms +\? +-\n  lag \?: #{why}$/)
    expect(simpkv('status', '--format', 'nagios', '--parts', 'servers').out)
      .to match(/^UNKNOWN: The lag of the server #{replica.uri} is unknown: #{why}\.$/)
    metrics = simpkv('status', '--format', 'prometheus').out
    expect(metrics).to include(%(simpkv_backend_without_write_uri{backend="default"} 0.0\n))
    expect(metrics).not_to match(/^simpkv_replica_lag_seconds/)
  end

  it 'name a server that hangs, which costs its time limit once' do
    hanging = "server #{Regexp.escape(replica.uri)}"
    replica.freeze_process do
      took = seconds { @outcome = simpkv('status', process: true) }
      expect(@outcome).to have_attributes(code: 2, out: /\Acritical at .*\ncritical  The #{hanging} does not answer/)
      expect(took).to be < 20
    end
  end

  it 'ping each server, and fail if one is down' do
    servers = JSON.parse(simpkv!('ping', '-o', 'json', process: true))['servers']
    expect(servers).to match(uris.map { |uri| include('server' => uri, 'state' => 'up', 'latency_ms' => be > 0) })
    replica.stop_serving
    outcome = simpkv('ping', process: true)
    expect(outcome).to have_attributes(code: 69, err: /: #{Regexp.escape(replica.uri)} is down: /)
    expect(outcome.out).to match(/^server: +#{Regexp.escape(directory.uri)}\n.*^state: +up$.*^state: +down$/m)
  end

  context 'without the right to read contextCSN at one of them' do
    let(:rules) { '' }

    it 'say so, and what to do' do
      expect(servers.first).to include('lag_seconds' => nil,
                                       'lag_unknown' => "#{replica.uri} does not say which changes there are")
      expect(servers.last['lag_unknown'])
        .to match(/contextCSN of 'dc=simp' is not readable by cn=simpkv,dc=simp.*grant read of contextCSN/)
      expect(simpkv('status', '--parts', 'servers')).to have_attributes(code: 0, out: /^  lag \?: contextCSN/)
    end
  end
end
