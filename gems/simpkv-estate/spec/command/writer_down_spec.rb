# frozen_string_literal: true

require_relative 'nodes_helper'
require_relative '../../../../spec/support/ports'

# `simpkv node show` and others ended with 69, while catalogs went on at the other server.
RSpec.describe 'The commands for nodes, while the server of writes is down' do
  include_context 'with slapd'
  include_context 'with nodes'

  let(:backends) { { 'default' => slapd.options('type' => 'ldap', 'id' => id) } }
  let(:writer) { "ldap://127.0.0.1:#{Ports.free(1).first}" }
  let(:down) do
    backends['default'].merge('ldap_uri' => "#{writer} #{slapd.uri}", 'write_uri' => writer, 'retries' => 0)
  end
  let(:rule) { Simpkv::Inspection::Rules.new(estate).create('actions' => [{ 'op' => 'log', 'args' => ['x'] }])['uuid'] }

  readers = {
    'node exports' => [%w[web1], %w[--type host]], 'node facts' => [%w[web1 os.name]], 'node inspect' => [%w[web1]],
    'node reports' => [%w[web1]], 'node show' => [%w[web1]], 'nodes' => [[]], 'rule list' => [[]],
    'rule show' => [%w[RULE]]
  }
  writers = {
    'node declare' => [%w[web2 --class a]], 'node deactivate' => [%w[web1]], 'node inspect' => [%w[web1 --save]],
    'node undeclare' => [%w[web1]], 'rule create' => [['--actions', '[{"op":"log","args":["x"]}]']],
    'rule delete' => [%w[RULE]], 'rule set' => [%w[RULE --priority 5]]
  }

  # @return [Hash{String => CommandOutcome}] the outcome of each call
  define_method(:outcomes) do |commands|
    calls = commands.flat_map { |name, lists| lists.map { |arguments| [*name.split, *arguments] } }
    calls.to_h do |call|
      [call.join(' '), simpkv(*call.map { |argument| argument == 'RULE' ? rule : argument })]
    end
  end

  before do
    run('web1', exports: { 'host' => [host('web1')] })
    estate.nodes.update('web1') { { 'classes' => { 'role' => {} } } }
    rule
  end

  it 'read what another server has, and those that change something fail and change nothing' do
    healthy = outcomes(readers)
    expect(healthy.values.map(&:code)).to all(eq(0))
    before = estate.store.tree('globals')
    configure_down
    expect(outcomes(readers)).to eq(healthy)
    expect(outcomes(writers).values).to all(have_attributes(code: 69, err: /#{writer}: connection refused/))
    expect(estate.store.tree('globals')).to eq(before)
  end

  it 'tell the state of nodes' do
    configure_down
    expect(simpkv('status', '--parts', 'nodes')).to have_attributes(code: 0, out: /^Nodes$/)
  end

  it 'are all in this table if they only read' do
    of_estate = Simpkv::Cli::Commands.commands.select { |command| command < Simpkv::Cli::EstateCommand }
    expect(of_estate.select { |command| command::ANYWHERE }.map(&:title)).to match_array(readers.keys)
  end

  def configure_down
    File.write(config, site.merge('backends' => { 'default' => down }).to_yaml)
  end
end
