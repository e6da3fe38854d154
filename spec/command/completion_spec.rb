# frozen_string_literal: true

require 'io/console'
require 'io/wait'
require 'pty'
require 'shellwords'
require_relative 'command_helper'

# `simpkv complete` completes all lines in this process. Each shell runs once, and completes the lines that need care in
# its script.
RSpec.describe 'simpkv completion' do
  RSpec::Matchers.define_negated_matcher(:not_include, :include)

  # A name that a shell must not evaluate.
  hostile = '$(touch pwned)`touch pwned`; touch pwned #'

  # By line, up to the cursor, the words that complete it: commands section by section, others sorted.
  lines = {
    'simpkv e' => Simpkv::Cli::Commands.members.keys.grep(/\Ae/), 'simpkv ge' => %w[get], 'simpkv help tr' => %w[tree],
    'simpkv secret i' => %w[import], 'simpkv help secret i' => %w[import], 'simpkv comple' => %w[completion],
    'simpkv li' => %w[list], 'simpkv delet' => %w[delete], 'simpkv list a' => %w[app1/ app2/],
    'simpkv get ' => %w[app1/ app2/ token], 'simpkv get app1/' => %w[app1/db_password app1/site/ app1/web:443],
    'simpkv get app1/web:4' => %w[app1/web:443], 'simpkv get to' => %w[token], 'simpkv get token a' => %w[app1/ app2/],
    'simpkv ls a' => %w[app1/ app2/], 'simpkv ls t' => [], 'simpkv rm token app2/' => %w[app2/x],
    'simpkv put token t' => [],
    'simpkv -g get ' => %w[hosts/], 'simpkv get -e dev o' => %w[other], "simpkv ls --environment '' d" => %w[dev/],
    'simpkv --environment=dev get o' => %w[other], 'simpkv get -o ' => %w[env json table yaml],
    'simpkv ls -o ' => %w[json table yaml],
    'simpkv get --recurse a' => %w[app1/ app2/], 'simpkv exec --env A=to' => %w[A=token], 'simpkv exec --env A' => [],
    'simpkv exec --file=A=app2/' => %w[--file=A=app2/x], 'simpkv exec --env A=token -- fil' => %w[files/],
    'simpkv ls --output=y' => %w[--output=yaml], 'simpkv schema --layout h' => %w[hex],
    'simpkv put a --file fil' => %w[files/], 'simpkv --vardir fil' => %w[files/],
    'simpkv -b ' => %w[default default2], 'simpkv get --backend default2' => %w[default2],
    'simpkv ls -e ' => %w[dev production],
    'simpkv -b default get --environment p' => %w[production], 'simpkv -b default2 ls -e d' => [],
    'simpkv mv token app1/w' => %w[app1/web:443], 'simpkv -c ~/simpkv.yaml get t' => %w[token],
    'simpkv -c nothing.yaml get t' => [], 'simpkv completion ' => %w[bash fish zsh], 'simpkv find t' => []
  }
  in_shells = lines.slice('simpkv e', 'simpkv get ', 'simpkv exec --env A=to', 'simpkv get app1/web:4',
                          'simpkv put token t', 'simpkv ls a',
                          "simpkv ls --environment '' d", 'simpkv --environment=dev get o', 'simpkv ls --output=y',
                          'simpkv put a --file fil', 'simpkv --vardir fil', 'simpkv -c ~/simpkv.yaml get t',
                          'simpkv -c nothing.yaml get t')
  hostile_line = 'simpkv ls -e dev '

  # Examples only read, so they share one folder.
  before(:context) do
    @folder = Dir.mktmpdir('completion')
    write('bin/simpkv', Unbundled.program, 0o755)
    backends = %w[default default2].to_h do |name|
      [name, { 'type' => 'file', 'id' => name, 'root_path' => File.join(@folder, 'keys', name) }]
    end
    write('simpkv.yaml', { 'backends' => backends }.to_yaml)
    keys = %w[app1/db_password app1/web:443 app1/site/deep app2/x token].map { |key| "environments/production/#{key}" }
    [*keys, "environments/dev/#{hostile}/x", 'environments/dev/other', 'globals/hosts/db1']
      .each { |key| write("keys/default/#{key}", 'x') }
    FileUtils.mkdir_p(File.join(@folder, 'files'))
    %w[bash zsh fish].each { |shell| write(shell, Command.run_here(['completion', shell], '', {}, @folder).out) }
  end

  after(:context) { FileUtils.remove_entry(@folder) }

  after { expect(File).not_to exist(File.join(@folder, 'pwned')) }

  def write(name, text, mode = 0o644)
    file = File.join(@folder, name)
    FileUtils.mkdir_p(File.dirname(file))
    File.write(file, text, perm: mode)
  end

  def environment
    { 'PATH' => "#{@folder}/bin:#{ENV.fetch('PATH')}", 'SIMPKV_CONFIG' => "#{@folder}/simpkv.yaml", 'HOME' => @folder,
      'TERM' => 'dumb', 'PS1' => '', 'LC_ALL' => 'C.UTF-8' }
  end

  # @return [Array<Array<String>>] what a script prints for each line. It ends each answer with an empty line
  def answers(*command, lines)
    out, err, = Open3.capture3(environment, *command, *lines, chdir: @folder)
    expect(err).to eq('')
    lines.zip(out.split(/^\n/, -1)).to_h { |line, answer| [line, answer.lines(chomp: true).sort] }
  end

  it 'prints a script of fewer than 30 lines for each shell' do
    expect(%w[bash zsh fish].map { |shell| File.foreach(File.join(@folder, shell)).count }).to all(be < 30)
  end

  describe 'by the program' do
    # @return [Array<Array(String, String)>] the words, and the texts behind them
    def completed(*arguments)
      outcome = Command.run_here(['complete', *arguments], '', environment.slice('SIMPKV_CONFIG', 'HOME'), @folder)
      outcome.out.force_encoding('UTF-8').lines(chomp: true).map { |line| line.split("\t", 2) }
    end

    lines.each do |line, offered|
      it "completes '#{line}'" do
        kind = { 'simpkv put a --file fil' => 'files', 'simpkv exec --env A=token -- fil' => 'files',
                 'simpkv --vardir fil' => 'folders' }[line]
        words = line.gsub("''", '').split(/ /, -1).drop(1)
        [['--line', line], ['--', *words]].each do |arguments|
          found = completed(*arguments)
          expect(kind ? found : found.map(&:first)).to eq(kind ? [['', kind]] : offered)
        end
      end
    end

    it 'completes options, those of the command and those of all' do
      expect(completed('--', 'rm', '--').map(&:first)).to include('--recursive', '--force', '--config', '--help')
      expect(completed('--', 'get', '--').map(&:first)).to include('--config').and(not_include('--recursive'))
      expect(completed('--', 'rm', '--', '-')).to eq([])
      expect(completed('--', 'rm', '-').map(&:first)).to include('-r', '-c', '--recursive')
    end

    # It offered none of them.
    it 'completes both names of an option that has a negative one' do
      expect(completed('--', 'put', '--s').map(&:first)).to include('--sensitive')
      expect(completed('--', 'put', '--no-').map(&:first)).to eq(%w[--no-sensitive])
    end

    it 'describes commands, options and values' do
      expect(completed('--', 'ge')).to eq([['get', 'print the value of a key, or of several']])
      expect(completed('--', 'rm', '--rec')).to eq([['--recursive', 'delete folders']])
      expect(completed('--', 'ls', '-o', 'y')).to eq([['yaml', 'table, json or yaml']])
    end

    it 'reads quotes as a shell does' do
      ["'app1/d", '"app1/d', 'ap\\p1/d', "'app'1/d"].each do |word|
        expect(completed('--line', "simpkv get #{word}")).to eq([['app1/db_password']])
      end
    end
  end

  describe 'bash' do
    before(:context) do
      script = <<~'BASH'
        source ./bash
        # bash completes files itself.
        compopt() { [[ $2 == nospace ]] || compgen "$([[ $2 == default ]] && echo -f || echo -d)" -- "${COMP_LINE##* }"; }
        for COMP_LINE; do
          COMP_POINT=${#COMP_LINE} COMP_WORDS=(simpkv)
          _simpkv
          ((! ${#COMPREPLY[@]})) || printf '%s\n' "${COMPREPLY[@]}"
          echo
        done
      BASH
      @completed = answers('bash', '--norc', '-c', script, 'bash', [*in_shells.keys, hostile_line])
    end

    it 'is a script without errors' do
      expect(Open3.capture2e('bash', '-n', 'bash', chdir: @folder).first).to eq('')
      expect(Open3.capture2e('shellcheck', '-s', 'bash', 'bash', chdir: @folder).first).to eq('')
    end

    in_shells.each do |line, offered|
      it "completes '#{line}'" do
        # bash replaces the text behind a colon or an equals sign, and adds the slash to folders of files itself.
        expected = offered.sort.map { |word| line[/\S*\z/].match?(/[:=]/) ? word[/[^:=]*\z/] : word }
        expected = expected.map { |word| word.chomp('/') } if line.end_with?('fil')
        expect(@completed.fetch(line)).to eq(expected)
      end
    end

    it 'quotes names, and evaluates none' do
      expect(@completed[hostile_line].map(&:shellsplit)).to eq([["#{hostile}/"]])
    end

    it 'works where a line is typed' do
      PTY.spawn(environment, 'bash', '--norc', '-i', chdir: @folder) do |output, input, pid|
        input.write("source ./bash; bind 'set enable-bracketed-paste off'\n")
        input.write("simpkv exists app1/w\t\nsimpkv -c ~/simp\t ls -e p\t app1\t\nsimpkv exists \"app1/d\t\nexit\n")
        shown = until_shown(output, nil)
        Process.wait(pid)
        expect(shown.scan(/^key\r$/).length).to eq(2), shown
        expect(shown).to match(/^web:443\r$/)
      end
    end
  end

  describe 'fish', :tools do
    before(:context) do
      script = 'source ./fish; for line in $argv; complete -C $line; echo; end'
      more = ['simpkv rm --rec', 'simpkv ls --rec', 'simpkv put a --file=fil']
      @completed = answers('fish', '--no-config', '-c', script, [*in_shells.keys, hostile_line, *more])
    end

    it 'is a script without errors' do
      expect(Open3.capture2e(environment, 'fish', '--no-execute', 'fish', chdir: @folder).first).to eq('')
    end

    in_shells.each do |line, offered|
      it "completes '#{line}'" do
        expect(@completed.fetch(line).map { |words| words[/\A[^\t]*/] }).to eq(offered.sort)
      end
    end

    it 'describes options' do
      expect(@completed['simpkv rm --rec']).to eq(["--recursive\tdelete folders"])
      expect(@completed['simpkv ls --rec']).to eq([])
      expect(@completed['simpkv ls --output=y']).to eq(["--output=yaml\ttable, json or yaml"])
    end

    it 'completes the file behind an equals sign' do
      expect(@completed['simpkv put a --file=fil'].map { |words| words[/\A[^\t]*/] }).to eq(%w[--file=files/])
    end

    it 'evaluates no names' do
      expect(@completed[hostile_line]).to eq(["#{hostile}/"])
    end
  end

  describe 'zsh', :tools do
    # By line, the text of the terminal after the tab key: the candidates, and `<the line>`.
    before(:context) do
      PTY.spawn(environment, 'zsh', '-f', '-i', chdir: @folder) do |output, input, pid|
        output.winsize = [50, 1000]
        input.puts("stty -echo; unsetopt prompt_sp; PS1=''; autoload -U compinit; compinit -u -D; source ./zsh",
                   "bindkey '^I' complete-word; zle -N said; bindkey '^X' said",
                   "said() { print -r -- \"<$BUFFER>\"; BUFFER='' }",
                   "zstyle ':completion:*' list-colors ''; print rea''dy")
        until_shown(output, /ready\r?\n/)
        @completed = [*in_shells.keys, hostile_line].to_h do |line|
          input.write("#{line}\t\x18")
          [line, until_shown(output, />\r?\n/).gsub(/\e\[[\d;?]*[a-z]/i, ' ')]
        end
        input.write("exit\n")
        until_shown(output, nil)
        Process.wait(pid)
      end
    end

    it 'is a script without errors' do
      expect(Open3.capture2e('zsh', '-n', 'zsh', chdir: @folder).first).to eq('')
    end

    def common_beginning(words)
      words.first&.slice(0, (0..words.first.length).take_while { |n| words.map { |word| word[0, n] }.uniq.one? }.last)
    end

    in_shells.each do |line, offered|
      it "completes '#{line}'" do
        shown = @completed.fetch(line)
        word = line[/\S*\z/]
        common = common_beginning(offered) || word
        expect(shown[/<(.*)>/, 1].rstrip.chomp('/')).to eq((line.delete_suffix(word) + common).rstrip.chomp('/'))
        expect(shown.split & offered).to eq(offered) if offered.length > 1 && common == word
      end
    end

    it 'describes commands' do
      expect(@completed['simpkv e']).to match(/export +-- write keys into a file/)
    end

    it 'evaluates no names' do
      expect(@completed[hostile_line][/<(.*)>/, 1].shellsplit.last).to eq("#{hostile}/")
    end
  end

  # @param text [Regexp, nil] nil: all that comes until the end
  def until_shown(output, text)
    shown = +''
    until text && shown.match?(text)
      raise "the shell says no more than #{shown.inspect}" unless output.wait_readable(60)

      shown << output.readpartial(4096)
    end
    shown
  rescue Errno::EIO, EOFError
    shown
  end

  it 'names the supported shells' do
    outcome = Command.run_here(%w[completion tcsh], '', {}, @folder)
    expect([outcome.code, outcome.err])
      .to eq([64, "simpkv: there is no completion for 'tcsh', only for bash, zsh and fish\n"])
  end
end
