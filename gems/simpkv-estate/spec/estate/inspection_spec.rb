# frozen_string_literal: true

require_relative 'inspection_helper'
require_relative '../../../../spec/support/burst_proxy'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/replica'

RSpec.describe 'Nodes that the terminus simpkv inspects' do
  include EstateSite
  include EstateTermini
  include InspectedNodes

  let(:sensitive) { Puppet::Pops::Types::PSensitiveType::Sensitive }

  it_behaves_like 'inspected nodes'

  describe 'without rules' do
    let(:site_options) { {} }

    it 'are found as they were declared' do
      estate.nodes.declare('web1', 'parameters' => { 'role' => 'web' })
      before = files
      expect(find.parameters).to include('role' => 'web', 'hostname' => 'web1')
      expect(find('web2').parameters).to include('hostname' => 'web2')
      expect(files).to eq(before)
    end
  end

  describe 'and the configuration' do
    before { rule('set-attribute', '/parameters/seen', true) }

    def inspected?(certname = 'web1', **more)
      find(certname, **more).parameters.key?('seen')
    end

    { 'server' => :server, 'apply' => :apply, 'cli' => :lookup }.each do |interface, name|
      it "are inspected in the run mode #{interface} if supported_interfaces says so" do
        Puppet[:name] = name
        expect(inspected?).to be(interface != 'cli')
        configure('inspection_rules' => { 'supported_interfaces' => interface })
        expect(inspected?('web2')).to be(true)
        configure('inspection_rules' => { 'supported_interfaces' => '^none$' })
        expect(inspected?('web3')).to be(false)
      end
    end

    it 'are inspected by puppet apply, and not by other commands', needs: :mri do
      certname = 'apply1.example.com'
      arguments = ['--certname', certname, '--node_terminus', 'simpkv']
      # Puppet cannot replace its state files in memory.
      Dir.mktmpdir('simpkv-state') do |statedir|
        output = puppet('apply', '--execute', 'notify { "seen: $seen": }', '--statedir', statedir, *arguments)
        expect(output).to include('seen: true')
      end
      expect(estate.nodes.get(certname)).to include('auto_discovered' => true, 'parameters' => { 'seen' => true })
      [%w[node find], %w[catalog compile]].each { |command| puppet(*command, 'other1.example.com', *arguments) }
      expect(estate.nodes.all.keys).to eq([certname])
    end

    it 'are not discovered in another run mode' do
      configure(site_options.merge('inspection_rules' => { 'supported_interfaces' => 'server' }))
      find
      expect(estate.nodes.all).to eq({})
    end

    it 'are inspected by built-in rules' do
      file = File.join(scratch, 'built_in.yaml')
      File.write(file, [{ 'description' => 'built in', 'priority' => 10_000,
                          'actions' => [{ 'op' => 'set-attribute', 'args' => ['/parameters/site', 'a'] }] }].to_yaml)
      configure('inspection_rules' => { 'built_in' => file })
      expect(find.parameters).to include('site' => 'a', 'seen' => true)
    end

    it 'are inspected although `soft` is set, and fail with the backend' do
      configure('soft' => true)
      rule('fail', 'no')
      expect(failure).to end_with(': no')
    end
  end

  describe 'and facts' do
    it 'are neither inspected nor discovered without facts' do
      route(:facts, terminus: :memory)
      rule('fail', 'no')
      node = Puppet::Node.indirection.find('web1', environment: environments.first)
      expect(node.parameters).not_to include('seen')
      expect(estate.nodes.all).to eq({})
    end

    # An agent that sent no facts got a catalog, although a rule refused its certname.
    it 'get no catalog without facts, so that no agent evades the rules' do
      route(:facts, terminus: :memory)
      route(:catalog, terminus: :compiler)
      rule('set-attribute', '/parameters/seen', true)
      estate.nodes.declare('web1', 'parameters' => { 'role' => 'web' })
      compiled = -> { Puppet::Resource::Catalog.indirection.find('web1', environment: environments.first) }
      expect(&compiled).to raise_error(Puppet::Error, /could not find the node 'web1': its facts are unknown/)
      rules.delete_all
      expect(compiled.call).to be_a(Puppet::Resource::Catalog)
    end

    it 'are inspected with the facts that Puppet finds, or the stored ones' do
      rule('set-attribute', '/parameters/seen', '{inventory.cores}')
      estate.facts.save('web1', { 'cores' => 8 })
      %i[simpkv memory].each do |terminus|
        route(:facts, terminus: terminus)
        expect(find(facts: nil).parameters).to include('seen' => 8)
      end
    end

    # An agent can send a fact of this name.
    it 'are inspected with the trusted facts of the server, not of the agent' do
      rule('set-attribute', '/parameters/seen', '{inventory.trusted.extensions.pp_role}')
      forged = facts('web1', 'trusted' => { 'extensions' => { 'pp_role' => 'forged' } })
      expect(failure(facts: forged)).to include("there is no 'inventory.trusted")
      information = Puppet::Context::TrustedInformation.new('remote', 'web1', { 'pp_role' => 'web' })
      Puppet.override(trusted_information: information) do
        expect(find(facts: forged).parameters).to include('seen' => 'web')
      end
    end

    it 'are inspected with facts that are no plain data' do
      rule('set-attribute', '/parameters/seen', '{inventory.odd}')
      expect(find(facts: facts('web1', 'odd' => [:a, "\xff".b, nil])).parameters['seen']).to eq(['a', "\ufffd", nil])
    end
  end

  describe 'fail' do
    it 'if a rule cannot be read, or is invalid, and show nothing of it' do
      stored = rule('set-attribute', '/parameters/role', 's3cret')
      spoil("rules/#{stored['uuid']}")
      expect(failure).to match(%r{could not find the node 'web1': .*globals/estate/rules/#{stored['uuid']}})
      estate.store.put("globals/estate/rules/#{stored['uuid']}",
                       Simpkv::Codec.encode(stored.merge('conditions' => [condition('s3cret', 1)])))
      expect(failure).to match(/could not find the node 'web1': .*#{stored['uuid']}.*conditions\[0\]/)
      expect(texts).not_to include('s3cret')
    end

    it 'if a name is missing in the facts, with the place' do
      wrong = rule('set-attribute', '/parameters/role', '{inventory.nothing}')
      expect(failure).to match(/the rule #{wrong['uuid']}: actions\[0\].*: there is no 'inventory\.nothing'/)
    end
  end

  describe 'and logs' do
    it 'log what rules say at the level, also if another rule refuses the node' do
      levels = { debug: 'debug', info: 'info', notice: 'notice', warning: 'warning', err: 'error', crit: 'critical' }
      levels.each_value { |level| rule('log', "at {inventory.hostname} #{level}", level) }
      Puppet::Util::Log.level = :debug
      refusing = rule('fail', 'no')
      expect(failure).to end_with("#{refusing['uuid']}: no")
      levels.each do |level, name|
        expect(logged(level).grep(/of the node 'web1': at web1 #{name}$/).length).to eq(1)
      end
    end

    # An agent could add lines to the log of the server.
    it 'log facts in one line, without the escapes of a terminal' do
      rule('log', '{inventory.forged}', 'notice')
      rule('fail', '{inventory.forged}')
      expect(failure(facts: facts('web1', 'forged' => "a\nError: b\e[31m"))).to end_with(': a\x0AError: b\x1B[31m')
      expect(logged(:notice).last).to end_with(': a\x0AError: b\x1B[31m')
    end

    it 'log nothing that a sensitive rule says' do
      secret = rule('log', 's3cret', 'notice', sensitive: true, description: 'quiet')
      find
      expect(logged(:notice).last).to include(secret['uuid'], 'quiet', 'sensitive')
      expect(texts).not_to include('s3cret')
    end
  end

  describe 'and actions of the site' do
    let(:calls) { File.join(scratch, 'calls') }

    def add_calling(name, prefix = name)
      add_action(name, <<~RUBY)
        TEXT = '#{prefix}'
        lambda { |certname, arguments| File.open('#{calls}', 'a') { |file| file.puts([TEXT, certname, arguments].inspect) } }
      RUBY
    end

    it 'carry them out in order' do
      %w[announce page].each { |name| add_calling(name) }
      rule('announce', '{inventory.hostname}', priority: 2)
      rule('page', 1, priority: 3)
      rules.create('actions' => [{ 'op' => 'announce', 'args' => { 'to' => '{inventory.os}' } }], 'phase' => 'early')
      find
      expect(File.readlines(calls, chomp: true))
        .to eq([['announce', 'web1', { 'to' => { 'name' => 'Debian' } }], ['page', 'web1', [1]],
                ['announce', 'web1', ['web1']]].map(&:inspect))
    end

    it 'carry none out if a rule refuses the node' do
      add_calling('announce')
      rule('announce', priority: 1)
      rule('fail', 'no')
      expect(failure).to end_with(': no')
      expect(File).not_to exist(calls)
    end

    it 'evaluate a file once, and again when it has changed' do
      counter = File.join(scratch, 'evaluated')
      source = "File.open('#{counter}', 'a') { |file| file.puts }\n->(*) {}"
      add_action('announce', source)
      rule('announce')
      3.times { find }
      expect(File.readlines(counter).length).to eq(1)
      add_action('announce', "#{source} # changed")
      2.times { find }
      expect(File.readlines(counter).length).to eq(2)
    end

    { 'that fails' => ["->(*) { raise 'the pager is broken' }", 'RuntimeError: the pager is broken'],
      'that is not Ruby' => ['lambda {', 'SyntaxError'],
      'that has no method call' => ['nil', "the last expression has no method 'call'"],
      'that calls what is not there' => ['->(*) { nothing_here }', 'NameError'] }.each do |what, (source, why)|
      it "fail for an action #{what}, and name it" do
        add_action('announce', source)
        announcing = rule('announce', description: 'tell')
        message = failure
        expect(message).to start_with("simpkv estate: could not find the node 'web1': the action 'announce' of the " \
                                      "rule #{announcing['uuid']} ('tell') failed: ")
        expect(message).to include(why)
      end
    end

    it 'do not say why an action of a sensitive rule failed' do
      add_action('announce', '->(_, arguments) { raise "no #{arguments.first}" }') # rubocop:disable Lint/InterpolationCheck
      rule('announce', 's3cret', sensitive: true)
      expect(failure).to match(/the action 'announce' of the rule \S+ failed: the rule is sensitive/)
      expect(texts).not_to include('s3cret')
    end

    it 'fail for a rule whose action has vanished' do
      file = add_calling('announce')
      announcing = rule('announce')
      FileUtils.rm(add_action('announce', ''))
      expect(file).not_to be_nil
      expect(failure).to match(/could not find the node 'web1': .*#{announcing['uuid']}.*announce/)
    end

    it 'are found in the libdir and in the load path, but first in the modulepath' do
      { 'libdir' => 'far', 'loaded' => 'farther' }.each do |folder, prefix|
        FileUtils.mv(add_calling('announce', prefix), File.join(scratch, "#{folder}.rb"))
        place = File.join(scratch, folder, 'puppet_x', 'simpkv', 'rule_actions')
        FileUtils.mkdir_p(place)
        FileUtils.mv(File.join(scratch, "#{folder}.rb"), File.join(place, 'announce.rb'))
      end
      Puppet[:libdir] = File.join(scratch, 'libdir')
      $LOAD_PATH.push(File.join(scratch, 'loaded'))
      rule('announce')
      find
      FileUtils.rm_r(File.join(scratch, 'libdir'))
      find
      add_calling('announce', 'near')
      find
      expect(File.readlines(calls).map { |line| line[/\w+/] }).to eq(%w[far farther near])
    ensure
      $LOAD_PATH.delete(File.join(scratch, 'loaded'))
    end
  end

  describe 'and sensitive rules' do
    let(:planted) { 'pl4nted-s3cret' }

    before do
      Puppet::Util::Log.level = :debug
      add_manifest('vpn', <<~PUPPET)
        class vpn($psk, $peers = {}) {
          file { '/etc/psk': content => $psk }
          notify { "$peers $key $db": }
        }
      PUPPET
      parameters = { 'psk' => planted, 'peers' => { 'a' => planted } }
      rule('set-attribute', '/classes/vpn', parameters, sensitive: true, priority: 5)
      rule('set-attribute', '/parameters/key', planted, sensitive: true, priority: 4)
      rule('set-attribute', '/parameters/db/key', planted, sensitive: true, priority: 3)
      rule('log', '{node.parameters} {node.classes}', 'notice')
    end

    it 'give Puppet Sensitive values, whole or inside others' do
      2.times do
        node = find
        expect(node.parameters['key']).to be_a(sensitive)
        expect(node.parameters['db']['key'].unwrap).to eq(planted)
        expect(node.classes['vpn'].values).to all(be_a(sensitive))
        file = compile_found.resource('File[/etc/psk]')
        expect(file.sensitive_parameters).to eq([:content])
        expect(file[:content]).to eq(planted)
      end
    end

    it 'show nothing of these values in logs, messages, explanations and the stored outcome' do
      shown = [titles(compile_found, 'Notify'), files['inspections/web1']]
      rule('fail', planted, sensitive: true)
      shown << failure << files['inspections/web1'] << texts
      expect(logged(:notice).join).to include('of the node')
      expect(shown.join("\n")).not_to include(planted)
    end
  end
end

RSpec.describe 'Nodes that the terminus simpkv inspects over a directory' do
  include EstateSite
  include EstateTermini
  include InspectedNodes

  include_context 'with slapd'

  let(:proxy) { BurstProxy.new(directory.tcp_uri) }
  let(:backend) { { 'type' => 'ldap' }.merge(directory.options('ldap_uri' => proxy.uri, 'id' => id, 'retries' => 0)) }

  after { proxy.stop }

  it 'take two round trips if nothing has changed, with any number of rules' do
    3.times { |number| rule('set-attribute', "/parameters/p#{number}", number) }
    find
    expect(proxy.hold([1, 2]) { find }).to eq([%i[search], %i[search search]])
  end

  # Two searches for the record tell a missing key from a folder, and one reads the marker of the records.
  it 'take two round trips more if they have no record' do
    configure('unknown_nodes' => 'accept')
    rule('fail', 'no', conditions: [condition('eq', 1, 2)])
    find
    expect(proxy.hold([1, 2]) { find }).to eq([%i[search], %i[search search], %i[search], %i[search]])
  end

  it 'take one round trip more than without the engine, if there are no rules' do
    configure({})
    estate.nodes.declare('web1', 'classes' => [])
    find
    expect(proxy.hold([]) { find }.flatten).to eq(%i[search search])
  end

  it 'fail if the backend is unreachable, also with `soft: true`' do
    rule('set-attribute', '/parameters/role', 'web')
    find
    configure('soft' => true)
    find
    directory.stop_serving
    expect(failure).to start_with("simpkv estate: could not find the node 'web1': ")
  ensure
    directory.launch
  end
end

RSpec.describe 'Nodes that the terminus simpkv inspects with a replica that lags behind', :once do
  include Eventually
  include EstateSite
  include EstateTermini
  include InspectedNodes

  include_context 'with slapd', more: Replica::SUPPLIER

  attr_reader :lagging

  before(:context) { @lagging = Replica.new(slapd, follows: false).tap(&:start) }
  after(:context) { lagging.stop }

  let(:supplier_options) { { 'type' => 'ldap' }.merge(slapd.options('id' => id)) }
  let(:backend) { supplier_options.merge('ldap_uri' => lagging.uri, 'write_uri' => slapd.tcp_uri) }
  let(:supplier) { Simpkv::Estate.new({ 'backends' => { 'default' => supplier_options } }) }

  before do
    rule = { 'actions' => [{ 'op' => 'set-attribute', 'args' => %w[/parameters/role web] }] }
    Simpkv::Inspection::Rules.of(supplier).create(rule)
    lagging.restart
    eventually do
      replica = Simpkv::Estate.new({ 'backends' => { 'default' => backend } })
      Simpkv::Inspection::Rules.of(replica).list.length == 1
    end
    supplier.nodes.declare('web1', 'parameters' => { 'rack' => 12 })
  end

  %w[accept discover refuse].each do |option|
    it "find the record that the replica does not have yet, with unknown_nodes: #{option}" do
      configure('unknown_nodes' => option)
      expect(find.parameters).to include('rack' => 12, 'role' => 'web')
      expect(supplier.nodes.get('web1')).to eq('parameters' => { 'rack' => 12 })
    end
  end
end
