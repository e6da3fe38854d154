# frozen_string_literal: true

require 'io/console'
require 'pty'
require 'shellwords'
require_relative 'command_helper'

# What a shell offers, asked in the shell itself.
RSpec.describe 'simpkv completion' do
  include_context 'with keys in files'

  # By the shell's name, what is printed for it; once.
  scripts = Hash.new do |made, shell|
    made[shell] = Command.run(['completion', shell], '', {}, Dir.tmpdir).out
  end

  # Names that a shell must not evaluate.
  hostile = '$(touch pwned)`touch pwned`; touch pwned #'

  before do
    bin = File.join(folder, 'bin')
    FileUtils.mkdir_p([bin, File.join(folder, 'files')])
    File.write(File.join(bin, 'simpkv'), "#!/bin/sh\nexec #{RbConfig.ruby} #{Command::EXECUTABLE} \"$@\"\n")
    File.chmod(0o755, File.join(bin, 'simpkv'))
    paths = %w[app1/db_password app1/web:443 app1/site/deep app2/x token].map { |key| "environments/production/#{key}" }
    [*paths, 'environments/dev/other', 'globals/hosts/db1'].each { |path| store.put(path, 'x') }
    FileUtils.mkdir_p(File.join(folder, 'keys/environments/dev', hostile))
    %w[bash zsh fish].each { |shell| File.write(File.join(folder, shell), scripts[shell]) }
  end

  after { expect(File).not_to exist(File.join(folder, 'pwned')) }

  let(:environment) do
    { 'PATH' => "#{File.join(folder, 'bin')}:#{ENV.fetch('PATH')}", 'SIMPKV_CONFIG' => config, 'HOME' => folder,
      'TERM' => 'dumb', 'PS1' => '', 'LC_ALL' => 'C.UTF-8' }
  end

  # Each line, to its end where the cursor is, and what can stand there, in the order of names.
  lines = {
    'simpkv e' => %w[edit exists explain export], 'simpkv ge' => %w[get], 'simpkv help tr' => %w[tree],
    'simpkv get ' => %w[app1/ app2/ token], 'simpkv get app1/' => %w[app1/db_password app1/site/ app1/web:443],
    'simpkv get app1/web:4' => %w[app1/web:443], 'simpkv get to' => %w[token], 'simpkv get token a' => [],
    'simpkv ls a' => %w[app1/ app2/], 'simpkv ls t' => [], 'simpkv rm token app2/' => %w[app2/x],
    'simpkv put token t' => [],
    'simpkv -g get ' => %w[hosts/], 'simpkv get -e dev o' => %w[other], "simpkv ls --environment '' d" => %w[dev/],
    'simpkv --environment=dev get o' => %w[other], 'simpkv get -o ' => %w[json table yaml],
    'simpkv schema --layout h' => %w[hex], 'simpkv put a --file fil' => %w[files/], 'simpkv --vardir fil' => %w[files/],
    'simpkv -b ' => %w[default default2], 'simpkv get --backend default2' => %w[default2],
    'simpkv copy default def' => %w[default default2], 'simpkv ls -e ' => %w[dev production],
    'simpkv -b default get --environment p' => %w[production], 'simpkv -b default2 ls -e d' => [],
    'simpkv mv token app1/w' => %w[app1/web:443],
    'simpkv -c nothing.yaml get t' => [], 'simpkv completion ' => %w[bash fish zsh], 'simpkv find t' => []
  }

  describe 'bash' do
    # As bash splits lines where words are completed.
    def completed(line)
      words = line.scan(/[^\s:=]+|[:=]+/)
      words << '' if line.end_with?(' ')
      script = "source ./bash; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); _simpkv; printf '%s\\n' \"${COMPREPLY[@]}\""
      out, err, = Open3.capture3(environment, 'bash', '--norc', '-c', script, 'bash', *words, chdir: folder)
      expect(err).to eq('')
      out.lines(chomp: true).reject(&:empty?).sort
    end

    it 'is a script without errors' do
      expect(Open3.capture2e('bash', '-n', 'bash', chdir: folder).first).to eq('')
      expect(Open3.capture2e('shellcheck', '-s', 'bash', 'bash', chdir: folder).first).to eq('')
    end

    lines.each do |line, offered|
      it "completes '#{line}'" do
        # bash replaces what follows a colon, and adds the slash to folders of files itself.
        expected = offered.map { |word| line.include?(':') ? word[/[^:]*\z/] : word }
        expected = expected.map { |word| word.chomp('/') } if line.end_with?('fil')
        expect(completed(line)).to eq(expected)
      end
    end

    it 'completes options, those of the command and those of all' do
      expect(completed('simpkv rm --')).to include('--recursive', '--force', '--config', '--help')
      expect(completed('simpkv get --')).to include('--config').and(satisfy { |words| !words.include?('--recursive') })
      expect(completed('simpkv ls --output=y')).to eq(%w[yaml])
    end

    it 'quotes names, and evaluates none' do
      expect(completed('simpkv ls -e dev ').map(&:shellsplit)).to eq([["#{hostile}/"]])
    end

    it 'works where a line is typed' do
      PTY.spawn(environment, 'bash', '--norc', '-i', chdir: folder) do |output, input, pid|
        input.write("source ./bash; bind 'set enable-bracketed-paste off'\n")
        input.write("echo \"[$(simpkv get app1/d\t)]\"\n")
        input.write("simpkv exists app1/w\t; exit\n")
        shown = +''
        begin
          loop { shown << output.readpartial(4096) }
        rescue Errno::EIO, EOFError
          nil
        end
        Process.wait(pid)
        expect(shown).to include("\nkey\r\n")
      end
    end
  end

  describe 'fish' do
    def completed(line)
      script = 'source ./fish; complete -C $argv[1]'
      out, err, = Open3.capture3(environment, 'fish', '--no-config', '-c', script, line, chdir: folder)
      expect(err).to eq('')
      out.lines(chomp: true).sort
    end

    it 'is a script without errors' do
      expect(Open3.capture2e(environment, 'fish', '--no-execute', 'fish', chdir: folder).first).to eq('')
    end

    lines.each do |line, offered|
      it "completes '#{line}'" do
        expect(completed(line).map { |words| words[/\A[^\t]*/] }).to eq(offered)
      end
    end

    it 'says what commands and options are for' do
      expect(completed('simpkv ge')).to eq(["get\tprint the value of a key"])
      expect(completed('simpkv rm --rec')).to eq(["--recursive\tdelete folders"])
      expect(completed('simpkv get --rec')).to eq([])
      expect(completed('simpkv ls --output=y')).to eq(["--output=yaml\ttable, json or yaml"])
    end

    it 'evaluates no names' do
      expect(completed('simpkv ls -e dev ')).to eq(["#{hostile}/"])
    end
  end

  describe 'zsh' do
    # What is on the line once the tab key was pressed; where several fit, with what they have in common, and the list.
    def completed(line)
      PTY.spawn(environment, 'zsh', '-f', '-i', chdir: folder) do |output, input, pid|
        output.winsize = [50, 1000]
        input.puts("stty -echo; unsetopt prompt_sp; PS1=''; autoload -U compinit; compinit -u -D; source ./zsh",
                   "bindkey '^I' complete-word; zle -N said; bindkey '^X' said",
                   'said() { print -r -- "<$BUFFER>"; exit }', "zstyle ':completion:*' list-colors ''; print rea''dy")
        until_shown(output, "ready\r\n")
        input.write("#{line}\t\x18")
        shown = until_shown(output, nil)
        Process.wait(pid)
        return shown.gsub(/\e\[[\d;?]*[a-z]/, ' ')
      end
    end

    def until_shown(output, text)
      shown = +''
      shown << output.readpartial(4096) until text && shown.include?(text)
      shown
    rescue Errno::EIO, EOFError
      shown
    end

    it 'is a script without errors' do
      expect(Open3.capture2e('zsh', '-n', 'zsh', chdir: folder).first).to eq('')
    end

    def common_beginning(words)
      words.first&.slice(0, (0..words.first.length).take_while { |n| words.map { |word| word[0, n] }.uniq.one? }.last)
    end

    lines.each do |line, offered|
      it "completes '#{line}'" do
        shown = completed(line)
        word = line[/\S*\z/]
        common = common_beginning(offered) || word
        expect(shown[/<(.*)>/, 1].rstrip.chomp('/')).to eq((line.delete_suffix(word) + common).rstrip.chomp('/'))
        expect(shown.split).to include(*offered) if offered.length > 1 && common == word
      end
    end

    it 'quotes names, and evaluates none' do
      expect(completed('simpkv ls -e dev ')).to include('<simpkv ls -e dev \\$\\(touch\\ pwned\\)\\`touch')
    end
  end

  it 'says which shells there are' do
    outcome = simpkv('completion', 'tcsh')
    expect([outcome.code, outcome.err])
      .to eq([64, "simpkv: there is no completion for 'tcsh', only for bash, zsh and fish\n"])
  end
end
