# frozen_string_literal: true

require_relative 'estate_helper'
require_relative '../support/rule_helpers'

RSpec.describe 'Agents of a puppetserver that inspects nodes', :estate do
  include RuleHelpers

  include_context 'with puppetserver'
  include_context 'with the store of an estate'

  manifest = <<~PUPPET
    class role::web($size, $psk) {
      notify { "role web of ${size}, dc ${dc}": }
      file { "${facts['place']}/psk": content => $psk }
    }
    notify { "seen ${trusted['certname']}": }
  PUPPET

  attr_reader :directory

  before(:context) { @directory = Slapd.new(tls: true, limits: true).tap(&:start) if ENV['LONG'] }
  after(:context) { directory&.stop }

  let(:site) { { 'backends' => { 'default' => backend }, 'estate' => { 'unknown_nodes' => 'discover' } } }
  let(:estate) { Simpkv::Estate.new(site) }
  let(:place) { Dir.mktmpdir('inspected') }

  before do
    puppetserver.estate(site, node_terminus: 'simpkv')
    puppetserver.environment('inspected', manifest)
    acme = [condition('matches', '{inventory.vendor}', 'acme')]
    rule('set-attribute', '/classes/role::web', { 'size' => '{inventory.slots}', 'psk' => 'unset' },
         conditions: acme, priority: 1)
    rule('set-attribute', '/classes/role::web/psk', 'pl4nted-s3cret', conditions: acme, sensitive: true)
    rule('set-attribute', '/parameters/dc', 'fra1',
         conditions: [condition('in-net', '{inventory.address}', '192.0.2.0/24')])
    known = condition('!matches', '{inventory.vendor}', 'acme|umbrella')
    rule('fail', 'the vendor {inventory.vendor} is unknown', description: 'known vendors', phase: 'early',
                                                             conditions: [known])
  end

  # The server compiles once more with this store before it takes that of the next example. The store stays, therefore,
  # and without rules: one of them needs an action that other environments lack.
  after do
    rules.delete_all
    FileUtils.rm_rf(place)
  end

  # Adds an action of the site, which notes its calls.
  #
  # @return [String] the file with the calls
  def add_action(name)
    folder = puppetserver.path('code/environments/inspected/modules/site/lib/puppet_x/simpkv/rule_actions')
    FileUtils.mkdir_p(folder)
    File.write(File.join(folder, "#{name}.rb"), <<~RUBY)
      ->(certname, arguments) { File.open('#{place}/calls', 'a') { |file| file.puts("\#{certname}: \#{arguments}") } }
    RUBY
    File.join(place, 'calls')
  end

  def agent(name, **facts)
    variables = { slots: 5, vendor: 'acme', address: '192.0.2.9', place: place }.merge(facts)
    puppetserver.agent(name, environment: 'inspected',
                             variables: variables.to_h { |fact, value| ["FACTER_#{fact}", value.to_s] })
  end

  # @return [Array<String>] all that the server and its agents have printed, logged or cached, less the catalogs
  def traces
    files = Dir[puppetserver.path('log', '*'), puppetserver.path('{var,agents}', '**', '*')]
    files.select { |file| File.file?(file) && !file.include?('/client_data/catalog/') }
         .map { |file| File.binread(file) }
  end

  shared_examples 'inspected agents' do
    it 'classifies an unknown node at its first run, and by a changed rule at its next run' do
      output = agent('delta')
      expect(output).to include('role web of 5, dc fra1', 'seen delta')
      expect(File.read(File.join(place, 'psk'))).to eq('pl4nted-s3cret')
      expect(estate.nodes.get('delta')).to include('auto_discovered' => true, 'sensitive' => ['/classes/role::web/psk'])

      dc = Simpkv::Inspection::Rules.of(estate).list(detail: true).find { |each| each['actions'].to_s.include?('/parameters/dc') }
      rules.update(dc['uuid'], { 'actions' => [{ 'op' => 'set-attribute', 'args' => %w[/parameters/dc ams2] }] })
      expect(agent('delta')).to include('role web of 5, dc ams2')
      expect([output, *traces].grep(/pl4nted/)).to eq([])
      expect(estate.inspections.get('delta').to_s).not_to include('pl4nted')
    end
  end

  context 'with files' do
    let(:backend) { { 'type' => 'file', 'id' => 'inspected', 'root_path' => puppetserver.path('inspected') } }

    it_behaves_like 'inspected agents'

    it 'calls the actions of a site after an inspection that has succeeded' do
      calls = add_action('announce')
      rules = Simpkv::Inspection::Rules.new(estate, %w[announce])
      rules.create('actions' => [{ 'op' => 'announce', 'args' => ['{node.name}'] }])
      expect { agent('zeta', vendor: 'initech') }.to raise_error(PuppetServer::Refused)
      expect(File).not_to exist(calls)
      2.times { agent('zeta') }
      expect(File.readlines(calls, chomp: true)).to eq(['zeta: ["zeta"]'] * 2)
    end

    it 'refuses a node with the message of the rule, in the output of its agent' do
      expect { agent('epsilon', vendor: 'initech') }
        .to raise_error(PuppetServer::Refused, /refused by the rule \S+ \('known vendors'\): the vendor initech is unk/)
      expect(estate.nodes.get('epsilon')).to be_nil
      expect(agent('epsilon', vendor: 'umbrella')).to include('seen epsilon')
      expect(estate.nodes.get('epsilon')).to include('auto_discovered' => true)
    end
  end

  # The stage estate inspects nodes with directories, and estate_spec.rb has agents with one.
  context 'with slapd', :long do
    let(:backend) do
      directory.options('type' => 'ldap', 'id' => "i#{rand(1_000_000)}", 'ldap_uri' => directory.tls_uri,
                        'tls_cacert' => directory.certificates.cacert)
    end

    it_behaves_like 'inspected agents'
  end
end
