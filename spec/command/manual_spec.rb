# frozen_string_literal: true

require_relative 'command_helper'
require 'simpkv/cli/directory/directory_schema'

RSpec.describe 'The manual of simpkv' do
  include_context 'with the command'

  page = File.expand_path('../../docs/simpkv.1', __dir__)

  it 'gets no warning from man and groff', :tools do
    pages = [page, page.sub('simpkv.1', 'simpkv.yaml.5')]
    [%w[man --warnings -E UTF-8 -l -Tutf8 -Z], %w[groff -man -ww -Z]].product(pages).each do |command, file|
      _, warnings, status = Open3.capture3(*command, file)
      expect([warnings, status.exitstatus]).to eq(['', 0])
    end
  end

  # @return [String] the page as man prints it
  def shown(environment = {})
    simpkv!('man', environment: environment, process: true).force_encoding('UTF-8')
  end

  it 'has each command, its options, its examples, and the exit codes', :tools do
    text = shown('MANWIDTH' => '200').gsub(/^ +/, '')
    Simpkv::Cli::Commands.commands.each do |command|
      usage = "simpkv #{command.title} [options] #{command::ARGUMENTS}".rstrip
      expect(text).to match(/^#{command.title}$/).and include(usage)
      command.new.switches.each do |switch|
        expect(text).to match(/^#{Regexp.escape((switch.short + switch.long).join(', '))}\b/)
      end
      command::EXAMPLES.each { |line, effect| expect(text).to include("#{effect}:\n\n#{line.rstrip}\n") }
    end
    codes = Simpkv::Cli::Failure.constants.map { |name| Simpkv::Cli::Failure.const_get(name) }.grep(Integer)
    expect(Simpkv::Cli::Failure::MEANINGS.keys).to match_array([0, *codes])
    expect(text[/EXIT STATUS.*?FILES/m].scan(/^\d+/).map(&:to_i)).to match_array([0, *codes])
  end

  it 'has a page about each option of simpkv.yaml, with its type, default and meaning', :tools do
    text = simpkv!('man', 'simpkv.yaml', environment: { 'MANWIDTH' => '1000' }, process: true).force_encoding('UTF-8')
    entries = text.gsub(/^ +/, '')
    { 'softfail' => 'type: true or false; default: false', 'base_dn' => 'type: ' }.each do |option, fact|
      expect(entries).to match(/^#{option}\b\s+.*#{fact}/)
    end
    expect(simpkv('man', 'x').to_a).to eq(['', "simpkv: there is no page 'x', only simpkv.yaml\n", 64])
  end

  # A constant HIDDEN of its own had hidden `stat`.
  it 'leaves out no command but complete, which shells call' do
    files = Dir[File.expand_path('../../{lib,gems/*/lib}/simpkv/cli/commands/*.rb', __dir__)]
    names = files.map { |file| File.basename(file, '.rb').tr('_', '-') }
    expect(names - Simpkv::Cli::Commands.members.keys).to eq(%w[complete])
  end

  it 'has a configuration that works', :tools do
    file = File.join(folder, 'example.yaml')
    File.write(file, shown[/^ +backends:\n.*?(?=\n\n)/m])
    facts = %w[default secrets].map { |name| JSON.parse(simpkv!('explain', 'a', '-c', file, '-b', name, '-o', 'json')) }
    expect(facts.map { |fact| fact['type'] }).to eq(%w[file ldap])
  end

  it 'is roff if the program man is missing' do
    bin = File.join(folder, 'bin')
    FileUtils.mkdir(bin)
    expect(simpkv!('man', environment: { 'PATH' => bin })).to eq(File.binread(page))
  end

  it 'is shown in a pager on a terminal' do
    File.write(File.join(folder, 'pager'), "#!/bin/sh\ngrep -c SIMPKV\n")
    File.chmod(0o755, File.join(folder, 'pager'))
    PTY.spawn({ 'MANPAGER' => './pager' }, *Unbundled::COMMAND, 'man', chdir: folder) do |output, _, pid|
      expect(output.gets).to match(/\A\d+\r\n\z/)
      Process.wait(pid)
    end
  end
end

RSpec.describe 'simpkv' do
  include_context 'with the command'

  it 'lists all commands without arguments, with --help and with help' do
    texts = [[], ['--help'], ['-h'], ['help']].map { |arguments| simpkv!(*arguments) }
    expect(texts.uniq.length).to eq(1)
    Simpkv::Cli::Commands.members.each do |name, member|
      expect(texts.first).to match(/^  #{name} +#{Regexp.escape(member::SUMMARY)}$/)
    end
    expect(texts.first).not_to match(/^  complete /)
  end

  # They were one alphabetic list.
  it 'lists the commands in sections, and so does the manual' do
    members = Simpkv::Cli::Commands.members
    titles = Simpkv::Cli::Group::SECTIONS.values_at(*members.values.map(&:section).uniq)
    expect(simpkv!.scan(/^(\w[^:\n]*):$/).flatten - %w[Examples]).to eq(titles)
    keys = members.select { |_, member| member.section == :keys }.keys
    expect(keys).to eq(keys.sort).and include('get', 'ls')
    expect(simpkv![/^Keys:\n(?:  .*\n)*/].lines.drop(1).map { |line| line.split.first }).to eq(keys)
    manual = simpkv!('man', process: true).force_encoding('UTF-8')
    expect(manual.scan(/^COMMANDS: (.*)$/).flatten).to include(*titles.map(&:upcase))
  end

  it 'takes the names of functions for ls and rm' do
    simpkv!('put', 'app1/a', 'x')
    expect([simpkv!('list', 'app1'), simpkv!('delete', 'app1/a')]).to eq(["a\n", ''])
    expect(simpkv('exists', 'app1/a').code).to eq(1)
    expect(simpkv!('help', 'list')).to eq(simpkv!('ls', '--help'))
    expect(simpkv!('delete', '--help')).to start_with('Usage: simpkv rm ')
  end

  it 'prints its version' do
    expect([simpkv!('--version'), simpkv!('version')]).to all(eq("simpkv #{Simpkv::VERSION}\n"))
  end

  Simpkv::Cli::Commands.commands.each do |command|
    it "explains #{command.title}, with examples that its parser accepts" do
      words = command.title.split
      texts = [[*words, '--help'], ['help', *words], [*words, '-h']].map { |arguments| simpkv!(*arguments) }
      expect(texts.uniq.length).to eq(1)
      expect(texts.first).to start_with("Usage: simpkv #{command.title} [options]").and match(/^Examples:$/)
      command::EXAMPLES.each_key do |line|
        words = line[/\bsimpkv .*/].sub(/ [|>(]+ .*/, '').sub(/\|\|.*/, '').chomp(')').shellsplit.drop(1)
        expect { command.new.parser.parse(words) }.not_to raise_error
      end
    end
  end
end

RSpec.describe 'simpkv schema' do
  include_context 'with the command'

  folder = File.expand_path('../../schema', __dir__)
  {
    [] => 'openldap/simpkv.ldif', %w[--layout hex] => 'openldap/simpkv-hex.ldif',
    %w[--form schema] => 'openldap/simpkv.schema', %w[--form schema --layout=hex] => 'openldap/simpkv-hex.schema',
    %w[--form limits] => 'openldap/limits.conf', %w[--form base] => 'base.ldif',
    %w[--form access] => 'openldap/access.conf', %w[--form watch] => 'openldap/watch.ldif',
    %w[--server 389ds --form access] => '389ds/access.ldif',
    %w[--server 389ds] => '389ds/plain.ldif',
    %w[--server 389ds --layout hex] => '389ds/hex.ldif', %w[--server 389ds --form limits] => '389ds/limits.ldif',
    %w[--server 389ds --form base] => 'base.ldif'
  }.each do |arguments, file|
    it "#{arguments.join(' ')} prints #{file}" do
      expect(simpkv!('schema', *arguments)).to eq(File.binread(File.join(folder, file)))
    end
  end

  it 'has every file of the folder schema/' do
    printed = %w[openldap 389ds].product(%w[plain hex]).flat_map do |server, layout|
      Simpkv::Cli::DirectorySchema.forms(server).map do |form|
        Simpkv::Cli::DirectorySchema.file(server, layout, form).delete_prefix("#{folder}/")
      end
    end
    expect(printed.uniq).to match_array(Dir['**/*.*', base: folder])
  end

  it 'prints the schema in front of the rules for cn=config' do
    text = simpkv!('schema', '--form', 'config')
    expect(text).to end_with(File.read(File.join(folder, 'openldap/config.ldif')))
    expect(text).to match(/^dn: cn=simpkv,cn=schema,cn=config\nchangetype: add\n/)
  end

  it 'has the indexes of the layout' do
    { 'openldap' => [/^index simpkvHexId,simpkvId eq,sub$/], '389ds' => [/^dn: cn=simpkvHexId,/, /^cn: simpkvId$/] }
      .each do |server, lines|
        text = simpkv!('schema', '--server', server, '--form', 'limits', '--layout', 'hex')
        expect(lines).to all(satisfy { |line| text.match?(line) })
        expect(text).not_to include('simpkvKey')
      end
  end

  context 'with a backend that is a directory' do
    let(:backends) do
      { 'default' => { 'type' => 'ldap', 'id' => 'site', 'ldap_uri' => 'ldapi://%2Frun%2Fldapi',
                       'base_dn' => 'ou=kv,ou=puppet,dc=example,dc=com', 'admin_dn' => 'cn=kv,dc=example,dc=com',
                       'admin_pw_file' => '/nothing' } }
    end

    it 'has its names in each form, and no others' do
      { 'openldap' => %w[base access limits config], '389ds' => %w[base access limits] }.each do |server, forms|
        forms.each do |form|
          text = simpkv!('schema', '--server', server, '--form', form)
          expect(text).to start_with("# For the backend 'default' (ldap/site).\n").and match(/dc=example,dc=com/)
          expect(text).not_to match(/dc=simp|^#:/)
        end
      end
    end

    it 'has the name of the database in it' do
      expect(simpkv!('schema', '--form', 'config', '--database', '{3}mdb')).to include("\ndn: olcDatabase={3}mdb,cn=")
      expect(simpkv!('schema', '--form', 'watch', '--database', '{3}mdb')).to include('=syncprov,olcDatabase={3}mdb,')
      expect(simpkv!('schema', '--server', '389ds', '--form', 'limits', '--database', 'site'))
        .to include(',cn=site,cn=ldbm database,').and match(/^#   dsconf .* site$/)
    end

    it 'has the entries between the suffix and the base entry' do
      expect(simpkv!('schema', '--form', 'base').scan(/^dn: .*/))
        .to eq(['dn: ou=puppet,dc=example,dc=com', 'dn: ou=kv,ou=puppet,dc=example,dc=com'])
    end

    it 'asks for the bind DN if the local user binds' do
      backends['default'].delete('admin_pw_file')
      expect(simpkv('schema', '--form', 'access')).to have_attributes(code: 64, err: /--identity .*ldapwhoami/)
      expect(simpkv!('schema', '--form', 'access', '--identity', 'cn=me,dc=x')).to include('by dn.exact="cn=me,dc=x"')
      expect(simpkv!('schema', '--form', 'base')).to include('dn: ou=kv,')
    end

    it 'refuses names that a file cannot contain' do
      backends['default']['admin_dn'] = "cn=a\nb"
      expect(simpkv('schema', '--form', 'limits')).to have_attributes(code: 78, err: /control characters/)
      backends['default']['admin_dn'] = 'cn=*'
      File.write(config, { 'backends' => backends }.to_yaml)
      expect(simpkv('schema', '--server', '389ds', '--form', 'access')).to have_attributes(code: 78, err: /an ACI/)
    end
  end

  it 'has the layout of a backend that is a directory' do
    File.write(config, { 'backends' => { 'default' => { 'type' => 'ldap', 'id' => 'x', 'layout' => 'hex' } } }.to_yaml)
    expect(simpkv!('schema')).to start_with('# The hex layout')
    expect(simpkv!('schema', '--server', '389ds')).to start_with('# The hex layout')
    expect(simpkv!('schema', '--layout', 'plain')).to start_with('# The plain layout')
  end

  it 'names the forms of a server' do
    outcome = simpkv('schema', '--server', '389ds', '--form', 'schema')
    why = "simpkv: there is no form 'schema' for 389ds: it has ldif, base, access, limits\n"
    expect(outcome.to_a).to eq(['', why, 64])
    expect(simpkv('schema', '--server', 'ad').code).to eq(64)
  end
end
