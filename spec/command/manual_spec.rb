# frozen_string_literal: true

require_relative 'command_helper'
require_relative '../../rakelib/documentation'
require 'simpkv/cli'
require 'simpkv/cli/grammar'

RSpec.describe 'The manual of simpkv' do
  include_context 'with the command'

  page = File.join(Documentation::ROOT, 'docs/simpkv.1')

  it 'is made from the commands: else run `rake docs`' do
    expect(File.read(page)).to eq(Documentation.manual)
  end

  it 'is a page that man and groff take without a warning' do
    [%W[man --warnings -E UTF-8 -l -Tutf8 -Z #{page}], %W[groff -man -ww -Z #{page}]].each do |command|
      _, warnings, status = Open3.capture3(*command)
      expect([warnings, status.exitstatus]).to eq(['', 0])
    end
  end

  # As man prints it.
  def shown(*arguments, **more)
    simpkv!(*arguments, **more).force_encoding('UTF-8')
  end

  it 'has each command, its options, its examples, and the exit codes' do
    text = shown('man', environment: { 'MANWIDTH' => '200' }).gsub(/^ +/, '')
    Simpkv::Cli::Grammar.commands.each do |command|
      usage = "simpkv #{command.name} [options] #{command.type::ARGUMENTS}".rstrip
      expect(text).to match(/^#{command.name}$/).and include(usage)
      command.options.each { |option| expect(text).to match(/^#{Regexp.escape(option.names.join(', '))}\b/) }
      command.type::EXAMPLES.each { |line, what| expect(text).to include("#{what}:\n#{line.rstrip}\n") }
    end
    codes = Simpkv::Cli::Failure.constants.map { |name| Simpkv::Cli::Failure.const_get(name) }.grep(Integer)
    expect(Simpkv::Cli::Failure::MEANINGS.keys).to match_array([0, *codes])
    expect(text[/EXIT STATUS.*?FILES/m].scan(/^\d+/).map(&:to_i)).to match_array([0, *codes])
  end

  it 'has a configuration that can be used' do
    file = File.join(folder, 'example.yaml')
    File.write(file, shown('man')[/^ +backends:\n.*?(?=\n\n)/m])
    facts = %w[default secrets].map { |name| JSON.parse(simpkv!('explain', 'a', '-c', file, '-b', name, '-o', 'json')) }
    expect(facts.map { |fact| fact['type'] }).to eq(%w[file ldap])
  end

  it 'is roff where there is no man' do
    bin = File.join(folder, 'bin')
    FileUtils.mkdir(bin)
    expect(simpkv!('man', environment: { 'PATH' => bin, 'RUBYOPT' => nil })).to eq(File.binread(page))
  end

  it 'is in a pager on a terminal' do
    File.write(File.join(folder, 'pager'), "#!/bin/sh\ngrep -c SIMPKV\n")
    File.chmod(0o755, File.join(folder, 'pager'))
    PTY.spawn({ 'MANPAGER' => './pager' }, RbConfig.ruby, Command::EXECUTABLE, 'man', chdir: folder) do |output, _, pid|
      expect(output.gets).to match(/\A\d+\r\n\z/)
      Process.wait(pid)
    end
  end
end

RSpec.describe 'simpkv' do
  include_context 'with the command'

  it 'names all commands when it is called without one, or with --help or help' do
    texts = [[], ['--help'], ['-h'], ['help']].map { |arguments| simpkv!(*arguments) }
    expect(texts.uniq.length).to eq(1)
    Simpkv::Cli::COMMANDS.each { |name, summary| expect(texts.first).to match(/^  #{name} +#{Regexp.escape(summary)}$/) }
  end

  it 'says its version' do
    expect(simpkv!('--version')).to eq("simpkv #{Simpkv::VERSION}\n")
  end

  Simpkv::Cli::COMMANDS.each_key do |name|
    it "explains #{name}, with examples that its own parser takes" do
      texts = [[*name.split, '--help'], ['help', *name.split], [*name.split, '-h']].map do |arguments|
        simpkv!(*arguments)
      end
      expect(texts.uniq.length).to eq(1)
      expect(texts.first).to start_with("Usage: simpkv #{name} [options]").and match(/^Examples:$/)
      Simpkv::Cli.command(name)::EXAMPLES.each_key do |line|
        words = line[/\bsimpkv .*/].sub(/ [|>(]+ .*/, '').sub(/\|\|.*/, '').chomp(')').shellsplit.drop(1)
        expect { Simpkv::Cli.command(name).new.parser.parse(words) }.not_to raise_error
      end
    end
  end
end

RSpec.describe 'simpkv schema' do
  include_context 'with the command'

  folder = File.join(Documentation::ROOT, 'schema')
  {
    [] => 'openldap/simpkv.ldif', %w[--layout hex] => 'openldap/simpkv-hex.ldif',
    %w[--form schema] => 'openldap/simpkv.schema', %w[--form schema --layout=hex] => 'openldap/simpkv-hex.schema',
    %w[--form limits] => 'openldap/limits.conf', %w[--form base] => 'base.ldif',
    %w[--server 389ds] => '389ds/plain.ldif',
    %w[--server 389ds --layout hex] => '389ds/hex.ldif', %w[--server 389ds --form limits] => '389ds/limits.ldif',
    %w[--server 389ds --form base] => 'base.ldif'
  }.each do |arguments, file|
    it "#{arguments.join(' ')} prints #{file}" do
      expect(simpkv!('schema', *arguments)).to eq(File.binread(File.join(folder, file)))
    end
  end

  it 'has every file of the folder schema/' do
    files = Dir[File.join(folder, '**/*.*')].map { |file| File.binread(file) }
    printed = %w[openldap 389ds].product(%w[plain hex], %w[ldif schema limits base]).map do |server, layout, form|
      simpkv('schema', '--server', server, '--layout', layout, '--form', form).out
    end
    expect(printed.uniq - ['']).to match_array(files)
  end

  it 'is for the layout of a backend that is a directory' do
    File.write(config, { 'backends' => { 'default' => { 'type' => 'ldap', 'id' => 'x', 'layout' => 'hex' } } }.to_yaml)
    expect(simpkv!('schema')).to start_with('# The hex layout')
    expect(simpkv!('schema', '--server', '389ds')).to start_with('# The hex layout')
    expect(simpkv!('schema', '--layout', 'plain')).to start_with('# The plain layout')
  end

  it 'says which forms a server has' do
    outcome = simpkv('schema', '--server', '389ds', '--form', 'schema')
    expect(outcome.to_a).to eq(['', "simpkv: there is no form 'schema' for 389ds: it has ldif, limits, base\n", 64])
    expect(simpkv('schema', '--server', 'ad').code).to eq(64)
  end
end
