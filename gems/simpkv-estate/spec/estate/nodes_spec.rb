# frozen_string_literal: true

require_relative 'exports_helper'
require_relative 'termini_helper'

RSpec.describe 'The terminus simpkv of nodes' do
  include EstateSite
  include EstateTermini

  let(:indirection) { Puppet::Node.indirection }
  let(:environments) do
    %i[production testing].map { |name| Puppet::Node::Environment.create(name, [modules]) }
  end
  let(:record) do
    { 'environment' => 'testing', 'classes' => { 'site' => { 'size' => 5 } }, 'parameters' => { 'role' => 'web' } }
  end

  around do |example|
    loader = Puppet::Environments::Static.new(*environments)
    Puppet.override(environments: loader, current_environment: environments.first) { example.run }
  end

  def find(certname = 'web1', **more)
    indirection.find(certname, environment: environments.first, facts: facts(certname), **more)
  end

  def facts(certname)
    Puppet::Node::Facts.new(certname, { 'os' => { 'name' => 'Debian' }, 'role' => 'from a fact' })
  end

  context 'as the main terminus' do
    before { route(:node, terminus: 'simpkv') }

    it 'gives the declared environment, classes and parameters, and the facts' do
      estate.nodes.declare('web1', record)
      node = find
      expect(node.environment.name).to eq(:testing)
      expect(node.classes).to eq('site' => { 'size' => 5 })
      expect(node.parameters).to include('role' => 'web', 'os' => { 'name' => 'Debian' }, 'environment' => 'testing')
      expect(node.facts).to eq(facts('web1'))
    end

    it 'compiles the declared classes with their parameters, and classes of a list' do
      add_manifest('site', 'class site($size = 1) { notify { "size $size $role": } }')
      add_manifest('site::more', 'class site::more { notify { "more $size2": } }')
      estate.nodes.declare('web1', record)
      estate.nodes.declare('web2', 'classes' => %w[site::more], 'parameters' => { 'size2' => [1] })
      compiled = %w[web1 web2].map do |certname|
        node = find(certname)
        Puppet.override(current_environment: node.environment) { Puppet::Parser::Compiler.compile(node) }
      end
      expect(compiled.map { |catalog| titles(catalog, 'Notify') }).to eq([['size 5 web'], ['more [1]']])
    end

    it 'gives a plain node in the requested environment for one that is not declared' do
      node = find('web2')
      request = indirection.request(:find, 'web2', nil, environment: environments.first, facts: facts('web2'))
      plain = indirection.terminus(:plain).find(request)
      %i[environment classes parameters].each { |name| expect(node.public_send(name)).to eq(plain.public_send(name)) }
    end

    it 'finds the facts, if it gets none' do
      route(:facts, terminus: :simpkv)
      estate.facts.save('web1', { 'cores' => 8 })
      expect(find(facts: nil).parameters).to include('cores' => 8)
    end

    it 'saves a found node as it was declared, without its facts' do
      estate.nodes.declare('web1', record.merge('scope' => 'rack1'))
      indirection.save(find)
      expect(estate.nodes.get('web1')).to eq(record.merge('scope' => 'rack1'))
    end

    it 'gives Sensitive values as such, and saves them as they were declared' do
      sensitive = record.merge('parameters' => { 'role' => 'web', 'a/b' => [{ 'key' => 's3cret' }] },
                               'classes' => { 'site' => { 'size' => 's3cret' }, 'list' => { 'one' => 1 } },
                               'sensitive' => %w[/classes/list /classes/site/size /parameters/a~1b/0/key /ports])
      estate.nodes.declare('web1', sensitive)
      node = find
      expect(node.parameters['a/b'].first['key'].unwrap).to eq('s3cret')
      expect([node.parameters, node.classes].to_s).not_to include('s3cret')
      expect(node.classes['list']['one'].unwrap).to eq(1)
      indirection.save(node)
      expect(estate.nodes.get('web1'))
        .to eq(sensitive.merge('sensitive' => %w[/classes/list /classes/list/one /classes/site/size
                                                 /parameters/a~1b/0/key /ports]))
    end

    it 'saves a new node as a declared record' do
      node = Puppet::Node.new('web3', classes: 'site', parameters: { 'rack' => :a }, environment: environments.last)
      indirection.save(node)
      expect(estate.nodes.get('web3')).to eq('classes' => %w[site], 'parameters' => { 'rack' => 'a' },
                                             'environment' => 'testing')
    end

    it 'searches all declared nodes, also of environments that are not here' do
      estate.nodes.declare('web2', 'environment' => 'elsewhere')
      estate.nodes.declare('web1', record)
      found = indirection.search('*')
      expect(found.map { |node| [node.name, node.environment_name] }).to eq([['web1', :testing], ['web2', :elsewhere]])
    end

    it 'deletes a declared record' do
      estate.nodes.declare('web1', record)
      indirection.destroy('web1')
      expect(estate.nodes.get('web1')).to be_nil
    end

    it 'names an environment that is not there' do
      estate.nodes.declare('web1', 'environment' => 'elsewhere')
      expect { find }.to raise_error(Puppet::Environments::EnvironmentNotFound, /elsewhere/)
    end

    it 'fails for a record that cannot be read, and shows nothing of it' do
      estate.nodes.declare('web1', record)
      spoil('nodes/web1')
      expect { find }.to raise_error(Puppet::Error) { |error|
        expect(error.message)
          .to start_with("simpkv estate: could not find the node 'web1': 'globals/estate/nodes/web1' cannot be read")
        expect(error.full_message + texts).not_to include('s3cret')
      }
      expect { indirection.search('*') }.to raise_error(Puppet::Error, %r{'globals/estate/nodes/web1' cannot be read})
    end

    it 'leaves a record of another form out of a search only with skip_undecodable, with a warning' do
      estate.nodes.declare('web1', record)
      estate.store.put('globals/estate/nodes/web2', '{"value":{"environment":["s3cret"]},"metadata":{}}')
      expect { indirection.search('*') }.to raise_error(Puppet::Error, %r{'globals/estate/nodes/web2' cannot be read})
      configure('skip_undecodable' => true)
      expect(indirection.search('*').map(&:name)).to eq(%w[web1])
      expect(warnings.grep(%r{left out 'globals/estate/nodes/web2'}).length).to eq(1)
      expect(texts).not_to include('s3cret')
    end

    it 'refuses a name that cannot be a key' do
      expect { find('web1/..') }.to raise_error(Puppet::Error, %r{could not find the node 'web1/..'})
    end

    # The section was ignored, and each node got its catalog.
    it 'refuses a node by a section beside simpkv::options' do
      file = File.join(scratch, 'simpkv.yaml')
      site = { 'simpkv::options' => { 'backends' => { 'default' => backend } },
               'estate' => { 'unknown_nodes' => 'refuse' } }
      File.write(file, site.to_yaml)
      Simpkv::Termini.instance_variable_set(:@estate, nil)
      expect { find('web9') }.to raise_error(Puppet::Error, /'unknown_nodes' of 'estate' is 'refuse'/)
      expect(warnings).to eq([])
      File.write(file, site.merge('estat' => {}).to_yaml)
      Simpkv::Termini.instance_variable_set(:@estate, nil)
      expect { find('web9') }.to raise_error(Puppet::Error, /is 'refuse'/)
      expect(warnings)
        .to eq(["simpkv estate: Unknown option 'estat' in simpkv configuration: did you mean 'estate'?"])
    end

    context 'with unknown_nodes: refuse' do
      let(:site_options) { { 'unknown_nodes' => 'refuse' } }

      it 'fails for a node that is not declared, with the command that declares it' do
        expect { find('web2') }.to raise_error(Puppet::Error) { |error|
          expect(error.message).to eq("simpkv estate: could not find the node 'web2': it is not declared, and " \
                                      "the option 'unknown_nodes' of 'estate' is 'refuse': declare it with " \
                                      "'simpkv node declare web2'")
        }
      end

      it 'finds a declared node, even one without members' do
        estate.nodes.declare('web1', {})
        expect(find.classes).to eq([])
      end
    end

    context 'if the backend fails' do
      let(:backend) { { 'type' => 'ldap', 'id' => 'estate', 'ldap_uri' => 'ldapi://%2Fnowhere', 'retries' => 0 } }

      it 'fails' do
        expect { find }.to raise_error(Puppet::Error, /could not find the node 'web1': .*nowhere/)
      end

      context 'with soft: true' do
        let(:site_options) { { 'soft' => true } }

        it 'fails too, because the catalog would lack the classes of the node' do
          expect { find }.to raise_error(Puppet::Error, /could not find the node 'web1'/)
        end
      end
    end
  end

  context 'as the cache of another terminus' do
    before { route(:node, terminus: :plain, cache: 'simpkv') }

    it 'keeps the answer of that terminus, without facts, beside the declared record' do
      estate.nodes.declare('web1', record)
      node = find
      expect(node.classes).to eq([])
      expect(estate.nodes.get('web1')).to eq(record)
      expect(estate.nodes.cached('web1')).to eq('environment' => 'production', 'classes' => [], 'parameters' => {})
    end

    it 'writes nothing if the answer is the same' do
      find
      before = files
      find
      expect(files).to eq(before)
    end

    it 'never answers in its place, unless Puppet asks the cache alone' do
      estate.nodes.cache('web1', 'classes' => ['outdated'])
      expect(find(ignore_terminus: true).classes).to eq(['outdated'])
      expect(find.classes).to eq([])
    end

    it 'is not expired by new facts' do
      route(:facts, terminus: :simpkv)
      find
      before = files['node_cache/web1']
      Puppet::Node::Facts.indirection.save(Puppet::Node::Facts.new('web1', { 'a' => 1 }))
      expect(files['node_cache/web1']).to eq(before)
    end

    it 'deletes the kept answer only' do
      estate.nodes.declare('web1', record)
      find
      indirection.cache.destroy(indirection.request(:destroy, 'web1', nil))
      expect([estate.nodes.cached('web1'), estate.nodes.get('web1')]).to eq([nil, record])
    end
  end
end
