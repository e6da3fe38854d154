# frozen_string_literal: true

require_relative 'nodes_helper'

RSpec.describe 'simpkv node' do
  include_context 'with nodes'

  describe 'show' do
    it 'prints the last run, facts, exported types, the declared record and the last reports' do
      estate.nodes.declare('web1', 'environment' => 'dev', 'classes' => { 'role::web' => {} },
                                   'parameters' => { 'rack' => 12 })
      run('web1', exports: { 'host' => [host('web1')] }, status: 'changed', changes: 3)
      shown = simpkv!('node', 'show', 'web1')
      [/^name: +web1$/, /^environment: +production$/, /^last seen: +20.*Z$/,
       /^status: +changed, 3 changes, 0 failures$/,
       /^os\.name: +Debian$/, /^exports: +host$/, /^declared environment: +dev$/, /^declared classes: +role::web$/,
       /^declared parameter rack: +12$/,
       /^time +status +changes +failures +environment\n20.*Z +changed +3 +0 +production$/]
        .each do |line|
        expect(shown).to match(line)
      end
      expect(data('node', 'show', 'web1').keys).to eq(%w[name declared inspection status inventory expired reports])
    end

    it 'marks an expired node' do
      estate_options['node_ttl'] = '14d'
      estate.inventory.put('old1', 'seen' => '2000-01-01T00:00:00Z')
      expect(simpkv!('node', 'show', 'old1')).to eq("name:       old1\nlast seen:  2000-01-01T00:00:00Z (expired)\n")
      expect(data('node', 'show', 'old1')['expired']).to be(true)
    end

    it 'prints a node that is declared only' do
      estate.nodes.declare('web1', 'classes' => %w[b a])
      expect(simpkv!('node', 'show', 'web1')).to eq("name:              web1\ndeclared classes:  a, b\n")
    end

    it 'prints no value that the record calls sensitive' do
      estate.nodes.declare('web1', 'parameters' => { 'key' => 'pl4nted',
                                                     'deep' => { 'keys' => ['pl4nted'], 'rack' => 12 } },
                                   'classes' => { 'vpn' => { 'psk' => 'pl4nted' } },
                                   'sensitive' => %w[/parameters/key /parameters/deep/keys/0 /classes/vpn/psk])
      [%w[-o table], %w[-o json], %w[-o yaml]].each do |format|
        shown = simpkv!('node', 'show', 'web1', *format)
        expect(shown).to include('[redacted]')
        expect(shown).not_to include('pl4nted')
      end
      expect(data('node', 'show', 'web1')['declared'])
        .to include('parameters' => { 'key' => '[redacted]', 'deep' => { 'keys' => ['[redacted]'], 'rack' => 12 } },
                    'classes' => { 'vpn' => { 'psk' => '[redacted]' } })
    end

    it 'suggests a name' do
      run('web1')
      expect(simpkv('node', 'show', 'web11').to_a)
        .to eq(['', "simpkv: file/spec: there is no node 'web11': did you mean 'web1'?\n", 66])
      expect(failure('node', 'show', 'a/b')).to match([65, %r{'a/b'}])
      expect(failure('node', 'show', '')).to match([64, /the name of a node is empty/])
    end
  end

  describe 'facts' do
    before do
      run('web1', facts: { 'os' => { 'name' => 'Debian', 'release' => { 'major' => '12' } }, 'empty' => {},
                           'ips' => %w[192.0.2.1 192.0.2.2], 'processors' => { 'count' => 2 }, 'virtual' => false })
    end

    it 'prints a line for each' do
      expect(simpkv!('node', 'facts', 'web1')).to eq(<<~FACTS)
        empty             {}
        ips.0             192.0.2.1
        ips.1             192.0.2.2
        os.name           Debian
        os.release.major  12
        processors.count  2
        trusted.certname  web1
        virtual           false
      FACTS
    end

    it 'prints one, also false' do
      { 'os.release.major' => "12\n", 'ips.1' => "192.0.2.2\n", 'virtual' => "false\n", 'os.release' => "major  12\n" }
        .each { |name, text| expect(simpkv!('node', 'facts', 'web1', name)).to eq(text) }
      expect(data('node', 'facts', 'web1', 'os')).to eq('name' => 'Debian', 'release' => { 'major' => '12' })
    end

    # The service showed it as well: gems/simpkv-server/spec/server/nodes_spec.rb.
    it 'prints a fact in the form of a Sensitive with --show-secrets only' do
      run('web1', facts: { 'odd' => [{ '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }] })
      expect(simpkv!('node', 'facts', 'web1')).to match(/^odd\.0 +\[redacted\]$/)
      expect(simpkv!('node', 'facts', 'web1', '--show-secrets')).to match(/^odd\.0\.__pvalue +pl4nted$/)
    end

    it 'names what is missing' do
      expect(failure('node', 'facts', 'web1',
                     'os.nam')).to match([66, /no fact of 'web1' called 'os\.nam': did you mean 'os\.name'\?/])
      expect(failure('node', 'facts', 'web2'))
        .to match([66, /: there are no facts of a node 'web2': did you mean 'web1'\?/])
    end
  end

  describe 'exports' do
    secret = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }

    before do
      user = host('admin', key: secret, nested: { 'deep' => [secret], 'api_key' => 'pl4nted' }, password: 'pl4nted')
      run('web1', exports: { 'host' => [host('web1', ip: '192.0.2.1', aliases: %w[a b])], 'site::user' => [user] })
    end

    it 'prints resources, no Sensitive value, and no parameter with the name of a secret' do
      expect(simpkv!('node', 'exports', 'web1')).to eq(<<~RESOURCES)
        Host['web1']
          aliases  ["a","b"]
          ip       192.0.2.1
          tags     host
        Site::User['admin']
          key       [redacted]
          nested    {"deep":["[redacted]"],"api_key":"[redacted]"}
          password  [redacted]
          tags      host
      RESOURCES
      run('web2', exports: { 'host' => [host('a', number: 80, text: '80', list: '[]')] })
      expect(simpkv!('node', 'exports', 'web2')).to match(/list +"\[\]"\n.* number +80\n.* text +"80"\n/m)
      expect(data('node', 'exports', 'web1', 'Site::User').to_s).not_to include('pl4nted')
      expect(simpkv!('node', 'exports', 'web1', '-o', 'yaml')).not_to include('pl4nted')
    end

    it 'says without NODE who exports the resources of a type, or one of them' do
      run('web2', exports: { 'host' => [host('web1', ip: '192.0.2.2'), host('b')] })
      expect(simpkv!('node', 'exports', '--type', 'Host', '--title', 'web1')).to eq(<<~RESOURCES)
        web1:
          Host['web1']
            aliases  ["a","b"]
            ip       192.0.2.1
            tags     host
        web2:
          Host['web1']
            ip    192.0.2.2
            tags  host
      RESOURCES
      expect(data('node', 'exports', '--type', 'host').transform_values { |exports| exports['host'].length })
        .to eq('web1' => 1, 'web2' => 2)
      users = data('node', 'exports', '--type', 'site::user').to_s
      expect([users.include?('redacted'), users.include?('pl4nted')]).to eq([true, false])
      expect(data('node', 'exports', 'web2', '--title', 'b').keys).to eq(%w[host])
      expect(failure('node', 'exports', '--type', 'hots')).to match([66, /of the type 'hots': did you mean 'host'\?/])
      expect(failure('node', 'exports', '--type', 'host', '--title', 'web3'))
        .to match([66, /no node exports a resource of the type 'host' with the title 'web3': did you mean 'web1'\?/])
      expect(failure('node', 'exports')).to eq([64, "simpkv: either NODE or --type TYPE is needed\n"])
      estate.store.put('globals/estate/exported/host/web2', 'no JSON')
      expect(simpkv('node', 'exports', '--type', 'host').to_a)
        .to match([/\Aweb1:\n/, %r{estate/exported/host/web2}, 65])
    end

    # It printed the others only, and succeeded.
    it 'fails if a document is missing that the inventory names' do
      estate.store.delete('globals/estate/exported/host/web1')
      expect(simpkv('node', 'exports', 'web1').to_a).to match(['', %r{exported/host/web1' is missing}, 78])
    end

    it 'prints Sensitive values and other secrets if --show-sensitive says so' do
      shown = data('node', 'exports', 'web1', 'site::user', '--show-sensitive')
      expect(shown['site::user'].first['parameters']).to include('key' => secret, 'password' => 'pl4nted')
    end

    it 'names what is missing' do
      expect(failure('node', 'exports', 'web1',
                     'hosts')).to match([66, /nothing that 'web1' exports of the type 'hosts': did you mean 'host'\?/])
      expect(failure('node', 'exports',
                     'web')).to match([66, /no exported resource of a node 'web': did you mean 'web1'\?/])
      run('web3')
      # The suggestion was web3.
      expect(failure('node', 'exports', 'web3')).to match([66, /no exported resource of a node 'web3'$/])
      expect(failure('node', 'exports', 'web3', 'host'))
        .to match([66, /nothing that 'web3' exports of the type 'host'$/])
    end
  end

  describe 'reports' do
    before do
      estate.reports.save('web1', 'time' => '2026-11-22T01:00:00Z', 'status' => 'unchanged', 'noop' => false)
      estate.reports.save('web1', 'time' => '2026-11-23T01:00:00Z', 'status' => 'failed', 'noop' => true,
                                  'environment' => 'dev', 'resources' => { 'changed' => 1, 'failed' => 2 },
                                  'events_left_out' => 7,
                                  'events' => [{ 'resource' => 'File[/a]', 'property' => 'mode', 'status' => 'failure',
                                                 'message' => 'no such user' }])
    end

    it 'prints a line for each, the newest first' do
      expect(simpkv!('node', 'reports', 'web1')).to eq(<<~TABLE)
        time                  status        changes  failures  environment
        2026-11-23T01:00:00Z  failed, noop  1        2         dev
        2026-11-22T01:00:00Z  unchanged     0        0         -
      TABLE
    end

    it 'prints events, and only the last reports' do
      expect(simpkv!('node', 'reports', 'web1', '--events', '--limit', '1').lines.drop(2))
        .to eq(["  failure: File[/a] mode: no such user\n", "  and 7 events that the report leaves out\n"])
    end

    it 'prints the message of an event about a secret only with --show-secrets' do
      estate.reports.save('web1', 'time' => '2026-11-24T01:00:00Z', 'status' => 'changed', 'noop' => false,
                                  'events' => [{ 'property' => 'password', 'message' => 'changed a to pl4nted' }])
      [%w[reports --events], %w[reports -o json], %w[show -o json]].each do |command, *options|
        expect(simpkv!('node', command, 'web1', *options)).to match(/\A(?!.*pl4nted).*\[redacted\]/m)
        expect(simpkv!('node', command, 'web1', *options, '--show-secrets')).to include('changed a to pl4nted')
      end
    end

    it 'prints logs, and the values of events' do
      event = { 'resource' => 'File[/a]', 'property' => 'mode', 'status' => 'success', 'message' => 'changed',
                'values' => { 'old' => '0600', 'new' => ['x'] } }
      line = { 'level' => 'notice', 'source' => 'Puppet', 'message' => 'password = pl4nted' }
      members = { 'time' => '2026-11-24T01:00:00.25Z', 'status' => 'changed', 'noop' => false }
      estate.reports.save('web1', Simpkv::Estate::WholeReport.new(members, {}, [event], [line]))
      expect(simpkv!('node', 'reports', 'web1', '--events', '--logs', '--limit', '1')).to eq(<<~TABLE)
        time                  status   changes  failures  environment
        2026-11-24T01:00:00Z  changed  0        0         -
          success: File[/a] mode: changed: 0600 -> ["x"]
          notice: Puppet: password = [redacted]
      TABLE
      report = data('node', 'reports', 'web1').first
      expect(report).to include('events' => [event.except('values').merge('old_value' => '0600', 'new_value' => ['x'])],
                                'logs' => [line.merge('message' => 'password = [redacted]')])
      expect(report.keys & %w[details values]).to eq([])
      expect(data('node', 'show', 'web1')['reports'].first.keys & %w[details logs values]).to eq([])
    end

    it 'prints all for programs' do
      expect(data('node', 'reports', 'web1').map { |report| report['run'] }).to eq([2, 1])
    end

    it 'refuses a number that is none, or below 1' do
      %w[0 -1].each do |number|
        expect(failure('node', 'reports', 'web1', "--limit=#{number}")).to match([64, /--limit must be 1/])
      end
      expect(failure('node', 'reports', 'web1', '--limit', 'x'))
        .to match([64, /invalid argument: --limit: expected a whole number/])
    end

    it 'names a node without reports' do
      expect(failure('node', 'reports', 'web2')).to match([66, /no report of a node 'web2': did you mean 'web1'\?/])
    end
  end

  describe 'declare' do
    def declared(name = 'web1')
      estate.nodes.get(name)
    end

    it 'adds to what is declared, keeps the rest, and prints names only' do
      expect(simpkv!('node', 'declare', 'web1', '--environment', 'dev', '--class', 'role::web', '--parameter',
                     'key=pl4nted'))
        .to eq("added: classes.role::web\nadded: environment\nadded: parameters.key\n")
      expect(simpkv!('node', 'declare', 'web1', '-e', 'production', '--class', 'ntp', '--parameter', 'key=pl4nted2'))
        .to eq("added: classes.ntp\nchanged: environment\nchanged: parameters.key\n")
      expect(declared).to eq('environment' => 'production', 'classes' => { 'role::web' => {}, 'ntp' => {} },
                             'parameters' => { 'key' => 'pl4nted2' })
    end

    it 'writes nothing if nothing changes' do
      2.times { simpkv!('node', 'declare', 'web1', '--class', 'a') }
      expect(simpkv!('node', 'declare', 'web1', '--class', 'a')).to eq("'web1' is unchanged\n")
      expect(data('node', 'declare', 'web1', '--class',
                  'b')).to eq('node' => 'web1', 'changes' => { 'classes.b' => 'added' })
    end

    it 'reads YAML or JSON, and the options win' do
      input = { 'environment' => 'dev', 'classes' => %w[a b], 'parameters' => { 'n' => 1 } }
      [input.to_yaml, input.to_json].each_with_index do |text, number|
        simpkv!('node', 'declare', "web#{number}", '--file', '-', '--environment', 'production', input: text)
        expect(declared("web#{number}")).to eq(input.merge('environment' => 'production',
                                                           'classes' => {
                                                             'a' => {}, 'b' => {}
                                                           }))
      end
    end

    it 'takes parameters in JSON' do
      simpkv!('node', 'declare', 'web1', '--json', '--parameter', 'ports=[80, 443]')
      expect(declared['parameters']).to eq('ports' => [80, 443])
    end

    it 'removes entries and members, or all that is not given' do
      simpkv!('node', 'declare', 'web1', '-e', 'dev', '--class', 'a', '--class', 'b::c', '--parameter', 'x=1')
      expect(simpkv!('node', 'declare', 'web1', '--remove', 'classes.b::c', '--remove', 'environment'))
        .to eq("removed: classes.b::c\nremoved: environment\n")
      removed = %w[classes.nope foo parameters].flat_map { |path| ['--remove', path] }
      expect(simpkv('node', 'declare', 'web1', *removed).to_a)
        .to eq(["removed: parameters.x\n",
                "simpkv: --remove classes.nope: it is not declared\nsimpkv: --remove foo: it is not declared\n", 0])
      simpkv!('node', 'declare', 'web1', '--replace', '--class', 'd')
      expect(declared).to eq('classes' => { 'd' => {} })
    end

    it 'keeps the changes of all commands that run at once' do
      outcomes = Array.new(4) do |number|
        Thread.new do
          simpkv('node', 'declare', 'web1', '--class', "c#{number}", process: true)
        end
      end
      expect(outcomes.map { |thread| thread.value.code }).to eq([0] * 4)
      expect(declared['classes'].keys).to match_array(%w[c0 c1 c2 c3])
    end

    it 'refuses what no record can have, quotes nothing, and stores nothing' do
      { ['--file', '-'] => ["classes: {a: pl4nted}\n", /'classes' must be a list of names, or/, 65],
        ['-f', '-'] => ["class: pl4nted\n", /there is no member 'class'/, 65],
        ['-f', '-', '--class', 'a'] => ['pl4nted', /must have a Hash/, 65],
        ['--file', '-', '--replace'] => ['a: [pl4nted', /neither YAML nor JSON/, 65],
        ['-e', 'no/thing'] => ['', /'environment' must be/, 65],
        ['--parameter', 'pl4nted'] => ['', /--parameter: expected NAME=VALUE/, 64],
        ['--parameter', '=pl4nted'] => ['', /--parameter: expected NAME=VALUE/, 64],
        ['--class', 'Bad-Class'] => ['', /'Bad-Class' is no name of a class/, 65],
        ['-f', '-', '-e', 'dev'] => ["classes: ['a b']", /'a b' is no name of a class/, 65],
        ['--json', '--parameter', 'a=pl4nted'] => ['', /the value of parameter 'a' is not JSON/, 65],
        [] => ['', /nothing to declare/, 64], ['-f', 'nothing'] => ['', /no file 'nothing'/, 66] }
        .each do |arguments, (input, why, code)|
        outcome = simpkv('node', 'declare', 'web1', *arguments, input: input)
        expect(outcome.to_a).to match(['', why, code])
        expect(outcome.err).not_to include('pl4nted')
      end
      expect(declared).to be_nil
    end
  end

  describe 'undeclare' do
    it 'removes the record, and names a node that is not declared' do
      estate.nodes.declare('web1', 'classes' => %w[a])
      run('web1')
      estate.nodes.declare('web2', 'classes' => %w[a])
      expect(simpkv!('node', 'undeclare', 'web1')).to eq("web1: declared record removed\n")
      expect(estate.facts.find('web1')).not_to be_nil
      expect(failure('node', 'undeclare', 'web3')).to match([66, /no declared record of 'web3': did you mean 'web2'\?/])
      expect(failure('node', 'undeclare')).to match([64, /which nodes\?/])
    end
  end

  describe 'deactivate' do
    before do
      %w[web1 web2].each { |name| run(name, exports: { 'host' => [host(name)], 'sshkey' => [host(name)] }) }
      estate.nodes.declare('web1', 'classes' => %w[a])
      estate.catalogs.put('web1', { 'resources' => [] })
    end

    it 'removes with --purge all that a node left, but its declared record, and no other node' do
      others = documents.grep(/web2/)
      expect(simpkv!('node', 'deactivate', '--purge', 'web1'))
        .to eq("web1: removed exports of 2 types, facts, status, reports, catalogs, inventory\n")
      expect(documents).to match_array(['nodes/web1', 'purged/web1', *others])
      expect(estate.exports.all('host').keys).to eq(%w[web2])
    end

    it 'removes several, and names one that left nothing' do
      outcome = simpkv('node', 'deactivate', '--purge', 'web1', 'wbe2', 'web2')
      expect(outcome).to have_attributes(code: 66, out: /\Aweb1: removed .*\nweb2: removed /,
                                         err: /there is nothing of a node 'wbe2'/)
      expect(documents).to eq(%w[nodes/web1 purged/wbe2 purged/web1 purged/web2])
    end

    # It printed nothing about web1, and left web3.
    it 'removes the others if one cannot be removed, and names each' do
      run('web3')
      in_the_way_of('facts/web2')
      outcome = simpkv('node', 'deactivate', '--purge', 'web1', 'web2', 'web3')
      expect(outcome).to have_attributes(code: 65, out: /\Aweb1: removed .*\nweb3: removed .*\n\z/,
                                         err: /\Asimpkv: 'web2': .*\n\z/)
      expect(documents.grep(%r{/web[13]\z})).to eq(%w[nodes/web1 purged/web1 purged/web3])
      # A node that left nothing hides no failure.
      expect(simpkv('node', 'deactivate', '--purge', 'web2', 'none'))
        .to have_attributes(code: 65, err: /\Asimpkv: 'web2': .*\n.*nothing of a node 'none'/)
    end

    it 'prints only the error if the store fails before the first node' do
      folder = backends['default']['root_path']
      FileUtils.rm_rf(folder)
      File.write(folder, '')
      expect(simpkv('node', 'deactivate', 'web1', '-o', 'json')).to have_attributes(code: be_positive, out: '')
    end

    it 'suggests a name' do
      expect(simpkv('node', 'deactivate', 'web3').err).to include("did you mean 'web1'?")
      expect(simpkv('node', 'clean', 'web1').err).to include("did you mean 'node deactivate'?")
    end

    it 'removes exports that no record of the inventory names' do
      estate.inventory.delete('web1')
      simpkv!('node', 'deactivate', '--purge', 'web1')
      expect(documents.grep(/web1/)).to eq(%w[nodes/web1 purged/web1])
    end

    # It removed all that a node left.
    it 'removes what a node exports, and leaves it out of lists until its next run' do
      before = documents
      expect(simpkv!('node', 'deactivate', 'web1', 'web2'))
        .to eq("web1: deactivated, and removed exports of 2 types\nweb2: deactivated, and removed exports of 2 types\n")
      expect(before - documents).to match_array(before.grep(/exported/))
      list = Simpkv::Estate::NodeList.new(estate)
      expect([list.nodes, list.never_run([])]).to eq([[], 0])
      expect(simpkv!('node', 'show', 'web1')).to match(/^deactivated: +\d{4}-/)
      run('web2')
      expect(data('nodes').map { |node| node['name'] }).to eq(%w[web2])
    end

    it 'lets the node store everything anew' do
      simpkv!('node', 'deactivate', '--purge', 'web2')
      run('web2', exports: { 'host' => [host('web2')] })
      expect(documents.grep(/web2/)).to include('facts/web2', 'exported/host/web2', 'status/web2')
    end
  end

  # Stores a folder in place of a document of the estate, so that nothing deletes it as one.
  def in_the_way_of(document)
    estate.store.delete("globals/estate/#{document}")
    estate.store.put("globals/estate/#{document}/key", '{}')
  end

  describe 'expire' do
    context 'without node_ttl' do
      it 'removes nodes that were deactivated more than 14 days ago, and no others' do
        %w[old1 new1 back1].each { |name| run(name, last_seen: '2000-01-01T00:00:00Z') }
        { 'old1' => 15, 'new1' => 13, 'back1' => 15 }.each { |name, days| estate.deactivate(name, days_ago(days)) }
        run('back1')
        expect(simpkv!('node', 'expire', '--dry-run')).to eq("old1\n")
        expect(simpkv!('node', 'expire')).to match(/\Aold1: removed facts, status, reports, inventory\n\z/)
        expect(documents.grep(%r{^status/})).to eq(%w[status/back1 status/new1])
      end
    end

    context 'with node_purge_ttl' do
      let(:estate_options) { { 'node_purge_ttl' => '1h' } }

      it 'removes nodes that were deactivated longer ago' do
        run('web1')
        estate.deactivate('web1')
        expect(estate.removable).to eq([])
        allow(Time).to receive(:now).and_return(Time.now + 3601)
        expect(estate.removable).to eq(%w[web1])
      end
    end

    context 'with report_ttl' do
      let(:estate_options) { { 'report_ttl' => '7d' } }

      before do
        2.times { run('web1') }
        old = estate.reports.get('web1', '1')
        estate.reports.put('web1', '1', old.merge('received' => days_ago(8)))
      end

      it 'deletes the reports that are older, and no node' do
        expect(simpkv('node', 'expire').to_a)
          .to eq(['', "simpkv: 0 nodes were removed\nsimpkv: deleted 1 old report\n", 0])
        expect(documents.grep(/web1/))
          .to contain_exactly('facts/web1', 'inventory/web1', 'reports/web1/2', 'status/web1')
        expect(data('node', 'expire')).to eq('expired' => [], 'removed' => {}, 'reports' => 0)
      end

      it 'deletes nothing in a dry run' do
        before = documents
        expect(simpkv('node', 'expire', '--dry-run').err).to end_with("simpkv: would delete 1 old report\n")
        expect(documents).to eq(before)
      end
    end

    context 'with node_ttl' do
      let(:estate_options) { { 'node_ttl' => '14d' } }

      before do
        %w[old1 old2 web1].each { |name| run(name, exports: { 'host' => [host(name)] }) }
        %w[old1 old2].each do |name|
          estate.statuses.put(name, estate.statuses.get(name).merge('last_seen' => days_ago(15)))
          estate.inventory.put(name, estate.inventory.get(name).merge('seen' => days_ago(18)))
        end
      end

      it 'removes nothing in a dry run' do
        before = documents
        expect(simpkv('node', 'expire',
                      '--dry-run').to_a).to eq(["old1\nold2\n", "simpkv: 2 nodes would be removed\n", 0])
        expect(documents).to eq(before)
      end

      it 'removes the nodes that had no run for so long, and no others' do
        estate.nodes.declare('old1', 'classes' => %w[a])
        outcome = simpkv('node', 'expire')
        expect(outcome).to have_attributes(code: 0, out: /\Aold1: removed exports of 1 type, facts.*\nold2: removed /,
                                           err: /removing: 2 of 2 nodes, .*\nsimpkv: 2 nodes were removed\n/)
        expect(documents.grep(/old/)).to eq(%w[nodes/old1])
        expect(documents.grep(/web1/)).not_to be_empty
        expect(simpkv('node', 'expire').to_a).to eq(['', "simpkv: 0 nodes were removed\n", 0])
      end

      # One such node kept all others, with no word about those that were removed.
      it 'removes the others if one cannot be removed, and names each' do
        in_the_way_of('facts/old1')
        expect(simpkv('node', 'expire')).to have_attributes(code: 65, out: /\Aold2: removed [^\n]*\n\z/,
                                                            err: /1 node was removed\nsimpkv: 'old1': .*\n\z/)
        expect(documents.grep(/old2/)).to be_empty
      end

      it 'shows a bar on a terminal' do
        shown, code = on_terminal('node', 'expire')
        expect(code).to eq(0)
        expect(shown).to match(/removing \|=+\| 2 of 2, /).and include('old2: removed')
      end

      it 'keeps a node that runs after the list was read' do
        allow(estate.statuses).to receive(:expired).and_wrap_original do |expired|
          expired.call.tap { run('old1', exports: { 'host' => [host('old1')] }) }
        end
        expect(estate.expire).to eq(%w[old2])
        expect(documents).to include('exported/host/old1')
      end

      it 'keeps a node of which no time is known' do
        estate.inventory.put('new1', { 'environment' => 'dev' })
        simpkv!('node', 'expire')
        expect(documents).to include('inventory/new1')
      end
    end
  end

  it 'is not missed any more by collectors, after init has given up what it has lost' do
    run('web1', exports: { 'host' => [{ 'title' => 'a' }] })
    estate.store.delete('globals/estate/exported/host/web1')
    expect { estate.exports.all('host') }.to raise_error(Simpkv::Estate::MissingError, /init --only estate --incomp/)
    expect(JSON.parse(simpkv!('init', '--only', 'estate', '-o', 'json'))['estate']).to eq('already exists')
    expect(JSON.parse(simpkv!('init', '--only', 'estate', '--incomplete', '-o', 'json'))['estate'])
      .to eq('gave up: exported/host/web1')
    expect(estate.exports.all('host')).to eq({})
  end
end
