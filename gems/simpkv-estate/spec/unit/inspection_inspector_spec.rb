# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/inspection'
require_relative '../support/estate_files'
require_relative '../support/rule_helpers'

RSpec.describe Simpkv::Inspection::Inspector do
  include RuleHelpers

  include_context 'with an estate in files'

  let(:options) { { 'unknown_nodes' => 'discover' } }
  let(:facts) do
    { 'hostname' => 'web7', 'vendor' => 'ACME',
      'networking' => { 'interfaces' => { 'lo' => { 'ip' => '127.0.0.1' }, 'eth1' => { 'mac' => '52:54:00:00:00:02' },
                                          'eth0' => { 'mac' => '52:54:00:00:00:01', 'ip' => '192.0.2.7' } } } }
  end
  let(:ports) do
    [{ 'name' => 'eth0', 'mac' => '52:54:00:00:00:01' }, { 'name' => 'eth1', 'mac' => '52:54:00:00:00:02' }]
  end

  def perform(certname = 'web7', within: estate, **more)
    described_class.of(within, []).perform(certname, facts, **more)
  end

  def refusal(*arguments, **more)
    perform(*arguments, **more).refusal
  end

  # @return [Hash{String => Array}] content and inode of each document: a write makes another file
  def documents
    folder = File.join(root, 'globals/estate')
    Dir.glob('**/*', base: folder).reject { |path| File.directory?(File.join(folder, path)) }.to_h do |path|
      [path, [File.read(File.join(folder, path)), File.stat(File.join(folder, path)).ino]]
    end
  end

  it 'does not exist without rules, unless nodes are discovered' do
    expect(described_class.of(open_estate, [])).to be_nil
    expect(described_class.of(open_estate('unknown_nodes' => 'refuse'), [])).to be_nil
    expect(described_class.of(estate, [])).to be_a(described_class)
    rule('set-attribute', '/parameters/role', 'web')
    expect(described_class.of(open_estate, [])).to be_a(described_class)
  end

  it 'gives a declared node what matching rules say, and stores the outcome beside the record' do
    estate.nodes.declare('web7', 'parameters' => { 'rack' => 12 })
    matching = rule('set-attribute', '/parameters/role', '{inventory.hostname}', description: 'role',
                                                                                 conditions: [condition('eq', 1, 1)])
    rule('set-attribute', '/parameters/role', 'db', conditions: [condition('eq', 1, 2)])
    record = { 'parameters' => { 'rack' => 12, 'role' => 'web7' }, 'ports' => ports }
    expect(perform.to_h).to include(known: :declared, record: record, failed: nil, error: nil, effects: [],
                                    rules: [include('uuid' => matching['uuid'], 'description' => 'role')])
    expect(estate.nodes.get('web7')).to eq('parameters' => { 'rack' => 12 })
    expect(estate.inspections.get('web7'))
      .to match('rules' => [matching['uuid']], 'record' => record, 'changed_at' => match(/\A\d{4}-.*Z\z/))
  end

  it 'rounds integers of facts beyond 64 bits, and leaves out members whose names have a NUL' do
    facts['sizes'] = { 'list' => [2**63, -(2**63), 10**30], "a\0b" => 1, 'text' => "a\0b" }
    rule('set-attribute', '/parameters/sizes', '{inventory.sizes}')
    expect(perform.record['parameters']['sizes'])
      .to eql('list' => [2.0**63, -(2**63), 1e30], 'text' => "a\0b")
  end

  it 'shows rules the name and the interfaces of the node, but keeps the ports that are declared' do
    declared = [{ 'uuid' => '6f0c9a52-3c4e-4a5f-9f0e-2f6a3c1d7b90' }]
    estate.nodes.declare('web8', 'ports' => declared)
    rule('set-attribute', '/parameters/seen', ['{node.name}', '{node.ports[0]}', '{ports}'])
    expect(perform.record['parameters']).to eq('seen' => ['web7', ports.first, ports])
    expect(perform('web8').record).to include('parameters' => { 'seen' => ['web8', *declared, declared] },
                                              'ports' => declared)
  end

  it 'shows rules members that a record lacks, and classes as a Hash (they were missing names, and lists)' do
    record = { 'classes' => %w[ntp], 'environment' => nil }
    [[record, false, { 'ntp' => {} }], [{ 'classes' => { 'ntp' => nil } }, false, { 'ntp' => {} }], [{}, false, {}],
     [nil, true, {}]].each_with_index do |(declared, discovered, classes), index|
      estate.nodes.declare("web#{index}", declared) if declared
      empty = %w[{node.parameters} {node.attributes}].map { |name| condition('is-empty', name) }
      rules = [{ 'conditions' => [condition('eq', '{node.auto_discovered}', discovered), *empty],
                 'actions' => [condition('set-attribute', '/parameters/seen', '{node.classes}')] }]
      inspection = described_class.new(estate, Simpkv::Native::Rules.new(JSON.generate('rules' => rules)))
      expect(inspection.perform("web#{index}", facts, save: false).record)
        .to eq({ 'parameters' => { 'seen' => classes }, 'ports' => ports }
                 .merge(classes.empty? ? {} : { 'classes' => classes })
                 .merge(discovered ? { 'auto_discovered' => true } : {}))
    end
  end

  it 'sets a parameter of a class of a record that lists classes (a rule could not be applied)' do
    estate.nodes.declare('web7', 'classes' => %w[ntp])
    rule('set-attribute', '/classes/ntp/servers', ['ntp1'])
    expect(perform.record['classes']).to eq('ntp' => { 'servers' => ['ntp1'] })
  end

  it 'has no ports if the facts have no interfaces' do
    [{}, { 'networking' => 1 }, { 'networking' => { 'interfaces' => [1] } },
     { 'networking' => { 'interfaces' => { 'eth0' => 1, 'eth1' => { 'mac' => 2 } } } }].each do |facts|
      expect(described_class.of(estate, []).perform('web7', facts, save: false).record['ports']).to eq([])
    end
  end

  it 'writes nothing if a second inspection has the same outcome' do
    # With a field, because Ruby 2.6 takes an empty Hash for options.
    rule('set-attribute', '/classes/base', {}, priority: 0)
    rule('extend-attribute', '/parameters/tags', '{inventory.vendor}')
    rule('set-port-attribute', '{ports[0].mac}', '/switch', 'a1')
    estate.nodes.declare('web8', 'classes' => %w[ntp])
    %w[web7 web8].each do |certname|
      first = perform(certname)
      before = documents
      allow(Simpkv::Versions).to receive(:now).and_return(Time.now.utc + 60)
      expect(perform(certname).record).to eq(first.record)
      expect(documents).to eq(before)
    end
    expect(estate.nodes.get('web7')).to include('classes' => { 'base' => {} }, 'parameters' => { 'tags' => %w[ACME] })
  end

  it 'replaces an outcome that cannot be read' do
    rule('set-attribute', '/parameters/role', 'web')
    ['s3cret', '{"value":["s3cret"],"metadata":{}}'].each do |document|
      estate.store.put('globals/estate/inspections/web7', document)
      expect(perform.record['parameters']).to eq('role' => 'web')
      expect(estate.inspections.get('web7')['record']['parameters']).to eq('role' => 'web')
    end
  end

  it 'stores nothing without `save`' do
    rule('set-attribute', '/parameters/role', 'web')
    before = documents
    expect(perform(save: false).to_h).to include(known: :discovered, record: include('auto_discovered' => true))
    expect(documents).to eq(before)
  end

  it 'passes the settings of the configuration to the rules' do
    settings = { 'mask_secrets' => 'never', 'default_scope' => 'lab' }
    other = open_estate(options.merge('inspection_rules' => settings))
    rule('set-attribute', '/parameters/token', '{inventory.api_token}')
    facts['api_token'] = 'plain'
    expect(perform(within: other).record).not_to have_key('parameters')
    estate.nodes.declare('web8', 'scope' => 'lab')
    expect(perform('web8', within: other).record['parameters']).to eq('token' => 'plain')
    expect(perform('web8').record['parameters']).to eq('token' => '******')
  end

  # The default scope used to apply to built-in rules as well.
  it 'applies built-in rules without a scope to all nodes' do
    file = File.join(root, 'built_in.yaml')
    action = { 'op' => 'set-attribute', 'args' => ['/parameters/built_in', true] }
    File.write(file, [{ 'description' => 'for all', 'actions' => [action] }].to_yaml)
    rule('set-attribute', '/parameters/stored', true)
    other = open_estate(options.merge('inspection_rules' => { 'default_scope' => 'lab', 'built_in' => file }))

    expect(perform(within: other).record['parameters']).to eq('built_in' => true)
  end

  it 'shows the port groups of the record to rules, and an empty list without them' do
    rule('set-attribute', '/parameters/groups', '{port_groups}')
    estate.nodes.declare('web8', 'port_groups' => [{ 'name' => 'bond0' }])

    expect(perform.record).to include('parameters' => { 'groups' => [] })
    expect(perform.record).not_to have_key('port_groups')
    expect(perform('web8').record).to include('parameters' => { 'groups' => [{ 'name' => 'bond0' }] },
                                              'port_groups' => [{ 'name' => 'bond0' }])
  end

  describe 'of a node without a record' do
    before { rule('set-attribute', '/parameters/role', 'web') }

    it 'declares the first outcome with `discover`' do
      discovered = { 'auto_discovered' => true, 'parameters' => { 'role' => 'web' }, 'ports' => ports }
      expect(perform.to_h).to include(known: :discovered, record: discovered)
      expect(estate.nodes.get('web7')).to eq(discovered)
      expect(perform.known).to be(:declared)
    end

    it 'gives the record the scope of the option' do
      other = open_estate(options.merge('inspection_rules' => { 'inspection_scope' => 'new' }))
      action = { 'op' => 'set-attribute', 'args' => ['/parameters/new', 1] }
      Simpkv::Inspection::Rules.of(estate).create('scope' => 'new', 'actions' => [action])

      expect(perform(within: other).record['scope']).to eq('new')
      expect(perform(within: other).record['parameters']).to eq('role' => 'web', 'new' => 1)
      expect(estate.nodes.get('web7')).to include('scope' => 'new')
      estate.nodes.declare('web8', {})
      expect(perform('web8', within: other).record).not_to have_key('scope')
    end

    it 'keeps what it has declared when the rules change' do
      perform
      Simpkv::Inspection::Rules.of(estate).delete_all
      rule('set-attribute', '/parameters/rack', 12)
      expect(perform.record['parameters']).to eq('role' => 'web', 'rack' => 12)
      expect(estate.nodes.get('web7')['parameters']).to eq('role' => 'web')
    end

    it 'declares nothing with `accept`' do
      expect(perform(within: open_estate).to_h)
        .to include(known: :unknown, record: { 'parameters' => { 'role' => 'web' }, 'ports' => ports })
      expect(estate.nodes.all).to eq({})
    end

    it 'fails with `refuse`, after the rules of phase early' do
      other = open_estate('unknown_nodes' => 'refuse')
      expect { perform(within: other) }.to raise_error(Simpkv::NotFoundError, /it is not declared/)
      rule('fail', 'early', phase: 'early')
      expect(refusal(within: other).message).to end_with(': early')
    end

    # Before the inspection stores the record, another compiler does.
    it 'goes on with the record of another compiler that was faster' do
      faster = { 'auto_discovered' => true, 'parameters' => { 'rack' => 1 } }
      slow = open_estate(options, 3 => -> { estate.nodes.declare('web7', faster) })
      expect(perform(within: slow).to_h)
        .to include(known: :declared, record: include('parameters' => { 'rack' => 1, 'role' => 'web' }))
      expect(estate.nodes.get('web7')).to eq(faster)
    end

    it 'declares one record if many threads discover it' do
      rule('extend-attribute', '/parameters/tags', 'new')
      ready = Queue.new
      threads = Array.new(8) do
        Thread.new do
          inspection = described_class.of(open_estate(options), [])
          ready.pop
          inspection.perform('web7', facts).record
        end
      end
      threads.length.times { ready << true }
      expect(threads.map(&:value).uniq).to eq([estate.nodes.get('web7')])
      expect(estate.nodes.get('web7')['parameters']).to eq('role' => 'web', 'tags' => %w[new])
    end
  end

  describe 'that fails' do
    it 'says which rule has refused the node and why, and discovers nothing' do
      refusing = rule('fail', 'vendor {inventory.vendor} is unknown', description: 'known vendors', priority: 1)
      later = rule('set-attribute', '/parameters/role', 'web')
      outcome = perform
      expect(outcome.refusal).to be_a(Simpkv::RefusedError)
      expect(outcome.refusal.message)
        .to eq("refused by the rule #{refusing['uuid']} ('known vendors'): vendor ACME is unknown")
      expect(outcome.rules.map { |each| each['uuid'] }).not_to include(later['uuid'])
      expect(estate.nodes.all).to eq({})
      expect(estate.inspections.get('web7'))
        .to include('rules' => [refusing['uuid']],
                    'failed' => { 'rule' => refusing['uuid'], 'description' => 'known vendors',
                                  'msg' => 'vendor ACME is unknown' })
    end

    it 'says which field of a rule was wrong' do
      wrong = rule('set-attribute', '/parameters/role', '{inventory.nothing}')
      expect(refusal.message)
        .to match(/\Athe rule #{wrong['uuid']}: actions\[0\]\.args.*: there is no 'inventory\.nothing'/)
      expect(estate.inspections.get('web7')).to include('error' => include('rule' => wrong['uuid']))
      expect(estate.nodes.all).to eq({})
    end

    it 'says no more than that for a sensitive rule' do
      secret = rule('fail', 's3cret {inventory.vendor}', description: 'terse', sensitive: true)
      expect(refusal.message).to eq("refused by the rule #{secret['uuid']} ('terse')")
      Simpkv::Inspection::Rules.of(estate).delete_all
      secret = rule('set-attribute', '/parameters/s3cret', '{inventory.s3cret}', sensitive: true)
      expect(refusal.message)
        .to eq("the rule #{secret['uuid']} cannot be applied. It is sensitive, so the reason is not shown")
      expect(documents.slice('inspections/web7').to_s).not_to match(/s3cret|ACME/)
    end

    it 'refuses a class with a name that Puppet would refuse at each compile' do
      rule('set-attribute', '/classes/s3cret name', { 'port' => 80 })
      expect { perform }.to raise_error(Simpkv::InvalidError, "the rules give it an invalid record: 'classes' must " \
                                                              'have names of classes, such as role::web')
      expect(estate.nodes.all).to eq({})
    end

    it 'names the rule and the parameter whose name Puppet reserves' do
      named = rule('set-attribute', '/parameters/{inventory.name}', 1, description: 'names')
      facts['name'] = 'trusted'
      expect(refusal.message).to eq("the rule #{named['uuid']} ('names'): actions[0].args[0]: a node cannot have the " \
                                    "parameter 'trusted': Puppet sets it itself")
    end

    it 'names the declared record if the engine cannot read that' do
      rule('log', 'x')
      [{ "a\0b" => 1 }, { 'a' => [2**63] }].each do |parameters|
        estate.store.put('globals/estate/nodes/web7', Simpkv::Codec.encode('parameters' => parameters))
        expect { perform }.to raise_error(Simpkv::InvalidError, 'its declared record has a name with a NUL, or a ' \
                                                                'number beyond 64 bits')
      end
    end

    it 'names the parameter of a declared record whose name Puppet reserves' do
      rule('log', 'x')
      estate.store.put('globals/estate/nodes/web7', '{"value":{"parameters":{"server_facts":"s3cret"}}}')
      expect { perform }
        .to raise_error(Simpkv::InvalidError, "its declared record is invalid: 'parameters': a node cannot have the " \
                                              "parameter 'server_facts': Puppet sets it itself")
    end

    it 'names the wrong member of a record that rules have made' do
      rule('set-attribute', '/environment', 's3cret value')
      expect { perform }.to raise_error(Simpkv::InvalidError) { |e|
        expect(e.message).to match(/\Athe rules give it an invalid record: 'environment' must be/)
        expect(e.message).not_to include('s3cret')
      }
      expect(estate.nodes.all).to eq({})
    end

    it 'names a rule that cannot be read, or is invalid' do
      stored = rule('set-attribute', '/parameters/role', 'web')
      key = "globals/estate/rules/#{stored['uuid']}"
      estate.store.put(key, 's3cret')
      expect { perform }.to raise_error(Simpkv::MalformedError, /#{key}/)
      unknown = stored.merge('actions' => [{ 'op' => 'announce', 'args' => ['s3cret'] }])
      estate.store.put(key, Simpkv::Codec.encode(unknown))
      expect { perform }.to raise_error(Simpkv::InvalidError) { |e|
        expect(e.message).to match(/#{stored['uuid']}.*actions\[0\]\.op/)
        expect(e.message).not_to include('s3cret')
      }
    end

    it 'names a record that cannot be read' do
      rule('set-attribute', '/parameters/role', 'web')
      estate.store.put('globals/estate/nodes/web7', '{"value":{"classes":"s3cret"},"metadata":{}}')
      expect { perform }.to raise_error(Simpkv::MalformedError, %r{globals/estate/nodes/web7.*'classes' must be})
    end
  end

  describe 'with sensitive rules' do
    let(:psk) { 'pl4nted-psk' }

    before do
      rule('set-plugin-data', '/psk', psk, phase: 'early', sensitive: true)
      rule('set-attribute', '/parameters/psk', psk, sensitive: true, priority: 1)
      rule('set-attribute', '/parameters/seen', ['{plugin_data.psk}', '{node.parameters.psk}'])
      rule('log', '{plugin_data} {node.parameters}')
    end

    it 'marks what they set, and shows it to no other rule, also in the next inspection' do
      first = perform
      expect(first.record).to include('parameters' => { 'psk' => psk, 'seen' => ['******', '******'] },
                                      'sensitive' => ['/parameters/psk'])
      expect(perform.record).to eq(first.record)
      expect(estate.nodes.get('web7')).to eq(first.record)
      expect([perform.effects, perform.rules].to_s).not_to include(psk)
    end

    # The record of a discovered node has the values of its first inspection.
    it 'shows other rules nothing of a declared value that is sensitive' do
      perform
      Simpkv::Inspection::Rules.of(estate).delete_all
      rule('log', '{node.parameters}')
      rule('set-attribute', '/parameters/copy', '{node.parameters.psk}')
      expect(perform.record['parameters']).to include('psk' => psk, 'copy' => '******')
      expect(perform.effects.to_s).not_to include(psk)
    end

    it 'leaves these values out of the stored outcome' do
      perform
      expect(estate.inspections.get('web7')['record']['parameters']).to include('psk' => '[redacted]')
      expect(documents['inspections/web7'].first).not_to include(psk)
    end
  end

  it 'is removed with all that the node left' do
    perform
    expect(estate.remove('web7')).to include('inspections' => true)
    expect(estate.inspections.get('web7')).to be_nil
    expect(estate.nodes.get('web7')).to include('auto_discovered' => true)
  end
end
