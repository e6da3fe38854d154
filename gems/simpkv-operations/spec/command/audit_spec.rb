# frozen_string_literal: true

require_relative '../../../../spec/command/command_helper'
require_relative '../../../../spec/support/audit_file'
require_relative '../../../../spec/support/key_file'

RSpec.describe 'Commands for whole stores with an audited backend' do
  include_context 'with keys in files'
  include AuditFile
  include KeyFile

  def configure(more)
    File.write(config, { 'backends' => { 'default' => backends['default'].merge(more) } }.to_yaml)
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
end
