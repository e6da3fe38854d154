# frozen_string_literal: true

require_relative 'command_helper'
require_relative '../support/eventually'
require 'socket'

# An error is one line on standard error, and an exit code.
RSpec.describe 'simpkv' do
  include_context 'with the command'

  # @return [Array(Integer, String)] the code, and the line; nothing is on standard output
  def failure(*arguments, **more)
    outcome = simpkv(*arguments, **more)
    expect(outcome.out).to eq('')
    expect(outcome.err.lines.length).to eq(1), outcome.err
    [outcome.code, outcome.err.force_encoding('UTF-8')]
  end

  def write(name, text)
    File.join(folder, name).tap { |file| File.write(file, text) }
  end

  describe 'with a wrong command line exits with 64, and' do
    it 'suggests a command' do
      expect(failure('gett', 'a')).to match([64, /there is no such command 'gett': did you mean 'get'\?/])
      { 'remove' => 'rm', 'dir' => 'ls', 'deletetree' => 'rm -r', 'compare_and_put' => 'cas' }.each do |name, command|
        expect(failure(name, 'a')).to match([64, /there is no such command '#{name}': did you mean '#{command}'\?/])
      end
      expect(failure('frobnicate')).to match([64, /there is no such command 'frobnicate' \(simpkv --help/])
    end

    # Some named neither, and a key was a folder that is "not found".
    it 'names the key that is no name, or is a key in the place of a folder' do
      simpkv!('put', 'app1/k', 'x')
      [%w[watch], %w[stat], %w[rm], %w[ls], %w[tree], %w[get]].each do |command|
        expect(failure(*command, '//../x').last).to include("'//../x': '.' and '..' are not allowed as a name")
      end
      [%w[watch], %w[watch --poll=1], %w[ls], %w[tree]].each do |command|
        expect(failure(*command, 'app1/k'))
          .to match([66, %r{k': it is a key, and simpkv #{command.first} takes a folder: .* above it is '/app1'$}])
      end
      expect(failure('ls', 'missing').last).to match(/'missing': Key folder .* not found/)
    end

    it 'names the option' do
      expect(failure('get', '--bogus', 'a')).to match([64, /invalid option: --bogus \(simpkv get --help\)/])
      expect(failure('stat', '--version', 'a')).to match([64, /invalid option: --version \(simpkv stat --help\)/])
      expect(failure('ls', 'a', '-o', 'xml'))
        .to match([64, /invalid argument: -o xml: expected table, json or yaml \(simpkv ls --help/])
      expect(failure('get', 'a', '--output=xml'))
        .to match([64, /invalid argument: --output xml: expected table, json, yaml or env/])
      expect(failure('get', 'a', '-oPl4nted')).to match([64, /invalid argument: -o: expected table, json, yaml or env/])
      expect(failure('doctor', '--list-size', 'x'))
        .to match([64, /invalid argument: --list-size: expected a whole number \(/])
      expect(failure('get', 'a', '--config')).to match([64, /missing argument: --config/])
      expect(failure('-g')).to match([64, /no command after -g/])
      # Each was "no command after -c", also with a misspelt command behind the file.
      expect(failure('-c', config, 'gett')).to match([64, /there is no such command 'gett': did you mean 'get'\?/])
      expect(failure('-c', config)).to match([64, /no command after -c/])
      expect(simpkv!('-c', config, '--help')).to eq(simpkv!)
    end

    # -f was --from-puppet, -n was --node, and so on.
    it 'completes the name of no option from one letter' do
      %w[-f -n -v].each do |name|
        expect(failure('get', 'a', name, 'json')).to match([64, /invalid option: #{name} /])
      end
      expect(failure('get', 'a', '-f', 'json')).to match([64, /invalid option: -f \(simpkv get --help\)/])
      expect(failure('get', 'a', '--f')).to match([64, /invalid option: --f /])
      expect(simpkv('get', 'a', '--out', 'json')).to have_attributes(code: 66)
    end

    it 'states the number of arguments' do
      expect(failure('exists')).to match([64, /simpkv exists takes KEY, but 0 given/])
      expect(failure('exists', 'a', 'b')).to match([64, /simpkv exists takes KEY, but 2 given/])
      expect(failure('cas', 'a', 'b', 'c')).to match([64, /takes KEY \[VALUE\] \(--expect OLD .*, but 3 given/])
      expect(failure('rm')).to match([64, /which keys\?/])
      expect(failure('put', 'a')).to match([64, /VALUE or --file/])
      expect(failure('put', 'a', 'x', '--file', 'y')).to match([64, /VALUE or --file/])
    end

    it 'refuses an invalid name of an environment' do
      expect(failure('explain', 'a', '-e', '../x')).to match([64, %r{'\.\./x' is not the name of an environment}])
    end
  end

  describe 'with a wrong configuration' do
    it 'names a missing file' do
      expect(failure('ls', '-c', 'nothing.yaml')).to eq([66, "simpkv: nothing.yaml: there is no such file\n"])
      expect(failure('ls', environment: { 'SIMPKV_CONFIG' => '/nothing' })).to match([66, %r{/nothing: there is no}])
    end

    { 'a bracket is left open' => "a: [pl4nted-value\n", 'a brace is' => 'pl4nted-value: - b: {',
      'an object is asked for' => "--- !ruby/object:Object\npl4nted: 1\n",
      'a tab indents' => "\tpl4nted" }.each do |what, text|
      it "refuses YAML in which #{what}, and quotes nothing" do
        code, line = failure('ls', '--config', write('wrong.yaml', text))
        expect([code, line]).to match([78, /wrong\.yaml: it (is neither YAML nor JSON|has a date, a symbol|has a tag)/])
        expect(line).not_to include('pl4nted')
      end
    end

    it 'refuses options that are no Hash' do
      ['pl4nted', '[pl4nted]', '', 'simpkv::options: pl4nted'].each do |text|
        expect(failure('ls', '--config', write('wrong.yaml', text)))
          .to match([78, %r{\Asimpkv: /.*/wrong\.yaml: expected the options of simpkv, a Hash$}])
      end
    end

    it 'refuses a file without options of simpkv (it used to use the store of production)' do
      ['a::b: 1', '{}', 'backend: {default: {type: file}}'].each do |text|
        expect(failure('ls', '--config', write('wrong.yaml', text)))
          .to match([78, %r{\Asimpkv: /.*/wrong\.yaml: there is neither 'simpkv::options' nor 'backends' in this file}])
      end
    end

    it 'reads options below their name in Hiera' do
      text = { 'a::b' => 1, 'simpkv::options' => { 'backends' => backends } }.to_yaml
      simpkv!('put', 'a', 'x', '-c', write('hiera.yaml', text))
      expect(simpkv!('get', 'a')).to eq('x')
    end

    it 'refuses an empty SIMPKV_CONFIG, unless another source is named' do
      empty = { 'SIMPKV_CONFIG' => '' }
      expect(failure('ls', environment: empty))
        .to eq([78, "simpkv: SIMPKV_CONFIG is empty: set it to the name of a file, or unset it\n"])
      simpkv!('put', 'a', 'x', '-c', config, environment: empty)
      expect(failure('ls', '-c', '')).to eq([64, "simpkv: --config needs the name of a file, and it is empty\n"])
    end

    it 'refuses --config with --from-puppet, and --node without it (one of them was ignored)' do
      expect(failure('ls', '-c', config, '--from-puppet'))
        .to match([64, /--config and --from-puppet exclude each other/])
      expect(failure('ls', '--node', 'db1')).to eq([64, "simpkv: --node needs --from-puppet\n"])
    end

    it 'refuses a folder in place of the file' do
      expect(failure('ls', '-c', '.')).to eq([66, "simpkv: .: this is a folder; the options are in a file\n"])
    end

    it 'explains that types of plugins work in Puppet only' do
      write('plugin.yaml', { 'backends' => { 'default' => { 'type' => 'vault', 'id' => 'x' } } }.to_yaml)
      expect(failure('ls', '-c', 'plugin.yaml'))
        .to match([78, /is of the type 'vault'. The command has the types file and ldap only: .* in Puppet only/])
      write('plugin.yaml', { 'backends' => { 'default' => { 'type' => 'ldaps', 'id' => 'x' } } }.to_yaml)
      expect(failure('ls', '-c', 'plugin.yaml')).to match([78, /'ldaps': did you mean 'ldap'\? The command/])
    end

    it 'lets doctor skip backends of such types' do
      more = { 'vault' => { 'type' => 'vault', 'id' => 'x' } }
      write('plugin.yaml', { 'backends' => backends.merge(more) }.to_yaml)
      simpkv!('put', 'a', 'x', '-c', 'plugin.yaml')
      expect(simpkv('doctor', '-c', 'plugin.yaml', '--read-only').out)
        .to match(/^\? +backend 'vault': .* Puppet only$/).and(satisfy { |shown| !shown.include?('PROBLEM options') })
      expect(failure('doctor', '-c', 'plugin.yaml', '-b', 'vault')).to match([78, /is of the type 'vault'/])
    end

    it 'names a missing backend' do
      expect(failure('ls', '-b', 'secrets')).to match([78, /'secrets'/])
    end

    it 'names the type of an option, and suggests a misspelt one' do
      text = "backends: {default: {type: file, id: x, root_path: #{folder}/keys, lock_timeout_seconds: pl4nted}}"
      code, line = failure('ls', '-c', write('wrong.yaml', text))
      expect([code, line]).to match([78, /'lock_timeout_seconds' of simpkv backend 'default' must be/])
      expect(line).not_to include('pl4nted')
      outcome = simpkv('put', 'a', 'x', '-c',
                       write('wrong.yaml', text.sub('lock_timeout_seconds: pl4nted', 'root_pat: x')))
      expect([outcome.code, outcome.err]).to match([0, /did you mean 'root_path'\?/])
    end

    it 'names a missing folder of keys, which would look empty' do
      expect(failure('ls')).to match([66, %r{there is no folder '/.*/keys' to read keys from}])
    end
  end

  describe 'with a directory' do
    include_context 'with a directory', Slapd, layout: 'plain'

    let(:options) { directory.options('type' => 'ldap', 'id' => id) }
    let(:backends) { { 'default' => options } }

    it 'exits with 77 for a wrong password, and does not print it' do
      options['admin_pw_file'] = directory.wrong_password_file
      code, line = failure('get', 'a')
      expect([code, line]).to match([77, /simpkv doctor/])
      expect(line).not_to include(File.read(directory.wrong_password_file))
    end

    it 'exits with 69 if no server listens' do
      port = TCPServer.open('127.0.0.1', 0) { |server| server.addr[1] }
      options['ldap_uri'] = "ldap://127.0.0.1:#{port}"
      expect(failure('get', 'a'))
        .to match([69, %r{^simpkv: ldap/#{id}: could not access ou=.*: .*127\.0\.0\.1:#{port}.*simpkv doctor}])
    end

    it 'exits with 78 if the password file is missing' do
      options['admin_pw_file'] = '/nothing'
      expect(failure('get', 'a')).to match([78, %r{'admin_pw_file' /nothing does not exist}])
    end

    it 'ends by the signal of Ctrl-C while a server does not answer' do
      TCPServer.open('127.0.0.1', 0) do |server|
        options['ldap_uri'] = "ldap://127.0.0.1:#{server.addr[1]}"
        before = nil
        outcome = simpkv('get', 'a') do |pid|
          server.accept
          sleep 0.2
          before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          Process.kill('INT', pid)
        end
        expect(outcome.to_a).to eq(['', '', -2])
        # The deadline of the server is 30 s.
        expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - before).to be < 20
      end
    end

    it 'ignores files in the working directory and variables of libldap' do
      File.write(File.join(folder, 'ldaprc'), <<~LDAPRC)
        URI ldap://127.0.0.1:1
        BASE dc=wrong
        SIZELIMIT 1
        TIMELIMIT 1
        DEREF always
        TLS_REQCERT never
        SASL_MECH GSSAPI
      LDAPRC
      %w[json yaml optparse simpkv].each { |name| write("#{name}.rb", "puts 'hijacked'\nexit 3\n") }
      hostile = { 'LDAPCONF' => File.join(folder, 'ldaprc'), 'LDAPRC' => 'ldaprc', 'LDAPSIZELIMIT' => '1',
                  'LDAPURI' => 'ldap://127.0.0.1:1' }
      %w[a b c].each { |key| simpkv!('put', key, 'x', environment: hostile) }
      expect(simpkv!('ls', environment: hostile)).to eq("a\nb\nc\n")
    end
  end

  # @return [Array(String, String)] what comes out of a shell's command line, and what is complained of
  def shell(line)
    out, err, = Open3.capture3({ 'SIMPKV_CONFIG' => config }, 'bash', '-c',
                               line.gsub('simpkv', Unbundled::COMMAND.join(' ')), chdir: folder)
    [out, err]
  end

  it 'ends silently by the signal of a closed pipe' do
    300.times { |number| simpkv_file("folder/key-#{number}-#{'x' * 200}") }
    expect(shell('simpkv ls folder | exec true; echo ${PIPESTATUS[0]}')).to eq(["141\n", ''])
    expect(shell('simpkv ls folder | head -0')).to eq(['', ''])
  end

  # Writes a key without the command.
  def simpkv_file(key)
    file = File.join(folder, 'keys/environments/production', key)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, '{"value":1}')
  end

  it 'prints a newline behind a value on a terminal only' do
    simpkv!('put', 'a', 'x')
    expect(on_terminal('get', 'a')).to eq(["x\r\n", 0])
    expect(simpkv!('get', 'a')).to eq('x')
  end

  it 'keeps characters that the locale lacks' do
    posix = { 'LC_ALL' => 'C', 'LANG' => 'C' }
    simpkv!('put', 'a', 'λ', '--metadata', '{"é": 1}', environment: posix)
    expect(simpkv!('get', 'a', environment: posix).force_encoding('UTF-8')).to eq('λ')
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json', environment: posix)))
      .to eq('value' => 'λ', 'metadata' => { 'é' => 1 })
    expect(YAML.safe_load(simpkv!('get', 'a', '-o', 'yaml', environment: posix))['value']).to eq('λ')
    expect(simpkv!('tree', environment: posix)).to end_with("└── a\n".b)
  end

  it 'starts fast enough for scripts' do
    simpkv!('put', 'a', 'x')
    times = Array.new(3) do
      before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      simpkv!('get', 'a', process: true)
      Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
    end
    # bench/command.rb has the target.
    expect(times.min).to be < 20
  end

  it 'accepts options before the command' do
    simpkv!('-e', 'dev', '-o', 'json', 'put', 'a', 'x')
    expect(simpkv!('--environment', 'dev', 'get', 'a')).to eq('x')
    expect(simpkv!('--environment=dev', 'get', 'a')).to eq('x')
  end
end
