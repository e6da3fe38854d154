# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'

RSpec.describe 'The terminus simpkv of facts' do
  include EstateSite
  include EstateTermini

  let(:indirection) { Puppet::Node::Facts.indirection }
  let(:values) { { 'os' => { 'name' => 'Debian', 'release' => { 'major' => '12' } }, 'cores' => 8, 'virtual' => true } }

  def save(certname, values, options = {})
    indirection.save(Puppet::Node::Facts.new(certname, values), nil, options)
  end

  def stored(certname)
    estate.facts.find(certname)['values']
  end

  # Each as the settings of Puppet make it.
  { 'the main terminus' => { terminus: :simpkv }, 'the main terminus of routes.yaml' => { terminus: 'simpkv' },
    'the cache of another store' => { terminus: :memory, cache: :simpkv },
    'the cache of another store in routes.yaml' => { terminus: 'memory', cache: 'simpkv' },
    'the backend of storeconfigs' => { terminus: :memory, cache: :store_configs } }.each do |place, termini|
    context "as #{place}" do
      before { route(:facts, **termini) }

      it 'finds what was saved' do
        save('web1', values, { environment: Puppet::Node::Environment.create(:dev, []) })
        # A new store in memory has nothing.
        indirection.termini.clear
        found = indirection.find('web1')
        expect(found.values).to eq(values)
        expect(found.name).to eq('web1')
        expect(Time.now - found.timestamp).to be_between(0, 600)
        expect(estate.inventory.get('web1')['environment']).to eq('dev')
        expect(estate.facts.find('web1'))
          .to include('producer' => Puppet[:certname], 'producer_timestamp' => match(/\.\d{3}Z\z/))
      end

      it 'finds nothing of another node' do
        save('web1', values)
        expect(indirection.find('web2')).to be_nil
        expect(estate.inventory.get('web1')).not_to include('environment')
      end

      it 'deletes the facts of a node, and stores them again when they are saved again' do
        save('web1', values)
        indirection.destroy('web1')
        expect(estate.facts.find('web1')).to be_nil
        save('web1', values)
        expect(stored('web1')).to eq(values)
      end
    end
  end

  context 'as the cache of facter' do
    before { route(:facts, terminus: :facter, cache: :store_configs) }

    it 'stores what facter finds, and is never read in its place' do
      Puppet[:certname] = 'web1'
      estate.facts.save('web1', { 'os' => 'outdated', 'more' => 1 })
      found = indirection.find('web1').values
      expect(found['os']).to include('family' => a_kind_of(String))
      expect(found).not_to include('more')
      expect(stored('web1')['os']['family']).to eq(found['os']['family'])
    end

    # They had replaced the facts of that node.
    it 'stores no facts of this machine under the name of another node' do
      Puppet[:certname] = 'web2'
      estate.facts.save('web1', { 'os' => 'of web1' })
      before = files
      expect(indirection.find('web1').values['os']).to include('family' => a_kind_of(String))
      expect(files).to eq(before)
    end

    # The commands of an operator on a server, of which two run in the mode of a server.
    { 'node find' => %w[node find web1],
      'lookup --node' => %w[lookup nothing --default none --node web1 --facts_terminus facter],
      'catalog compile' => %w[catalog compile web1] }.each do |command, arguments|
      it "keeps the facts of a node if an operator runs puppet #{command} for it", needs: :mri do
        estate.facts.save('web1', { 'os' => 'of web1' }, trusted: { 'certname' => 'web1' })
        before = estate.facts.find('web1')
        puppet(*arguments, '--storeconfigs', '--storeconfigs_backend', 'simpkv')
        expect(estate.facts.find('web1')).to eq(before)
      end
    end

    it 'stores the facts of puppet apply under its certname', needs: :mri do
      Dir.mktmpdir('simpkv-state') do |statedir| # Puppet cannot replace its state files in memory.
        puppet('apply', '-e', '', '--certname', 'web1', '--statedir', statedir, '--storeconfigs',
               '--storeconfigs_backend', 'simpkv')
      end
      expect(stored('web1')['os']).to include('family' => a_kind_of(String))
    end

    it 'is read if Puppet asks the cache alone' do
      estate.facts.save('web1', { 'os' => 'stored' })
      expect(indirection.find('web1', ignore_terminus: true).values).to eq('os' => 'stored')
    end
  end

  context 'as the main terminus' do
    before { route(:facts, terminus: :simpkv) }

    it 'stores no facts of the blocklist, by its default' do
      save('web1', values.merge('uptime' => '1 day', 'system_uptime' => { 'seconds' => 5 },
                                'memory' => { 'system' => { 'total_bytes' => 7, 'used_bytes' => 3 } }))
      expect(stored('web1').keys).not_to include('uptime', 'system_uptime')
      expect(stored('web1')['memory']['system']).to eq('total_bytes' => 7)
    end

    it 'removes facts by globs for dotted names' do
      configure('facts_blocklist' => %w[os.*.major ssh* {cores,virtual}])
      save('web1', values.merge('ssh' => { 'rsa' => 'x' }, 'sshkey' => 'y', 'is_ssh' => true))
      expect(stored('web1')).to eq('os' => { 'name' => 'Debian', 'release' => {} }, 'is_ssh' => true)
    end

    it 'writes nothing if no fact has changed, whatever the order' do
      save('web1', values)
      before = files
      save('web1', values.to_a.reverse.to_h)
      expect(files).to eq(before)
    end

    it 'writes facts that have changed, and their time' do
      save('web1', values)
      save('web1', values.merge('cores' => 9))
      expect(stored('web1')['cores']).to eq(9)
    end

    it 'converts values that are not plain data' do
      secret = Puppet::Pops::Types::PSensitiveType::Sensitive.new('s3cret')
      save('web1', 'symbol' => :a, 'time' => Puppet::Pops::Time::Timestamp.from_hash({ 'string' => '2026-11-23' }),
                   'latin1' => "gr\xFC\xDF".dup.force_encoding('ISO-8859-1'), 'broken' => "a\xFFb",
                   'bytes' => "\xC3\xBC\xFF".b, 'nan' => Float::NAN, 1 => { nil => [:b, "\xFE"] }, 'secret' => secret,
                   'large' => 2**70, 'none' => nil)
      expect(stored('web1'))
        .to include('symbol' => 'a', 'time' => start_with('2026-11-23T00:00:00'), 'latin1' => 'grüß',
                    'broken' => "a\uFFFDb", 'bytes' => "ü\uFFFD", 'nan' => 'NaN', '1' => { '' => ['b', "\uFFFD"] },
                    'large' => 2**70, 'none' => nil)
      expect(files.values.join).not_to include('s3cret')
      expect(texts).not_to include('s3cret')
    end

    it 'changes nothing in the facts that Puppet compiles with' do
      facts = Puppet::Node::Facts.new('web1', { 'a' => :symbol, 'trusted' => 'x' })
      indirection.save(facts)
      expect(facts.values).to eq('a' => :symbol, 'trusted' => 'x')
    end

    it 'refuses a node name that cannot be a key' do
      expect { save('a/b', values) }
        .to raise_error(Puppet::Error, %r{simpkv estate: could not save the facts of 'a/b': .*'/'})
      expect { save('a b', values) }.to raise_error(Puppet::Error, /could not save the facts of 'a b'/)
    end

    it 'names a document that cannot be read, and shows nothing of it' do
      save('web1', values)
      spoil('facts/web1')
      expect { indirection.find('web1') }.to raise_error(Puppet::Error) { |error|
        expect(error.message)
          .to start_with("simpkv estate: could not read the facts of 'web1': 'globals/estate/facts/web1' cannot be")
        expect(error.full_message + texts).not_to include('s3cret')
      }
    end

    it 'stores facts over documents that cannot be read' do
      save('web1', values)
      spoil('facts/web1')
      spoil('inventory/web1')
      save('web1', values)
      expect(stored('web1')).to eq(values)
    end

    { 'an inventory that is a list' => '{"value":[1],"metadata":{}}',
      'an inventory with other members' => '{"value":{"facts_digest":{},"seen":7},"metadata":{}}' }.each do |what, text|
      it "stores facts over #{what}" do
        estate.store.put('globals/estate/inventory/web1', text)
        save('web1', values)
        expect(stored('web1')).to eq(values)
        expect(estate.inventory.get('web1')['facts']).to include('os.name' => 'Debian')
      end
    end
  end

  describe 'trusted facts' do
    before { route(:facts, terminus: :simpkv) }

    def with_certificate(certname, &block)
      trusted = Puppet::Context::TrustedInformation.new('remote', certname, { 'pp_role' => 'web' })
      Puppet.override({ trusted_information: trusted }, &block)
    end

    it 'are those of the request, and come back as the fact trusted' do
      with_certificate('web1') { save('web1', values) }
      expect(estate.facts.find('web1')['trusted'])
        .to include('certname' => 'web1', 'extensions' => { 'pp_role' => 'web' })
      expect(indirection.find('web1').values['trusted']).to include('authenticated' => 'remote')
    end

    # An operator's process has no trusted facts of its own.
    it 'are those of puppet lookup for that node', needs: :mri do
      with_certificate('web1') { save('web1', values) }
      expect(lookup('web1')).to eq("role web, os Debian, by remote\n")
    end

    it 'are not those of another node' do
      with_certificate('admin') { save('web1', values) }
      expect(estate.facts.find('web1')).not_to have_key('trusted')
    end

    it 'are never a fact that the node sends' do
      sent = { 'authenticated' => 'remote', 'certname' => 'admin', 'extensions' => {} }
      save('web1', values.merge('trusted' => sent))
      expect(indirection.find('web1').values).to eq(values)
    end
  end

  # Runs the application, with a key that shows facts.
  def lookup(certname)
    FileUtils.mkdir_p(File.join(scratch, 'hiera'))
    File.write(File.join(scratch, 'hiera.yaml'), { 'version' => 5, 'hierarchy' => [
      { 'name' => 'all', 'path' => 'all.yaml', 'datadir' => 'hiera', 'data_hash' => 'yaml_data' }
    ] }.to_yaml)
    shown = 'role %{trusted.extensions.pp_role}, os %{facts.os.name}, by %{trusted.authenticated}'
    File.write(File.join(scratch, 'hiera/all.yaml'), { 'shown' => shown }.to_yaml)
    puppet('lookup', 'shown', '--node', certname, '--facts_terminus', 'simpkv', '--render-as', 's',
           '--hiera_config', File.join(scratch, 'hiera.yaml'))
  end

  describe 'a search' do
    before do
      route(:facts, terminus: :simpkv)
      save('web1', values)
      save('web2', values.merge('cores' => 16, 'fqdn' => 'web2.example.com', 'disks' => [{ 'size' => 10 }]))
    end

    { {} => %w[web1 web2], { 'facts.cores.eq' => '8' } => %w[web1], { 'facts.cores' => '8' } => %w[web1],
      { 'facts.cores.ne' => '8' } => %w[web2], { 'facts.cores.lt' => '16' } => %w[web1],
      { 'facts.cores.le' => '16' } => %w[web1 web2], { 'facts.cores.gt' => '8' } => %w[web2],
      { 'facts.cores.ge' => '8' } => %w[web1 web2], { 'facts.virtual.eq' => 'true' } => %w[web1 web2],
      { 'facts.os.name.eq' => 'Debian' } => %w[web1 web2], { 'facts.os.release.major.lt' => '12' } => [],
      { 'facts.os.release.major' => '12', 'facts.cores.gt' => '8' } => %w[web2],
      { 'facts.disks.0.size.eq' => '10' } => %w[web2], { 'facts.missing.ne' => 'x' } => [],
      { 'meta.timestamp.gt' => '2020-01-01' } => %w[web1 web2], { 'meta.timestamp.lt' => '2020-01-01' } => [],
      { 'other.thing' => '1' } => [] }.each do |options, names|
      it "for #{options} finds #{names}" do
        expect(indirection.search('*', options)).to eq(names)
      end
    end

    it 'finds the same as the terminus yaml of Puppet, for names without dots' do
      Puppet[:yamldir] = Puppet[:clientyamldir] = Dir.mktmpdir('yaml', scratch)
      yaml = indirection.terminus(:yaml)
      %w[web1 web2].each { |name| yaml.save(indirection.request(:save, name, indirection.find(name))) }
      [{ 'facts.cores.eq' => '8' }, { 'facts.cores.ne' => '8' }, { 'facts.cores.lt' => '9' },
       { 'facts.fqdn.ne' => 'x' }, { 'meta.timestamp.lt' => '2020-01-01' },
       { 'facts.cores' => '8', 'facts.virtual' => 'true' }].each do |options|
        expect(indirection.search('*', options))
          .to match_array(yaml.search(indirection.request(:search, '*', nil, options)))
      end
    end

    it 'fails for a document that cannot be read, or leaves it out with skip_undecodable and a warning' do
      spoil('facts/web1')
      expect { indirection.search('*', {}) }
        .to raise_error(Puppet::Error, %r{search the facts: 'globals/estate/facts/web1' cannot be read})
      configure('skip_undecodable' => true)
      expect(indirection.search('*', {})).to eq(%w[web2])
      expect(warnings.grep(%r{left out 'globals/estate/facts/web1'}).length).to eq(1)
      expect(texts).not_to include('s3cret')
    end
  end

  context 'if the backend fails' do
    let(:backend) { { 'type' => 'ldap', 'id' => 'estate', 'ldap_uri' => 'ldapi://%2Fnowhere', 'retries' => 0 } }

    before { route(:facts, terminus: :simpkv) }

    it 'fails with one error that names the step' do
      expect { save('web1', values) }
        .to raise_error(Puppet::Error, /\Asimpkv estate: could not save the facts of 'web1': .*nowhere/)
      expect { indirection.find('web1') }.to raise_error(Puppet::Error, /could not read the facts of 'web1'/)
      expect { indirection.search('*', {}) }.to raise_error(Puppet::Error, /could not search the facts/)
    end

    context 'with soft: true' do
      let(:site_options) { { 'soft' => true } }

      it 'warns only' do
        save('web1', values)
        expect(indirection.find('web1')).to be_nil
        expect(indirection.search('*', {})).to eq([])
        expect(warnings.grep(/\Asimpkv estate: could not/).length).to eq(3)
      end
    end
  end
end
