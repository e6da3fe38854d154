# frozen_string_literal: true

require 'etc'
require 'socket'
require_relative 'command_helper'
require_relative '../support/audit_file'
require_relative '../support/key_file'

RSpec.describe 'The command simpkv with an audited backend' do
  include_context 'with keys in files'
  include AuditFile
  include KeyFile

  def configure(more)
    File.write(config, { 'backends' => { 'default' => backends['default'].merge(more) } }.to_yaml)
  end

  it 'has lines with the host and the user' do
    configure('audit' => audit(reads: true))
    simpkv!('put', 'a', 'pl4nted')
    simpkv!('get', 'a')
    simpkv!('mv', 'a', 'b')
    simpkv!('ls')
    simpkv!('rm', 'b')
    expect(operations)
      .to include('put production:a written', 'get production:a found', 'delete production:a deleted',
                  'list production: found', 'delete production:b deleted')
    expect(lines.map { |line| line.values_at('node', 'user') }.uniq)
      .to eq([[Socket.gethostname, Etc.getpwuid(Process.euid).name]])
    expect(File.read(audit_file)).not_to include('pl4nted')
  end

  # There was no line.
  it 'has a line for a refused cas' do
    configure('audit' => audit)
    simpkv!('put', 'a', 'pl4nted')
    calls = [%w[a new --expect pl4nted-other], %w[a new --absent], %w[b new --expect pl4nted]]
    expect(calls.map { |call| simpkv('cas', *call).code }).to eq([1, 1, 1])
    expect(operations.drop(1))
      .to eq(['put production:a conflict', 'put production:a conflict', 'put production:b conflict'])
    expect(File.read(audit_file)).not_to include('pl4nted')
  end

  # There was no line.
  it 'has a line for a key that a rollback leaves, because another client has changed it' do
    configure('audit' => audit)
    journal = File.join(folder, 'undo.journal')
    simpkv!('put', 'a', 'pl4nted')
    exported = simpkv!('export')
    simpkv!('put', 'a', 'pl4nted-2')
    simpkv!('import', '--existing', 'replace', '--journal', journal, input: exported)
    simpkv!('put', 'a', 'pl4nted-3')
    expect(simpkv('import', '--rollback', journal).code).to eq(65)
    expect(operations.last).to eq('put production:a conflict')
  end

  it 'has lines for documents that are encrypted again' do
    configure('audit' => audit, 'encryption_keys' => write_keys('a'))
    store.put('globals/a', Simpkv::Codec.encode('pl4nted'))
    simpkv!('rekey')
    expect(operations).to eq(['rekey global:a written'])
    simpkv!('keys', 'list', '--count')
    simpkv('doctor', '--read-only')
    expect(operations.length).to eq(1)
  end

  it 'warns, or fails with required, if the log cannot be written' do
    Dir.mkdir(audit_file)
    configure('audit' => audit)
    outcome = simpkv('put', 'a', '1')
    expect(outcome).to have_attributes(code: 0, err: /\Asimpkv: cannot open the audit log '.*': Is a directory/)
    configure('audit' => audit(required: true))
    outcome = simpkv('put', 'a', '2')
    expect(outcome).to have_attributes(code: 74, err: /Is a directory.*'required' .* is set, so nothing was done/)
    expect(simpkv!('get', 'a')).to match(/1/)
  end
end
