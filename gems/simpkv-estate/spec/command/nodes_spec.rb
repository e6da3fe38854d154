# frozen_string_literal: true

require_relative 'nodes_helper'

RSpec.describe 'simpkv nodes' do
  include_context 'with nodes'

  it 'prints nothing for a store without nodes' do
    simpkv!('init')
    expect(simpkv('nodes').to_a).to eq(['', '', 0])
    expect(data('nodes')).to eq([])
  end

  it 'names a missing store' do
    FileUtils.rm_r(File.join(folder, 'keys'))
    expect(failure('nodes')).to match([66, %r{there is no folder '.*/keys' to read keys from}])
  end

  context 'with three nodes' do
    before do
      run('db1', last_seen: '2026-11-01T00:00:00Z', status: 'failed', changes: 12, failures: 2, environment: 'dev')
      run('web1', last_seen: '2026-11-20T10:00:00Z', status: 'changed', changes: 3)
      estate.facts.save('new1', { 'os' => { 'name' => 'RedHat' } })
    end

    it 'prints a table' do
      expect(simpkv!('nodes')).to eq(<<~TABLE)
        name  environment  last seen             status   changes  failures
        db1   dev          2026-11-01T00:00:00Z  failed   12       2
        new1  -            -                     -        -        -
        web1  production   2026-11-20T10:00:00Z  changed  3        0
      TABLE
    end

    it 'prints all for programs, with the indexed facts' do
      expect(data('nodes').first)
        .to eq('name' => 'db1', 'environment' => 'dev', 'last_seen' => '2026-11-01T00:00:00Z', 'status' => 'failed',
               'changes' => 12, 'failures' => 2, 'noop' => false, 'expired' => false,
               'facts' => { 'os.name' => 'Debian' })
      expect(YAML.safe_load(simpkv!('nodes', '-o', 'yaml')).length).to eq(3)
    end

    # @return [Array<String>] the names of the nodes, in order
    def names(*arguments)
      data('nodes', *arguments).map { |node| node['name'] }
    end

    it 'sorts by a column, nodes without a value last' do
      expect(names('--sort', 'changes')).to eq(%w[web1 db1 new1])
      expect(names('--sort', 'last_seen', '--reverse')).to eq(%w[web1 db1 new1])
      expect(failure('nodes', '--sort', 'colour')).to match([64, /--sort colour: expected name, environment,/])
    end

    context 'with secrets among the indexed facts' do
      let(:estate_options) { { 'indexed_facts' => %w[app db_password] } }

      # A filter used to find out the secret that the API hides, one letter after the other.
      it 'neither prints nor compares them' do
        estate.facts.save('new1', { 'app' => { 'api_key' => 'pl4nted', 'port' => 80 }, 'db_password' => 'pl4nted' })
        expect(data('nodes', '--filter', 'name=new1').first['facts'])
          .to eq('app' => { 'api_key' => '[redacted]', 'port' => 80 }, 'db_password' => '[redacted]')
        expect(names('--filter', 'app~pl4')).to eq([])
        %w[app.api_key~^p db_password=pl4nted db_password<q].each do |filter|
          expect(failure('nodes', '--filter', filter)).to match([64, /'#{Regexp.escape(filter)}' compares a secret/])
        end
      end
    end

    it 'filters by columns and by indexed facts' do
      { 'status=failed' => %w[db1], 'status!=failed' => %w[new1 web1], 'name~^[dw]' => %w[db1 web1],
        'name!~1$' => [], 'failures>0' => %w[db1], 'changes<12' => %w[web1], 'last_seen<2026-11-20' => %w[db1],
        'os.name=RedHat' => %w[new1], 'os.name~^(Deb|Ubu)' => %w[db1 web1], 'status=' => %w[new1],
        'expired=false' => %w[db1 new1 web1] }.each do |filter, found|
        expect([filter, names('--filter', filter)]).to eq([filter, found])
      end
      expect(names('--filter', 'os.name=Debian', '--filter', 'environment=dev')).to eq(%w[db1])
    end

    it 'fails if any node matches, when that is asked for' do
      expect(simpkv('nodes', '--filter', 'status=failed', '--fail-if-any')).to have_attributes(code: 1, out: /^db1 /)
      expect(simpkv('nodes', '--filter', 'name=none', '--fail-if-any').to_a).to eq(['', '', 0])
      estate.store.put('globals/estate/status/new1', 'pl4nted')
      expect(simpkv('nodes', '--filter', 'name=none', '--fail-if-any').code).to eq(65)
    end

    it 'explains a wrong filter' do
      { 'failed' => /the filter 'failed' is none: write a name, one of = != ~ !~ < >, and a value/,
        'last_seen>x' => /the filter 'last_seen>x' needs a time in UTC/,
        'last_seen<20 November' => /needs a time/, 'failures>abc' => /the filter 'failures>abc' needs a number after >/,
        'stats=failed' => /'stats=failed' names neither a column nor a .*'indexed_facts': did you mean 'status'\?/,
        'memory.total>5' => /'memory.total>5' names neither .*, which are name, environment, .*os\.name/,
        'name~[' => /wrong regular expression/ }.each do |filter, why|
        expect(failure('nodes', '--filter', filter)).to match([64, why])
      end
    end

    # Each matched no node, or all: --fail-if-any ended with 0, or 1.
    it 'refuses a value that a column never has, and names those that it has' do
      report = 'or nothing for a node without a report'
      { 'status=typo' => /'status=typo' names no value of 'status': expected failed, changed, unchanged, #{report}/,
        'status!=typo' => /failed, changed/, 'status~^fial' => /failed, changed/, 'status=Failed' => /failed, changed/,
        'expired=maybe' => /'expired': expected true, false$/, 'expired=' => /true, false$/,
        'noop=yes' => /'noop': expected true, false, #{report}/, 'status>a' => /needs = != ~ or !~ after 'status'/,
        'changes=many' => /a whole number after =/, 'failures!=1.0' => /a whole number after !=/,
        'last_seen=2026-11-20' => /needs a whole time in UTC such as 2026-11-20T10:00:00Z after =/ }.each do |text, why|
        expect(failure('nodes', '--filter', text, '--fail-if-any')).to match([64, why])
      end
      expect(names('--filter', 'status~^un')).to eq([])
      expect(names('--filter', 'last_seen=2026-11-20T10:00:00Z')).to eq(%w[web1])
      expect(names('--filter', 'noop=', '--filter', 'changes=')).to eq(%w[new1])
    end

    # Each was accepted, and matched no node, or all.
    it 'refuses times, numbers and names that no node can have' do
      { 'last_seen=2026-02-31T00:00:00Z' => /a whole time/, 'last_seen<2026-13-45' => /needs a time/,
        'last_seen<2026-11-26T25:61' => /needs a time/, 'last_seen>2026-11-26T1Z' => /needs a time/,
        'changes=01' => /a whole number/, 'name=Foo BAR' => /names no name that a node can have: .*whitespace/,
        'name!=a/b' => %r{it has a '/'}, 'environment=Bad Env' => /names no environment .*whitespace/,
        'name=' => /names no name/ }.each do |text, why|
        expect(failure('nodes', '--filter', text)).to match([64, why])
      end
      ['last_seen>2026', 'last_seen>2026-11-01T00:00', 'last_seen>2026-11-01T00:00:00Z'].each do |text|
        expect(names('--filter', text)).to include('web1')
      end
      expect(names('--filter', 'environment=')).to eq(%w[new1])
      expect(names('--filter', 'name~Foo BAR')).to eq([])
    end

    it 'names documents that cannot be read, and lists the other nodes' do
      estate.store.put('globals/estate/status/db1', 'pl4nted')
      estate.store.put('globals/estate/inventory/db1', '{"value":"pl4nted"}')
      outcome = simpkv('nodes')
      expect(outcome).to have_attributes(code: 65, out: /^web1 /, err: %r{'estate/status/db1': })
      expect(outcome.err).to match(%r{'estate/inventory/db1': it has another form})
      expect(outcome.err).not_to include('pl4nted')
    end
  end

  context 'with node_ttl' do
    let(:estate_options) { { 'node_ttl' => '14d' } }

    it 'marks expired nodes' do
      run('old1', last_seen: days_ago(15))
      run('web1', last_seen: days_ago(13))
      estate.inventory.put('old1', estate.inventory.get('old1').merge('seen' => days_ago(20)))
      expect(simpkv!('nodes')).to match(/^old1 .*Z \(expired\) /).and match(/^web1 .*Z  /)
      expect(data('nodes', '--filter', 'expired=true').map { |node| node['name'] }).to eq(%w[old1])
    end
  end

  describe 'with documents of another form' do
    before { run('web1', exports: { 'host' => [host('web1')], 'notify' => [host('web1')] }) }

    # Each of these ended with 70, an internal error.
    { %w[node show web1] => { 'status/web1' => [1, 'pl4nted'], 'inventory/web1' => { 'facts' => 5 },
                              'reports/web1/1' => { 'resources' => 'pl4nted' }, 'nodes/web1' => 'pl4nted' },
      %w[node reports web1 --events] => { 'reports/web1/2' => { 'events' => 5 }, 'reports/web1/3' => 'pl4nted' },
      %w[node exports web1] => { 'exported/notify/web1' => [{ 'title' => 5, 'parameters' => 'pl4nted' }] },
      %w[nodes --sort changes] => { 'status/web1' => { 'changes' => 'pl4nted' }, 'status/web2' => { 'changes' => 3 },
                                    'inventory/web1' => [] } }.each do |words, planted|
      it "names them, and prints the others, in 'simpkv #{words.join(' ')}'" do
        planted.each { |key, value| estate.store.put("globals/estate/#{key}", Simpkv::Codec.encode(value)) }
        outcome = simpkv(*words)
        lines = (planted.keys - ['status/web2']).map { |key| match(%r{\Asimpkv: 'estate/#{key}': it (has|must)}) }
        expect(outcome.code).to eq(65)
        expect(outcome.err.lines).to match_array(lines)
        expect(outcome.out).to match(/web1|web2|unchanged/)
        expect(outcome.out).not_to include('pl4nted')
      end
    end

    it 'names one that a command needs' do
      { 'inventory' => %w[exports web1], 'facts' => %w[facts web1] }.each do |subject, words|
        estate.store.put("globals/estate/#{subject}/web1", Simpkv::Codec.encode('exports' => 5))
        expect(failure('node', *words)).to match([65, %r{'globals/estate/#{subject}/web1' cannot be read: it has}])
      end
    end
  end

  describe 'with text of an agent that would control a terminal' do
    let(:evil) { "\e[31mred\u0007\u009B2J\nforged" }

    before do
      run('web1', status: evil, environment: evil, facts: { 'os' => { 'name' => evil }, evil => evil },
                  exports: { 'host' => [{ 'title' => evil, 'parameters' => { evil => evil }, 'tags' => [evil] }] })
      estate.reports.save('web1', 'time' => evil, 'environment' => evil, 'status' => evil,
                                  'events' => [{ 'resource' => evil, 'property' => evil, 'message' => evil }])
      estate.store.put('globals/estate/inventory/web2', Simpkv::Codec.encode('exports' => { evil => evil }))
    end

    [%w[nodes], %w[nodes -o json], %w[nodes --filter os.name!=x], %w[node show web1], %w[node show web2],
     %w[node reports web1 --events], %w[node facts web1], %w[node facts web1 -o json], %w[node facts web1 os],
     %w[node facts web1 os.name], %w[node facts web1 forge], %w[node exports web1], %w[node exports web1 tag],
     %w[doctor], %w[complete node facts web1] + ['']].each do |words|
      # These commands printed what the agent had sent.
      it "escapes it in the output of 'simpkv #{words.join(' ')}'" do
        outcome = simpkv(*words)
        output = (outcome.out + outcome.err).force_encoding('UTF-8')
        expect(output).not_to match(/(?!\n)[[:cntrl:]]|^forged/)
        expect(outcome.code).not_to eq(70)
      end
    end
  end

  describe 'with options that only other commands take' do
    it 'explains why it has none of them' do
      { %w[-e dev] => /invalid option: -e: the nodes of all environments are in one place/,
        %w[--global] => /invalid option: --global: the nodes of all environments/,
        %w[--from-puppet] => /invalid option: --from-puppet: Puppet needs the nodes before it reads Hiera/ }
        .each do |options, why|
        expect(failure('nodes', *options)).to match([64, why])
        expect(failure(*options, 'nodes')).to match([64, why])
      end
    end
  end

  describe 'with a wrong configuration' do
    it 'names the file and the option' do
      estate_options['reprots'] = 3
      expect(failure('nodes'))
        .to match([78, /\Asimpkv: [^ ]*simpkv.yaml: Unknown option 'reprots' of 'estate' .*: did you mean 'reports'\?/])
    end

    # All that is beside simpkv::options had no effect, and no mistake in it was named.
    it 'names an option of a section beside simpkv::options' do
      File.write(config, { 'simpkv::options' => { 'backends' => backends }, 'estate' => { 'reprots' => 3 } }.to_yaml)
      expect(failure('nodes'))
        .to match([78, /\Asimpkv: [^ ]*simpkv.yaml: Unknown option 'reprots' of 'estate' .*: did you mean 'reports'\?/])
    end

    it 'warns of an unknown section, in every command' do
      site['estat'] = { 'reports' => 3 }
      configure
      %w[nodes status ls].each do |command|
        expect(simpkv(command).err.lines)
          .to include("simpkv: Unknown option 'estat' in simpkv configuration: did you mean 'estate'?\n").once
      end
    end

    it 'names a missing backend, and one of a type that only Puppet has' do
      estate_options['backend'] = 'site'
      expect(failure('nodes'))
        .to match([78, /simpkv.yaml: 'backend' of 'estate' is 'site': No simpkv backend 'site' with 'id' and 'type'/])
      backends['site'] = { 'type' => 'vault', 'id' => 'x' }
      configure
      expect(failure('nodes')).to match([78,
                                         /'site' is of the type 'vault'\. The command has the types file and/])
    end

    it 'uses the backend that estate names, unless the command line names one' do
      backends['nodes'] = { 'type' => 'file', 'id' => 'nodes', 'root_path' => File.join(folder, 'nodes') }
      estate_options['backend'] = 'nodes'
      configure
      expect(simpkv!('init')).to include("is in the backend 'nodes': run simpkv init --backend nodes")
      simpkv!('init', '-b', 'nodes')
      Simpkv::Estate.new(site).facts.save('web1', {})
      expect(simpkv!('nodes')).to match(/^web1 /)
      expect(simpkv!('nodes', '-b', 'default')).not_to include('web1')
    end
  end

  describe 'completion' do
    # @return [Array<String>] the words that complete a line
    def completed(line)
      simpkv!('complete', '--line', line).lines.map { |found| found[/[^\t\n]+/] }
    end

    before do
      run('web1', exports: { 'host' => [host('web1')], 'sshkey' => [host('web1')] })
      run('web2', facts: { 'os' => { 'name' => 'Debian', 'family' => 'Debian' } })
      estate.nodes.declare('wall', 'environment' => 'dev')
    end

    {
      'simpkv node de' => %w[deactivate declare], 'simpkv node show w' => %w[wall web1 web2],
      'simpkv node facts w' => %w[web1 web2], 'simpkv node facts web2 os.' => %w[os.family os.name],
      'simpkv node facts web2 os.name x' => [], 'simpkv node exports web1 ' => %w[host sshkey],
      'simpkv node exports web2 ' => [], 'simpkv node deactivate web1 ' => %w[web2],
      'simpkv node undeclare ' => %w[wall],
      'simpkv node declare wa' => %w[wall], 'simpkv nodes --sort f' => %w[failures],
      'simpkv nodes --sort=na' => %w[--sort=name],
      'simpkv nodes --filter st' => %w[status=], 'simpkv nodes --filter os.n' => %w[os.name=],
      'simpkv nodes --e' => []
    }.each do |line, words|
      it("completes '#{line}'") { expect(completed(line).compact).to eq(words) }
    end
  end
end
