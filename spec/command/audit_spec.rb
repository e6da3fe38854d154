# frozen_string_literal: true

require 'etc'
require 'socket'
require 'time'
require_relative 'command_helper'
require_relative '../support/audit_file'
require_relative '../support/eventually'

RSpec.describe 'The command simpkv with an audited backend' do
  include_context 'with keys in files'
  include AuditFile
  include Eventually

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

  it 'shows who changed a key last' do
    configure('audit' => audit)
    who = "root (user root, node #{Socket.gethostname})".gsub('root', Etc.getpwuid(Process.euid).name)
    simpkv!('put', 'app/a', 'pl4nted')
    expect(simpkv!('stat', 'app/a')).to match(/^audit log: +\d{4}-\S+Z put by #{Regexp.escape(who)}$/)
    facts = JSON.parse(simpkv!('stat', 'app/a', '-o', 'json'))
    expect(facts).to include('audit' => include('operation' => 'put', 'outcome' => 'written', 'pid' => Integer))
    expect(facts).not_to include('audit_note')
    later = Time.now + 7200
    File.utime(later, later, File.join(root, 'environments/production/app/a'))
    expect(simpkv!('stat', 'app/a'))
      .to match(/^note: +this machine's audit log has no line about the last change of #{later.utc.strftime('%F')}T/)
    expect(File.read(audit_file)).not_to include('pl4nted')
  end

  # The file before it may have gigabytes.
  it 'reads no line from long before the last change' do
    configure('audit' => audit)
    simpkv!('put', 'b', '1')
    Dir.mkdir("#{audit_file}.1")
    store.put('environments/production/a', Simpkv::Codec.encode(1))
    expect(simpkv!('stat', 'a')).to match(/^note: +the audit log cannot be read: .* is not a regular file$/)
    later = Time.now + 7200
    File.utime(later, later, File.join(root, 'environments/production/a'))
    expect(simpkv!('stat', 'a')).to match(/^note: +this machine's audit log has no line about the last change/)
  end

  it 'shows in place of a guess why it does not know' do
    configure('audit' => audit)
    store.put('environments/production/a', Simpkv::Codec.encode(1))
    expect(simpkv!('stat', 'a')).to match(/^note: +the audit log cannot be read: No such file/)
    File.write(audit_file, '')
    expect(simpkv!('stat', 'a')).to match(/^note: +this machine's audit log has no line about the last change/)
    line = Simpkv::Audit::Line.new('file/default', 'x', 'x', 'x')
    File.write(audit_file, line.of('put', 'environments/production/a', 'error', 5, ',"error":"TimeoutError"'))
    expect(simpkv!('stat', 'a')).to match(/^note: +it is not known whether the operation 'put' of .* has changed it$/)
    configure('audit' => { 'to' => 'syslog' })
    expect(simpkv!('stat', 'a')).to match(/^note: +the audit log goes to syslog/)
    expect(simpkv('log', '--audit', 'a').to_a).to match(['', /goes to syslog/, 69])
    configure({})
    expect(simpkv('log', '--audit', 'a').to_a).to match(['', /lacks the option 'audit'/, 69])
  end

  it 'shows the writer of each version, and of changes of keys that are deleted' do
    configure('audit' => audit, 'history' => 3)
    user = Etc.getpwuid(Process.euid).name
    simpkv!('put', 'a', 'one')
    stored_at = JSON.parse(store.get('environments/production/a'))['stored_at']
    eventually { Time.now - Time.iso8601(stored_at) > 2.1 }
    simpkv!('put', 'a', 'two')
    versions = JSON.parse(simpkv!('log', 'a', '-o', 'json'))
    expect(versions.map { |version| version['stored_by'] }).to all(include('user' => user, 'operation' => 'put'))
    expect(simpkv!('log', 'a').lines).to all(match(/  -  #{user} \(user #{user}, node /))
    simpkv!('rm', 'a')
    changes = simpkv!('log', '--audit', 'a')
    expect(changes.lines).to match([/\A\S+Z  delete  deleted  #{user} /, /  put     written  /, /  put     written  /])
    expect(simpkv!('log', '--audit', '-n', '1', 'a')).to eq(changes.lines.first)
    expect(JSON.parse(simpkv!('log', '--audit', 'a', '-o', 'json')).map { |change| change['operation'] })
      .to eq(%w[delete put put])
    expect(simpkv('log', '--audit', 'none').to_a).to eq(['', '', 1])
  end

  it 'is asked who changed a key by the commands of docs/audit.md' do
    configure('audit' => audit, 'history' => 2)
    page = File.read(File.expand_path('../../docs/audit.md', __dir__))
    commands = page[/^## Who changed a key$.*?^```sh\n(.*?)^```/m, 1].lines.map(&:split)
    results = commands.map do |_, *words|
      input = 'pl4nted' if words.include?('<')
      simpkv(*words.take_while { |word| word != '<' }, input: input.to_s)
    end
    expect(results.map(&:code)).to eq([0] * 5)
    expect(results.map { |result| result.to_a.join }.join).not_to include('pl4nted')
    expect(results.last.to_a.first).to match(/  put  written  /)
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
