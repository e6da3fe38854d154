# frozen_string_literal: true

require_relative 'exports_helper'
require 'puppet/face'

RSpec.describe 'puppet node deactivate' do
  include EstateSite

  def deactivate(*names)
    Puppet::Face[:node, :current].deactivate(*names)
  end

  # @return [Array<String>] the names of all documents of the estate
  def documents
    estate.store.tree('globals/estate', required: false)[:keys].keys.reject { |path| path.end_with?('.estate') }.sort
  end

  before do
    %w[web1 web2].each do |name|
      run_node(name, "@@notify { '#{name}': }")
      estate.facts.save(name, { 'os' => { 'name' => 'Debian' } })
      estate.reports.save(name, 'status' => 'changed')
      estate.nodes.declare(name, 'environment' => 'production')
    end
  end

  # It removed the facts, the status and the reports as well.
  it 'removes what a node exports, marks the node, and leaves others alone' do
    before = documents
    expect(deactivate('WEB1')).to match('web1' => { 'exports' => 1, 'deactivated' => match(/\A\d{4}-.*Z\z/) })
    expect(before - documents).to eq(%w[exported/notify/web1])
    expect([estate.inventory.current.keys, estate.facts.select(nil) { true }]).to eq([%w[web2], %w[web2]])
    expect(titles(compile('web2', "Notify <<| |>>\n@@notify { 'web2': }"), 'Notify')).to eq(%w[web2])
    expect(titles(compile('web3', 'Notify <<| |>>'), 'Notify')).to eq(%w[web2])
  end

  it 'prints a line for each node' do
    action = Puppet::Face[:node, :current].get_action(:deactivate)
    expect(action.when_rendering(:console).call(deactivate('web1', 'web2')).split("\n"))
      .to eq(%w[web1 web2].map { |name| "#{name}: deactivated, and removed exports of 1 type" })
  end

  it 'ends with the next run of a node, also one that changes nothing' do
    deactivate('web1', 'web2')
    run_node('web1', "notify { 'x': }")
    estate.facts.save('web2', { 'os' => { 'name' => 'Debian' } })
    expect(estate.inventory.current.keys).to match_array(%w[web1 web2])
    run_node('web2', "@@notify { 'web2': }")
    expect(titles(compile('web3', 'Notify <<| |>>'), 'Notify')).to eq(%w[web2])
  end

  it 'keeps the later time of two deactivations' do
    later = '2100-01-01T00:00:00Z'
    estate.deactivate('web1', later)
    expect(deactivate('web1')).to eq('web1' => { 'deactivated' => later })
  end

  it 'deactivates the others if a node left nothing, and fails' do
    expect { deactivate('web3', 'web2') }
      .to raise_error(Puppet::Error, /there is nothing of the node 'web3' to deactivate/)
    expect(documents.grep(/exported/)).to eq(%w[exported/notify/web1])
  end

  it 'deactivates the others if one cannot be deactivated, and fails' do
    estate.store.delete('globals/estate/status/web1')
    estate.store.put('globals/estate/status/web1/key', '{}')
    expect { deactivate('web1', 'web2') }.to raise_error(Puppet::Error, /could not deactivate 'web1'/)
    expect(documents.grep(/exported/)).to eq(%w[exported/notify/web1])
  end

  # It waited for the server once for each node, and named it as often.
  it 'ends if the store cannot be used, and tells what it has removed' do
    allow(estate).to receive(:deactivate).and_call_original
    allow(estate).to receive(:deactivate).with('web2').and_raise(Simpkv::UnavailableError, 'away')
    expect { deactivate('web1', 'web2', 'web3') }
      .to raise_error(Puppet::Error, "simpkv estate: could not deactivate 'web2': away")
    expect(estate).to have_received(:deactivate).twice
    expect(messages.map(&:message)).to include(/\Aweb1: deactivated/)
  end

  it 'needs a name' do
    expect { deactivate }.to raise_error(ArgumentError, /at least one node: puppet node deactivate <node>/)
  end

  it 'fails if the backend does, even with soft: an operator must know' do
    configure('soft' => true)
    FileUtils.rm_rf(File.join(scratch, 'root', 'globals'))
    File.write(File.join(scratch, 'root', 'globals'), '')
    expect { deactivate('web1') }.to raise_error(Puppet::Error, /\Asimpkv estate: could not deactivate 'web1': /)
  end

  it 'has help' do
    expect(Puppet::Face[:help, :current].help(:node, :deactivate)).to match(/<node> \[<node> \.\.\.\]/)
      .and include('Removes the exported resources')
  end
end
