# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../support/estate_damage'

# Commands that read the estate, as it is damaged in each way: see spec/estate/readers_spec.rb. `simpkv export -g` of an
# estate that had lost a folder ended with 0.
RSpec.describe 'The commands on a damaged estate' do
  include_context 'with the command'
  include_context 'with an estate to damage'

  # The arguments of each command that reads the estate.
  readers = {
    'node exports' => [%w[web1], %w[web1 user]], 'node facts' => [%w[web1], %w[web1 os.name]],
    'node inspect' => [%w[web1]], 'node reports' => [%w[web1]], 'node show' => [%w[web1], %w[declared]],
    'nodes' => [[]], 'rule list' => [[]], 'rule show' => [[EstateDamage::RULE]],
    'export' => [%w[-g], [], %w[-g --raw]], 'copy' => [%w[default other --dry-run]],
    'status' => [%w[--parts nodes,compilers]], 'doctor' => [%w[--read-only]]
  }
  # Those that show or move keys, whatever these mean; that need no store; and that change the estate.
  others = [
    'access apply', 'access delete', 'access explain', 'access export', 'access plan', 'access status', 'cas',
    'completion', 'conflicts list', 'conflicts resolve', 'edit', 'exec', 'exists', 'expire', 'explain', 'find',
    'forget', 'get', 'import', 'import-consul', 'import-eyaml', 'import-puppetdb', 'import-trocla', 'import-vault',
    'init', 'keys activate', 'keys generate', 'keys list', 'keys retire', 'log', 'ls', 'man', 'mv', 'node deactivate',
    'node declare', 'node expire', 'node undeclare', 'passgen import', 'ping', 'put', 'rekey', 'restore', 'rm',
    'rule create', 'rule delete', 'rule import', 'rule set', 'rule test', 'rule unset', 'rule validate', 'schema',
    'secret get', 'secret import', 'secret list', 'secret revoke', 'secret rotate', 'serve', 'ssh import', 'ssh list',
    'spool flush', 'spool list', 'spool rm', 'spool show', 'stat', 'stats', 'token create', 'token list',
    'token revoke', 'tree', 'watch',
    'query' # gems/simpkv-server/spec/server/readers_spec.rb has it: it needs the gem simpkv-server.
  ]

  let(:backends) do
    other = { 'type' => 'file', 'id' => 'other', 'root_path' => File.join(folder, 'other') }
    EstateDamage.backends(root).merge('other' => other)
  end
  let(:config) do
    File.join(folder, 'simpkv.yaml').tap do |file|
      File.write(file, { 'backends' => backends, 'estate' => EstateDamage::OPTIONS }.to_yaml)
    end
  end

  it 'are all in this table' do
    commands = Simpkv::Cli::Commands.commands.map(&:title)
    expect(commands - readers.keys - others).to eq([])
    of_gems_above = ->(title) { Simpkv::Cli::Commands.owner(title[/\S+/]) }
    expect((readers.keys + others - commands).reject(&of_gems_above)).to eq([])
  end

  # The times of an output differ. An export has each document, whatever it means, and has to have them all.
  def comparable(call, outcome)
    outcome.out = outcome.out.gsub(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, 'TIME')
    outcome.out = outcome.out.scan(/"path":"[^"]+"/).sort if call.first == 'export'
    outcome
  end

  # It was an export of a site without an estate.
  it 'tell that all of it is gone, if the file of options names it and other keys are there' do
    simpkv!('put', '-g', 'other', 'x')
    FileUtils.rm_r(File.join(root, 'globals/estate'))
    calls = [%w[export -g], %w[export], %w[export -g --raw], %w[copy default other --dry-run]]
    expect(calls.map { |call| simpkv(*call) })
      .to all(have_attributes(code: 65, err: %r{'globals/estate': there is no marker in 'globals/estate'}))
    expect(simpkv('export', '-g', '--folder', 'estate2', '--allow-empty').code).to eq(0)
  end

  # @return [Hash{String => Object}] the outcome of each call
  define_method(:answers) do
    calls = readers.flat_map { |name, lists| lists.map { |arguments| [*name.split, *arguments] } }
    calls.to_h { |call| [call.join(' '), comparable(call, simpkv(*call))] }
  end

  # @return [Array(Array<String>, Array<String>)] the calls that answer something else than before, and those that fail
  def after_damage(healthy, damage)
    renew
    damage(damage)
    answered, failed = answers.partition { |_, outcome| outcome.code.zero? }.map(&:to_h)
    [answered.reject { |call, outcome| outcome.out == healthy[call].out }.keys, failed.keys]
  end

  # @param faults [Array] of {EstateDamage.faults}
  # @return [Array<String>] the calls that never fail; all others fail, or answer as before
  def unnoticing(faults)
    healthy = answers
    expect(healthy.reject { |_, outcome| outcome.code.zero? }).to eq({})
    after = faults.to_h { |fault, damage| [fault, after_damage(healthy, damage)] }
    expect(after.transform_values(&:first).reject { |_, calls| calls.empty? }).to eq({})
    healthy.keys - after.values.flat_map(&:last)
  end

  it 'answer as before, or with an error, whatever is damaged; and each fails for some damage', :long do
    expect(unnoticing(EstateDamage.faults)).to eq([])
  end

  # All of them take half a minute of processor time.
  it 'answer as before, or with an error, for eight kinds of damage that are chosen at random' do
    faults = EstateDamage.faults.to_a.sample(8, random: Random.new(RSpec.configuration.seed))
    expect(unnoticing(faults).length).to be < answers.length
  end
end
