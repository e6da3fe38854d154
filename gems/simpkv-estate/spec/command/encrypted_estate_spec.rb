# frozen_string_literal: true

require_relative 'nodes_helper'
require_relative '../../../../spec/support/key_file'

# A compiler without the keys used to store plain documents, which those with the keys took for good ones.
RSpec.describe 'simpkv, with an encrypted estate' do
  include KeyFile

  include_context 'with nodes'

  let(:keys) { { 'encryption_keys' => write_keys('a') } }
  let(:encryption) { {} }
  let(:site) { { 'backends' => { 'default' => backends['default'].merge(encryption) } } }
  let(:estate) do
    Simpkv::Store.open('file', backends['default'].slice('root_path')).close
    opened(encryption)
  end

  def opened(encryption)
    Simpkv::Estate.new({ 'backends' => { 'default' => backends['default'].merge(encryption) } })
  end

  # Makes the command use other options of the backend.
  def change(encryption)
    File.write(config, { 'backends' => { 'default' => backends['default'].merge(encryption) } }.to_yaml)
  end

  # @return [Array<Array<String>>] what doctor says of the estate that is not ok
  def findings
    JSON.parse(simpkv('doctor', '--read-only', '--user', 'root', '-o', 'json').out)
        .select { |each| %w[problem warning].include?(each['state']) }
        .map { |each| each.values_at('state', 'what', 'why', 'fix') }
  end

  def lacking_keys
    /the estate is encrypted, and this process has no 'encryption_keys'/
  end

  it 'records with rekey that it is encrypted, and not before' do
    run('web1')
    estate.store.put('environments/production/a', '{"value":1}')
    change(keys)
    simpkv!('init')
    expect(findings).to include(['warning', 'nodes', /does not record 'encrypt: all'/, /rekey/],
                                ['warning', 'encryption', /plain documents/, /rekey/])
    opened(keys).facts.save('web2', {})
    expect(opened({}).facts.find('web1')).to be_a(Hash)
    simpkv!('rekey', '--dry-run')
    simpkv!('rekey', '-e', 'production')
    expect(opened(keys)).not_to be_pinned
    simpkv!('rekey')
    expect([opened(keys).pinned?, findings]).to eq([true, []])
    expect { opened({}).facts.save('web3', {}) }.to raise_error(Simpkv::ConfigError, lacking_keys)
  end

  it 'does not record it while a document cannot be encrypted' do
    change(keys)
    estate.store.put('globals/torn', %({"value":"eyJ","encoding":"jwe"}))
    expect([simpkv('rekey').code, opened(keys).pinned?]).to eq([65, false])
  end

  context 'when it is made' do
    let(:encryption) { keys }

    before { run('web1', exports: { 'host' => [host('a')] }) }

    it 'is refused to a process with other options, which doctor names' do
      expect(findings).to eq([])
      { {} => lacking_keys, keys.merge('encrypt' => 'none') => /'encrypt: all', and this process has 'encrypt: none'/ }
        .each do |options, why|
        change(options)
        ['nodes', 'node show web1', 'node declare web2 --class a', 'node deactivate web1', 'init'].each do |line|
          expect(failure(*line.split)).to match([78, why])
        end
        expect(findings).to include(['problem', 'nodes', why, "correct #{config}"])
      end
      expect(failure('rekey')).to match([78, /'simpkv init --unpin'/])
    end

    # They stored plain documents, or those of another key.
    it 'is closed to commands for keys of a process with other options' do
      simpkv!('export', export = File.join(folder, 'x.jsonl'))
      change({})
      simpkv!('put', '-g', 'mine', 'a')
      estate.store.below.put('globals/estate/facts/web8', '{"value":"x"}')
      before = estate.store.below.tree('globals')[:keys]
      [%w[put -g estate/facts/web9 x], %w[cas -g estate/facts/web9 x --absent], %w[mv -g mine estate/facts/web9],
       %w[edit -g estate/facts/web8], ['import', export, '--existing', 'replace']].each do |command|
        outcome = simpkv(*command, environment: { 'VISUAL' => nil, 'EDITOR' => 'sed -i s/x/y/' })
        expect(outcome).to have_attributes(code: 78, err: lacking_keys)
      end
      expect(estate.store.below.tree('globals')[:keys]).to eq(before)
    end

    it 'has no plain document: doctor, nodes and rekey name it, and rekey --accept-plain encrypts it' do
      path = 'globals/estate/inventory/web1'
      document = estate.store.get(path)
      estate.store.below.delete(path)
      estate.store.below.put(path, document)
      expect(findings).to include(['problem', "key '#{path}'", /not encrypted, though the estate is/,
                                   /look at .* rekey --accept-plain/])
      outcome = simpkv('nodes')
      expect(outcome).to have_attributes(code: 65, err: %r{inventory/web1.*is not encrypted.*read it.*'simpkv rekey'})
      estate.store.below.put('globals/a', '{"value":1}')
      [%w[rekey --dry-run], %w[rekey], %w[rekey --resume]].each do |command|
        expect(simpkv(*command)).to have_attributes(code: 65, err: /'#{path}': it is plain, .*look at .*--accept-plain/)
      end
      expect([estate.store.below.get(path), estate.store.state(estate.store.below.get('globals/a'))])
        .to eq([document, 'a'])
      simpkv!('rekey', '--accept-plain')
      expect([simpkv!('nodes'), findings]).to match([/^web1/, []])
    end

    it 'keeps a plain declared record, which a declaration would replace' do
      path = 'globals/estate/nodes/web1'
      estate.store.below.put(path, '{"value":{"classes":["base"]}}')
      expect(failure('node', 'declare', 'web1', '--class', 'web')).to match([65, /is not encrypted/])
      simpkv!('rekey', '--accept-plain')
      simpkv!('node', 'declare', 'web1', '--class', 'web')
      expect(estate.nodes.get('web1')['classes'].keys).to eq(%w[base web])
    end

    # The markers and records were not decrypted, so an export of a damaged estate ended with 0.
    it 'is compared with its markers and records by a raw export and copy, which need its keys for that' do
      lost = %w[facts/web1 exported/host reports].map { |name| "globals/estate/#{name}" }
      lost.each { |path| FileUtils.rm_r(File.join(backends['default']['root_path'], path)) }
      expect(told('export', '-g', '--raw')).to eq([65, lost.sort])
      site['backends']['copied'] = backends['default'].merge(encryption, 'root_path' => File.join(folder, 'copied'))
      configure
      expect(told('copy', '--raw', 'default', 'copied')).to eq([65, lost.sort])
    end

    it 'is said to be perhaps not complete by a raw export without its keys' do
      change({})
      expect(told('export', '-g', '--raw')).to eq([65, ['globals/estate']])
      expect(simpkv('export', '-g', '--raw').err).to match(%r{'globals/estate': it is not known whether all of it is})
      change('encryption_keys' => File.join(folder, 'absent'))
      expect(told('export', '-g', '--raw')).to eq([78, ['globals/estate']])
    end

    # @return [Array(Integer, Array<String>)] the exit code, and the paths that standard error names
    def told(*command)
      outcome = simpkv(*command)
      [outcome.code, outcome.err.scan(/^simpkv: '(\S+)': /).flatten]
    end

    it 'is decrypted in steps, which begin with init --unpin' do
      none = keys.merge('encrypt' => 'none')
      change(none)
      simpkv!('init', '--only', 'estate', '--unpin')
      both = [keys, none].map { |options| opened(options) }
      both.each_with_index { |estate, index| estate.facts.save("new#{index}", {}) }
      expect(both.map { |estate| estate.inventory.names.sort }).to eq([%w[new0 new1 web1]] * 2)
      simpkv!('rekey')
      change({})
      expect(simpkv!('nodes')).to match(/new0.*new1.*web1/m)
      expect(findings).to eq([])
    end
  end

  context 'with encrypt: sensitive' do
    let(:encryption) { keys.merge('encrypt' => 'sensitive') }

    it 'is refused to a process without keys, and to one that encrypts other documents' do
      { {} => lacking_keys,
        keys => /records 'encrypt: sensitive', and this process has 'encrypt: all'/ }.each do |options, why|
        expect { opened(options).facts.save('web1', {}) }.to raise_error(Simpkv::ConfigError, why)
      end
      estate.facts.save('web1', {})
      change(encryption)
      expect(findings).to eq([])
    end
  end
end
