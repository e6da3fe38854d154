# frozen_string_literal: true

require_relative '../../../../spec/support/audit_file'
require_relative '../../../../spec/command/command_helper'

# What Vault and other programs print, as their documentation shows it.
RSpec.describe 'simpkv import-vault' do
  include_context 'with keys in files'
  include AuditFile

  # @return [Hash] what `vault kv get -format=json` prints of version 2 of the engine
  def output(fields, metadata = {})
    { 'request_id' => 'b5c5ad1c', 'lease_id' => '', 'lease_duration' => 0, 'renewable' => false, 'warnings' => nil,
      'data' => { 'data' => fields,
                  'metadata' => { 'created_time' => '2026-01-02T03:04:05.6Z', 'custom_metadata' => nil,
                                  'deletion_time' => '', 'destroyed' => false, 'version' => 3 }.merge(metadata) } }
  end

  # Imports data from standard input, and expects no planted value in the output.
  def import(data, *arguments)
    simpkv('import-vault', *arguments, input: data.is_a?(String) ? data : JSON.generate(data))
      .tap { |outcome| expect(outcome.out + outcome.err).not_to include('pl4nted') }
  end

  def decoded(key)
    Simpkv::RichData.decode(store.get("environments/production/#{key}")).slice(:value, :metadata)
  end

  def sensitive(value, metadata = {})
    { value: { '__ptype' => 'Sensitive', '__pvalue' => value }, metadata: metadata }
  end

  # @return [Array<String>] the files of all keys
  def keys
    Dir[File.join(root, 'environments/production/**/*')].select { |file| File.file?(file) }
  end

  # @return [Hash{String => Hash}] by key
  def stored
    keys.map { |file| file.delete_prefix("#{root}/environments/production/") }.to_h { |key| [key, decoded(key)] }
  end

  it 'stores one secret as a Sensitive, with custom metadata, version and time' do
    data = output({ 'user' => 'app', 'password' => 'pl4nted' }, 'custom_metadata' => { 'owner' => 'dba' })
    expect(import(data, '--at', 'app1/db')).to have_attributes(code: 0, out: /^verified: +true$/)
    metadata = { 'vault' => { 'version' => 3, 'created_time' => '2026-01-02T03:04:05.6Z' }, 'owner' => 'dba' }
    expect(stored).to eq('app1/db' => sensitive({ 'user' => 'app', 'password' => 'pl4nted' }, metadata))
    expect(JSON.parse(simpkv!('get', 'app1/db'))).to eq('user' => 'app', 'password' => 'pl4nted')
  end

  # An empty journal was left, which another run with --journal refused, and --resume called damaged.
  it 'leaves no journal, and stores nothing, if the disk of the journal is full' do
    on_small_disk do |disk, fill|
      fill.call
      journal = File.join(disk, 'j')
      outcome = import({ 'app' => { 'password' => 'pl4nted' } }, '--journal', journal)
      expect(outcome).to have_attributes(code: 74, err: /: the journal cannot be written: No space left on device$/)
      expect([stored, File.exist?(journal)]).to eq([{}, false])
      File.truncate(File.join(disk, 'filler'), 0)
      expect(import({ 'app' => { 'password' => 'pl4nted' } }, '--journal', journal).code).to eq(0)
    end
  end

  it 'continues with --resume if the disk of the journal became full' do
    secrets = Array.new(200) { |i| ["app#{i}", { 'password' => 'pl4nted' }] }.to_h
    on_small_disk do |disk, fill|
      fill.call
      filler = File.join(disk, 'filler')
      File.truncate(filler, File.size(filler) - 8192)
      journal = File.join(disk, 'j')
      expect(import(secrets, '--journal', journal)).to have_attributes(
        code: 74, err: /: stored \d+ keys\. .* --resume .*\nsimpkv: \S+: the journal cannot be written: No space left/
      )
      expect(stored.length).to be < secrets.length
      File.truncate(filler, 0)
      expect(import(secrets, '--journal', journal, '--resume').code).to eq(0)
      expect(stored.keys).to match_array(secrets.keys)
      expect(import(secrets, '--rollback', journal).code).to eq(0)
      expect(stored).to eq({})
    end
  end

  it 'refuses a secret whose name is also that of a folder, before it stores anything' do
    outcome = import({ 'app1' => { 'a' => 'pl4nted' }, 'app1/db' => { 'a' => 'pl4nted' }, 'z' => { 'a' => 'pl4nted' } })
    expect(outcome).to have_attributes(code: 65, err: %r{'\S+/app1' is a key, and '\S+/app1/db' needs a folder there})
    expect(stored).to eq({})
  end

  it 'needs the path of one secret, and of no others' do
    expect(import(output({ 'a' => 'pl4nted' }))).to have_attributes(code: 64, err: /needs --at PATH/)
    expect(import({ 'a' => { 'b' => 'pl4nted' } }, '--at', 'x')).to have_attributes(code: 64, err: /--at is for/)
  end

  shapes = {
    'fields by path' =>
      { 'secret/app1/db' => { 'password' => 'pl4nted', 'port' => 1 }, 'secret/top' => { 'a' => 'b' } },
    'objects nested by folder, as of medusa' =>
      { 'secret' => { 'app1' => { 'db' => { 'password' => 'pl4nted', 'port' => 1 } }, 'top' => { 'a' => 'b' } } },
    'objects nested by folder, as of vkv' =>
      { 'secret/' => { 'app1/' => { 'db' => { 'password' => 'pl4nted', 'port' => 1 } }, 'top' => { 'a' => 'b' } } }
  }
  shapes.each do |name, data|
    it "reads #{name}, as JSON and as YAML" do
      expect(import(data, '--below', 'secret').code).to eq(0)
      expect(stored).to eq('app1/db' => sensitive({ 'password' => 'pl4nted', 'port' => 1 }),
                           'top' => sensitive({ 'a' => 'b' }))
      expect(import(data.to_yaml, '--below', '/secret/').out).to match(/^unchanged: +2$/)
    end
  end

  it 'takes an object in a folder of vkv for a secret, whatever its fields are' do
    expect(import({ 's/' => { 'a' => { 'x' => { 'y' => 'pl4nted' }, 'z' => 1 } } }).code).to eq(0)
    expect(stored).to eq('s/a' => sensitive({ 'x' => { 'y' => 'pl4nted' }, 'z' => 1 }))
  end

  it 'reads outputs by path, and leaves out versions that are deleted or destroyed' do
    data = { 'a' => output({ 'x' => { 'y' => 'pl4nted' } }),
             'gone' => output(nil, 'deletion_time' => '2026-01-01T00:00:00Z'),
             'no/more' => output(nil, 'destroyed' => true, 'version' => 7),
             'old' => { 'lease_id' => '', 'data' => { 'k' => 1 } } }
    outcome = import(data)
    expect(outcome.code).to eq(0)
    expect(outcome.err).to include("gone: its version 3 is deleted: it is left out\n",
                                   "no/more: its version 7 is destroyed: it is left out\n")
    expect(stored.transform_values { |entry| entry[:value]['__pvalue'] })
      .to eq('a' => { 'x' => { 'y' => 'pl4nted' } }, 'old' => { 'k' => 1 })
  end

  it 'stores a key for each field with --fields' do
    data = { 'app1/db' => output({ 'user' => 'app', 'password' => 'pl4nted', 'none' => nil }) }
    expect(import(data, '--fields', '--into', 'v')).to have_attributes(code: 0, err: %r{app1/db: none: it is null})
    expect(stored.transform_values { |entry| entry[:value]['__pvalue'] })
      .to eq('v/app1/db/user' => 'app', 'v/app1/db/password' => 'pl4nted')
    expect(stored.values.map { |entry| entry[:metadata]['vault']['version'] }).to eq([3, 3])
  end

  it 'refuses masked values, mixed objects, values without a name, and names that are no keys, and stores nothing' do
    { { 'a' => { 'x' => '********' } } => /a: its value is masked/,
      { 'a' => { 'x' => 'pl4nted', 'y' => { 'z' => 'pl4nted' } } } => /a: it has fields beside objects/,
      { 'a' => 'pl4nted' } => /a: it is a value without a name/,
      { 'a b' => { 'x' => 'pl4nted' } } => /a b: .*whitespace/ }.each do |data, why|
      expect(import(data.merge('good' => { 'x' => 'pl4nted' }))).to have_attributes(code: 65, err: why)
    end
    expect(import('["pl4nted"]')).to have_attributes(code: 65, err: /has no object of secrets/)
    expect(import('{"pl4nted')).to have_attributes(code: 65, err: /neither YAML nor JSON/)
    expect(import({})).to have_attributes(code: 66, err: /there is no secret to import/)
    expect(keys).to eq([])
  end
end
