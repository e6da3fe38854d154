# frozen_string_literal: true

require 'json_schemer'
require_relative '../../../simpkv-estate/spec/command/nodes_helper'
require_relative '../../../../spec/support/eyaml'
require_relative '../../../../spec/support/page_commands'
require_relative '../../../../spec/support/ssh_keys'

# What each command prints with -o json, and its schema in docs/schemas. The helper `simpkv` compares them, here and in
# all other specs.
RSpec.describe 'docs/schemas' do
  include PageCommands

  # The specs of commands that need a server or the gem simpkv-server.
  elsewhere = {
    'access apply' => 'access/reconciliation_spec.rb', 'access delete' => 'access/reconciliation_spec.rb',
    'access explain' => 'access/roles_spec.rb', 'access export' => 'access/reconciliation_spec.rb',
    'access plan' => 'access/access_helper.rb', 'access status' => 'access/reconciliation_spec.rb',
    'conflicts list' => 'command/conflicts_spec.rb', 'conflicts resolve' => 'command/conflicts_spec.rb',
    'import-puppetdb' => 'command/import_puppetdb_spec.rb', 'query' => 'query/command_spec.rb',
    'spool flush' => 'command/spool_spec.rb', 'spool list' => 'command/spool_spec.rb',
    'spool rm' => 'command/spool_spec.rb', 'spool show' => 'command/spool_spec.rb',
    'token create' => 'server/token_spec.rb', 'token list' => 'server/token_spec.rb',
    'token revoke' => 'server/token_spec.rb', 'watch' => 'command/watch_spec.rb'
  }

  it 'has a file for each command with -o json, and no other files' do
    names = CommandSchemas.commands.map { |command| CommandSchemas.file(command) }
    expect(names.length).to be > 50
    expect(Dir['*.json', base: CommandSchemas::FOLDER]).to match_array(names)
  end

  it 'describes each member, allows new ones, and has only files that commands use' do
    files = Dir[File.join(CommandSchemas::FOLDER, '**/*.json')]
    texts = files.map { |file| File.read(file, encoding: 'UTF-8') }
    schemas = texts.map { |text| JSON.parse(text) }
    expect(schemas.map { |schema| schema['$schema'] }.uniq).to eq(['https://json-schema.org/draft/2020-12/schema'])
    expect(schemas.map { |schema| JSONSchemer.valid_schema?(schema) }.uniq).to eq([true])
    shared = texts.flat_map { |text| text.scan(%r{"shared/([\w-]+\.json)"}) }.flatten.uniq
    expect(Dir['*.json', base: File.join(CommandSchemas::FOLDER, 'shared')]).to match_array(shared)
  end

  it 'are compared with the output of other commands in other specs' do
    without = elsewhere.reject do |title, file|
      found, = Dir[File.expand_path("../../../../{,gems/*/}spec/#{file}", __dir__)]
      text = File.read(found, encoding: 'UTF-8')
      text.include?(title.split.last) && text.match?(/'-o', 'json'|data\('query'/)
    end
    expect(without).to eq({})
  end

  describe 'of commands that need no server' do
    include_context 'with nodes'

    let(:backends) do
      file = ->(name) { { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) } }
      audit = { 'audit' => { 'to' => File.join(folder, 'audit.log') } }
      { 'default' => file['site'].merge(audit), 'other' => file['other'],
        'sealed' => file['sealed'].merge('encryption_keys' => File.join(folder, 'keys.jwks')) }
    end
    let(:estate_options) { { 'node_ttl' => '14d' } }
    let(:actions) { [{ 'op' => 'set-attribute', 'args' => ['/parameters/a', 1] }] }
    let(:rule) { { 'description' => 'role', 'actions' => actions } }

    before { @compared = [] }

    # Runs a command with -o json, and keeps its name.
    #
    # @param title [String] its words
    # @param arguments [Array<String>]
    # @return [Object] the data that it prints
    def json(title, *arguments, **more)
      outcome = simpkv(*title.split, *arguments, '-o', 'json', **more)
      @compared << title
      JSON.parse(outcome.out)
    rescue JSON::ParserError
      raise "simpkv #{title} has printed no JSON: #{outcome.code}, #{outcome.err}"
    end

    def write(name, content)
      File.join(folder, name).tap { |file| File.write(file, content.is_a?(String) ? content : JSON.generate(content)) }
    end

    def run_commands_for_keys
      json('init')
      json('put', 'app1/a', '1', '--history', '2')
      json('put', 'app1/a', '2', '--history', '2', '--expires-after', '1h')
      json('edit', 'app1/a', environment: { 'EDITOR' => 'true' })
      json('get', 'app1/a')
      json('log', 'app1/a')
      json('log', 'app1/a', '--audit')
      [%w[stat app1/a], %w[stat app1], %w[restore app1/a -1], %w[forget app1/a]].each { |words| json(*words) }
      json('cas', 'app1/b', 'x', '--absent')
      json('exists', 'app1/b')
      json('mv', 'app1/b', 'app1/c')
      json('ls', 'app1')
      list_corrupt_key
      json('tree')
      json('find', 'c')
      json('explain', 'app1/c')
      json('expire')
      json('rm', 'app1/c')
      %w[doctor ping stats status].each { |title| json(title) }
    end

    def run_commands_that_make_secrets
      json('secret get', 'app1/token', '--kind', 'bytes')
      json('secret rotate', 'app1/token')
      json('secret list')
      simpkv!('secret', 'ca', '--kind', 'x509', '--ca', '--subject', 'CN=Site')
      simpkv!('secret', 'web1', '--kind', 'x509', '--subject', 'CN=web1', '--issuer', 'ca')
      json('secret revoke', 'web1')
      files = { 'private' => [], 'certificate' => %w[--part certificate] }.map do |name, part|
        ["--#{name}", write(name, simpkv!('secret', 'ca', *part))]
      end
      json('secret import', 'ca2', *files.flatten)
      json('import-trocla', input: JSON.generate('user1' => { 'plain' => 'x', 'ssha' => 'y' }))
    end

    def list_corrupt_key
      write('site/environments/production/app1/broken', '{"value":"x')
      expect(json('ls', 'app1', '--long').fetch('keys')).to include('broken' => include('metadata' => nil))
      simpkv!('rm', 'app1/broken')
    end

    def run_commands_that_move
      json('export', File.join(folder, 'site.jsonl'))
      json('import', File.join(folder, 'site.jsonl'), '-b', 'other')
      json('copy', 'default', 'other', '--dry-run')
      simpkv!('put', 'app1/new', 'x')
      journal = json('copy', 'default', 'other').fetch('journal')
      json('copy', 'default', 'other', '--rollback', journal)
    end

    def run_commands_that_import
      json('import-consul', input: JSON.generate([{ 'key' => 'a', 'flags' => 0, 'value' => 'YQ==' }]))
      json('import-vault', input: JSON.generate('secret/app1' => { 'user' => 'u' }))
      eyaml = EyamlKeys.new(folder)
      file = write('common.yaml', "a: #{eyaml.encrypt('x')}\n")
      json('import-eyaml', file, '--pkcs7-private-key', eyaml.private_key)
      json('import-eyaml', file, '--compare', [write('hiera.yaml', "version: 5\n")].cycle.first(2).join(','))
      legacy = File.join(folder, 'vardir', 'simp/environments/production/simp_autofiles/gen_passwd')
      FileUtils.mkdir_p(legacy)
      %w[app1 app1.salt].each { |name| File.write(File.join(legacy, name), 'x') }
      json('passgen import', '--vardir', File.join(folder, 'vardir'))
    end

    def run_commands_for_secrets
      keys = File.join(folder, 'keys.jwks')
      json('keys generate', keys)
      second = json('keys generate', keys).fetch('kid')
      simpkv!('-b', 'sealed', 'put', 'a', 'x')
      json('keys list', keys)
      json('rekey', '-b', 'sealed', '--dry-run')
      json('keys activate', second, '-b', 'sealed')
      json('rekey', '-b', 'sealed')
      json('keys list', '-b', 'sealed', '--count')
      old = json('keys list', keys).map { |key| key['kid'] } - [second]
      json('keys retire', *old, '-b', 'sealed')
      json('ssh import', write('authorized_keys', "#{SshKeys.text} a\n"), '--folder', 'ssh/a')
      json('ssh list', 'ssh/a')
    end

    def run_commands_for_nodes
      run('web1', exports: { 'host' => [host('web1', ip: '192.0.2.1')] })
      json('node declare', 'web2', '--class', 'ntp')
      json('node show', 'web1')
      json('node facts', 'web1')
      json('node reports', 'web1', '--events')
      json('node exports', 'web1')
      json('node inspect', 'web1', '--explain')
      json('nodes')
      json('node undeclare', 'web2')
      json('node expire', '--dry-run')
      json('node expire')
      json('node deactivate', 'web1')
    end

    def run_commands_for_rules
      uuid = json('rule create', '--description', 'role', '--actions', JSON.generate(actions)).fetch('uuid')
      json('rule show', uuid)
      json('rule set', uuid, '--priority', '5')
      json('rule unset', uuid, 'description')
      json('rule list')
      json('rule list', '--long')
      json('rule validate', write('rules.json', [rule]))
      json('rule import', File.join(folder, 'rules.json'))
      json('rule test', File.join(folder, 'rules.json'), '--facts', write('facts.json', { 'hostname' => 'web1' }))
      json('rule delete', uuid)
    end

    it 'check an output by the commands of docs/schemas/README.md' do
      run('web1')
      write('site/globals/broken', 'no document')
      script = commands('schemas/README.md', 'How to check an output').gsub('docs/schemas', CommandSchemas::FOLDER)
      script.gsub!(/^simpkv/, Unbundled::COMMAND.join(' '))
      output, status = Open3.capture2e({ 'SIMPKV_CONFIG' => config }, 'sh', '-euc', script, chdir: folder)
      expect([output, status.exitstatus]).to match([%r{^key 'globals/broken': restore it from a backup}, 0])
    end

    it 'are what these commands print' do
      run_commands_for_keys
      run_commands_that_move
      run_commands_that_import
      run_commands_for_secrets
      run_commands_that_make_secrets
      run_commands_for_nodes
      run_commands_for_rules
      missing = CommandSchemas.commands.map(&:title) - elsewhere.keys - @compared
      expect(missing).to eq([]), "call these commands in #{__FILE__}: #{missing.join(', ')}"
    end
  end
end
