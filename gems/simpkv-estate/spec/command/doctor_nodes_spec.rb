# frozen_string_literal: true

require_relative '../../../../spec/command/doctor_helper'
require_relative 'nodes_helper'

RSpec.describe 'simpkv doctor, with nodes' do
  include_context 'with doctor'
  include_context 'with nodes for the command'

  let(:puppet_conf) { File.join(folder, 'puppet.conf') }

  before do
    simpkv!('init')
    configure_puppet("[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv, store # both\n")
  end

  def configure_puppet(text)
    File.write(puppet_conf, text)
  end

  it 'finds no problem' do
    run('web1', exports: { 'host' => [host('web1')] })
    expect(findings).to eq([])
    shown = simpkv!('doctor')
    expect(shown).to match(%r{^ok +storeconfigs: simpkv, by /.*/puppet\.conf$})
      .and match(/^ok +reports: simpkv$/).and match(/^ok +nodes: 1 node, 5 documents$/)
  end

  describe 'in puppet.conf' do
    it 'finds settings that agents read, too' do
      configure_puppet("storeconfigs = true\n[main]\nstoreconfigs_backend = simpkv\n[master]\nreports=simpkv\n")
      expect(findings)
        .to contain_exactly(warning('storeconfigs', /agents read it too in #{puppet_conf}, and each would try to store/,
                                    /in the section \[server\]; for puppet apply, in \[user\]/))
      configure_puppet("[main]\nstoreconfigs = true\n[server]\nstoreconfigs_backend = simpkv\nreports = simpkv\n")
      expect(findings.map { |finding| finding['why'] }).to contain_exactly(/agents read it too/)
    end

    it 'takes settings of puppet apply' do
      configure_puppet("[user]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n")
      expect(findings).to eq([])
      configure_puppet("[user]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\n")
      expect(findings).to contain_exactly(warning('reports', /'store'/,
                                                  /'reports = simpkv,store' in the section \[user\]/))
    end

    it 'finds missing settings' do
      configure_puppet("[server]\nstoreconfigs_backend = simpkv\n")
      expect(findings).to contain_exactly(problem('storeconfigs', /storeconfigs is not set .* in #{puppet_conf}/,
                                                  /set 'storeconfigs = true' and 'storeconfigs_backend = simpkv'/))
      configure_puppet("[server]\nstoreconfigs = true\n")
      expect(findings).to contain_exactly(warning('storeconfigs', /storeconfigs_backend is 'puppetdb'/, /\[server\]/))
      configure_puppet("[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = http\n")
      expect(findings).to contain_exactly(warning('reports', /reports is 'http' in #{puppet_conf}: nodes have/,
                                                  /set 'reports = simpkv,http' in the section \[server\]/))
    end
  end

  # Doctor read puppet.conf only, and said that all was well.
  describe 'in routes.yaml' do
    def route(routes, file: File.join(folder, 'routes.yaml'))
      File.write(file, routes.to_yaml)
      findings
    end

    lost = { 'facts' => ['puppetdb', 'yaml', 'facts are not kept'],
             'catalog' => [nil, 'puppetdb', 'exported resources are not kept'],
             'resource' => ['ral', 'simpkv', 'collectors do not'],
             'report' => ['puppetdb', nil, 'reports are not kept'] }
    lost.each do |name, (terminus, cache, why)|
      it "finds a route of #{name} that keeps them from simpkv" do
        chosen = { 'terminus' => terminus, 'cache' => cache }.compact
        %w[server master].each do |application|
          expect(route({ application => { name => chosen } }))
            .to contain_exactly(problem('routes.yaml', /has the route #{name} of #{application} \(.*\), so that #{why}/,
                                        /remove the route #{name} of #{application}/))
        end
      end
    end

    it 'finds facts that go to another store, too' do
      expect(route({ 'server' => { 'facts' => { 'terminus' => 'puppetdb' } } }))
        .to contain_exactly(warning('routes.yaml', /\(terminus puppetdb\), so that facts are sent to puppetdb, too/,
                                    /remove the route facts/))
    end

    it 'takes the file of the setting, and the routes of puppet apply for its settings' do
      routes = { 'apply' => { 'facts' => { 'terminus' => 'facter', 'cache' => 'puppetdb_apply' } }, 'agent' => {} }
      expect(route(routes)).to eq([])
      configure_puppet("[main]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n" \
                       "route_file = $confdir/other\n[agent]\nstoreconfigs = false\n")
      expect(findings).to eq([])
      expect(route(routes, file: File.join(folder, 'other')))
        .to contain_exactly(problem('routes.yaml', %r{/other has the route facts of apply \(.*db_apply\)}, /remove/))
    end

    it 'finds nodes that are not looked up in simpkv' do
      configure_puppet("[server]\nstoreconfigs = true\nstoreconfigs_backend = simpkv\nreports = simpkv\n" \
                       "node_terminus = simpkv\n")
      expect(route({ 'server' => { 'node' => { 'terminus' => 'exec', 'cache' => 'simpkv' } } }))
        .to contain_exactly(problem('routes.yaml', /\(terminus exec, cache simpkv\), so that nodes/, /route node/))
    end

    it 'accepts routes to simpkv, and local ones' do
      [{ 'facts' => { 'terminus' => 'simpkv', 'cache' => 'yaml' } }, { 'facts' => { 'cache' => 'simpkv' } },
       { 'facts' => { 'terminus' => 'yaml', 'cache' => 'store_configs' }, 'file_content' => { 'terminus' => 'x' } },
       { 'catalog' => { 'terminus' => 'compiler', 'cache' => 'simpkv' }, 'report' => { 'terminus' => 'processor' } }]
        .each { |routes| expect(route({ 'server' => routes })).to eq([]) }
      expect(simpkv!('doctor')).to match(/^ok +routes.yaml: .* keeps nothing from simpkv$/)
    end

    it 'says that a file cannot be read' do
      File.write(File.join(folder, 'routes.yaml'), '{')
      expect(findings).to contain_exactly(include('state' => 'unknown', 'what' => 'routes.yaml', 'why' => /no YAML/))
    end
  end

  context 'without any node' do
    let(:site) { { 'backends' => backends } }

    it 'is silent about puppet.conf, unless that names simpkv' do
      configure_puppet("[main]\nserver = puppet\n")
      expect(findings).to eq([])
      expect(simpkv!('doctor')).not_to match(/storeconfigs|puppet\.conf/)
      configure_puppet("[server]\nstoreconfigs_backend = simpkv\n")
      expect(findings.map { |finding| finding['what'] }).to eq(%w[storeconfigs])
    end
  end

  it 'finds a wrong option' do
    estate_options['reports'] = 'pl4nted'
    configure
    expect(findings).to contain_exactly(problem('nodes', /simpkv\.yaml: 'reports' of 'estate' must be/,
                                                /correct .*yaml/))
    estate_options.replace('backend' => 'nosuch')
    configure
    expect(findings).to contain_exactly(problem('nodes', /'nosuch'/, /correct/))
  end

  # Nothing said so after an upgrade, and the loss of these folders was not noticed.
  it 'warns of an estate of an earlier version, which init completes' do
    estate.store.put('globals/estate/inventory/.estate', '{"value":{}}')
    folders = /catalogs, counters, inspections, node_cache, purged, reports\z/
    expect(findings).to contain_exactly(warning('nodes', folders,
                                                /\Asimpkv .*init --only estate\z/))
    simpkv!('init', '--only', 'estate')
    expect(findings).to eq([])
  end

  describe 'in the store' do
    before { run('web1', exports: { 'host' => [host('web1')] }) }

    # @return [void] runs the command of the finding, and expects that doctor finds no problem after the next run
    def mend(finding)
      simpkv!(*finding['fix'][/simpkv ([^,:]*)/, 1].split)
      run('web1', exports: { 'host' => [host('web1')] })
      expect(findings).to eq([])
    end

    it 'finds missing facts' do
      estate.store.delete('globals/estate/facts/web1')
      expect(findings).to contain_exactly(problem("facts of 'web1'", /missing, though the inventory names them/,
                                                  %r{simpkv rm -g estate/inventory/web1, .*: the next run of web1 }))
      mend(findings.first)
    end

    it 'finds a record that is none' do
      estate.store.put('globals/estate/inventory/web1', '{"value":"pl4nted"}')
      found = findings
      expect(found).to contain_exactly(
        problem("key 'globals/estate/inventory/web1'", /another form/, %r{simpkv rm -g estate/inventory/web1, or}),
        problem("exports of 'web1'", /the inventory does not name the type host/, /simpkv node deactivate web1/)
      )
      expect(found.to_s).not_to include('pl4nted')
      mend(found.first)
    end

    # Doctor left out all that it says about nodes.
    it 'finds documents that no node can have' do
      %w[inventory status].each { |subject| estate.store.put("globals/estate/#{subject}/x<y", '{"value":{}}') }
      expect(findings).to include(
        problem('nodes', %r{'x<y' cannot be the name of a key in 'globals/estate/inventory': }, /delete it by hand: /),
        problem('nodes', %r{'x<y' cannot be the name of a key in 'globals/estate/status': }, /delete it by hand: /)
      )
      %w[inventory status].each { |subject| estate.store.delete("globals/estate/#{subject}/x<y") }
      expect(findings).to eq([])
    end

    it 'finds a type that no key can have' do
      record = estate.inventory.get('web1')
      estate.inventory.put('web1', record.merge('exports' => record['exports'].merge('f' * 256 => nil)))
      expect(findings).to contain_exactly(
        problem("exports of 'web1'", /the inventory names the type f{100}\.\.\., which no key can have/,
                %r{simpkv rm -g estate/inventory/web1, or by hand: the next run of web1 stores it anew})
      )
      mend(findings.first)
    end

    # Such a node stayed silent for ever, and nothing told why.
    it 'finds times in the future' do
      estate.facts.save('web1', { 'x' => 1 }, produced: { 'producer_timestamp' => '2099-01-01T00:00:00Z' })
      run('web2', catalog_timestamp: '2099-01-01T00:00:00.5Z')
      estate.deactivate('web2', '2098-01-01T00:00:00Z')
      expect(findings).to match(%w[web1 web2].map do |name|
        problem("node '#{name}'", /times in the future/, /correct the clock .* simpkv node deactivate #{name} --purge,/)
      end)
      findings.each { |finding| simpkv!(*finding['fix'][/simpkv ([^,:]*)/, 1].split) }
      run('web1', exports: { 'host' => [host('web1')] })
      expect(findings).to eq([])
    end

    it 'finds exports that no record names' do
      estate.store.put('globals/estate/exported/host/gone', Simpkv::Codec.encode([host('gone')]))
      estate.store.put('globals/estate/exported/sshkey/web1', Simpkv::Codec.encode([host('web1')]))
      found = findings
      expect(found).to contain_exactly(
        problem("exports of 'gone'", /does not name the type host/,
                /simpkv node deactivate gone --purge, unless the node runs/),
        problem("exports of 'web1'", /does not name the type sshkey/, %r{simpkv rm -g estate/exported/sshkey/web1,})
      )
      simpkv!(*found.first['fix'][/simpkv ([^,:]*)/, 1].split)
      mend(found.last)
    end

    # Doctor found no problem, and no run mended it.
    it 'finds exports that are missing' do
      estate.store.delete('globals/estate/exported/host/web1')
      expect(findings).to contain_exactly(
        problem("exports of 'web1'", /those of type host are missing, though the inventory names/,
                %r{simpkv rm -g estate/inventory/web1, or by hand: the next run of web1 stores it anew})
      )
      mend(findings.first)
      expect(estate.exports.of('web1').keys).to eq(%w[host])
    end

    it 'finds exports that are not those of the last run' do
      [Simpkv::Codec.encode([host('pl4nted')]), '{"value":"pl4nted"}'].each do |document|
        estate.store.put('globals/estate/exported/host/web1', document)
        found = findings
        expect(found).to contain_exactly(
          problem("exports of 'web1'", /those of type host are not those that the inventory names/,
                  %r{simpkv rm -g estate/inventory/web1,})
        )
        expect(found.to_s).not_to include('pl4nted')
        mend(found.first)
      end
    end

    it 'finds no problem in exports that a save has not completed' do
      estate.inventory.update('web1') { |record| record.merge('exports' => { 'host' => nil }) }
      estate.store.delete('globals/estate/exported/host/web1')
      expect(findings).to eq([])
    end

    # Doctor read that a save was on its way, and reported that the facts were missing.
    it 'finds no problem if a save of facts begins meanwhile' do
      estate.store.delete('globals/estate/facts/web1')
      allow_any_instance_of(Simpkv::Estate::Inventory).to receive(:all).and_wrap_original do |all, *arguments, &block|
        all.call(*arguments, &block)
           .tap { estate.inventory.update('web1') { |record| record.merge('facts_digest' => nil) } }
      end
      expect(findings).to eq([])
    end

    it 'finds no problem if a node runs meanwhile' do
      allow_any_instance_of(Simpkv::Estate::Inventory).to receive(:all).and_wrap_original do |all, *arguments, &block|
        all.call(*arguments, &block).tap { run('web1', exports: { 'host' => [host('newer')] }) }
      end
      expect(findings).to eq([])
      expect(estate.exports.of('web1')['host'].first['title']).to eq('newer')
    end

    it 'names ten of many, and counts all' do
      12.times { |number| estate.store.put("globals/estate/exported/host/n#{number}", '{"value":[]}') }
      expect(findings.length).to eq(11)
      expect(findings.last).to problem('exports', /12 such documents, of which 10 are named/, /repair/)
    end

    # The remedy was to delete them. No run stored them again then.
    it 'names documents that cannot be read, and the command after which the next run stores them' do
      %w[facts/web1 exported/host/web1].each do |key|
        estate.store.put("globals/estate/#{key}", 'pl4nted')
        named = findings
        expect(named).to include(
          problem("key 'globals/estate/#{key}'", /corrupt/, %r{\Asimpkv rm -g estate/inventory/web1, .*web1 stores it}),
          problem('reading', /1 of \d+ keys cannot be read/, /repair/)
        )
        mend(named.first)
      end
    end

    it 'looks at the backend that estate names, unless the command line names another' do
      backends['nodes'] = { 'type' => 'file', 'id' => 'nodes', 'root_path' => File.join(folder, 'keys') }
      backends['default'] = { 'type' => 'file', 'id' => 'other', 'root_path' => File.join(folder, 'other') }
      estate_options['backend'] = 'nodes'
      configure
      simpkv!('init')
      Simpkv::Store.open('file', 'root_path' => File.join(folder, 'keys')).delete('globals/estate/facts/web1')
      expect(findings).to contain_exactly(problem("facts of 'web1'", /missing/, %r{simpkv -b nodes rm -g estate/inv}))
      expect(findings('-b', 'default')).to eq([])
      expect(findings('-b', 'nodes').length).to eq(1)
    end
  end
end
