# frozen_string_literal: true

require 'json'

RSpec.shared_examples 'put, cas and mv' do
  def stored(key)
    JSON.parse(simpkv!('get', key, '-o', 'json')).values_at('value', 'metadata')
  end

  it 'put --chomp leaves out one newline at the end, and no more' do
    { "secret\n" => 'secret', "secret\r\n" => 'secret', 'secret' => 'secret', "a\n\n" => "a\n",
      "a\r" => "a\r" }.each do |input, value|
      simpkv!('put', '--chomp', 'a', '-', input: input)
      expect(simpkv!('get', 'a')).to eq(value)
    end
    File.write(File.join(folder, 'value'), "[1]\n")
    simpkv!('put', 'a', '--chomp', '--json', '-f', 'value')
    expect(simpkv!('get', 'a')).to eq('[1]')
  end

  # NAME=VALUE was no JSON.
  it 'put and cas take metadata as JSON or as names and values' do
    simpkv!('put', 'a', 'x', '-m', 'owner=dba', '-m', 'note=a=b "c"', '--metadata', '{"n": 1}')
    expect(stored('a')).to eq(['x', { 'owner' => 'dba', 'note' => 'a=b "c"', 'n' => 1 }])
    simpkv!('cas', 'a', '--expect', 'x', 'y', '--metadata=owner=ops')
    expect(stored('a')).to eq(['y', { 'owner' => 'ops' }])
    ['owner', '=dba', '[1]', '"a=b"', '5'].each do |wrong|
      expect(simpkv('put', 'a', 'x', '-m', wrong).to_a).to match(['', /--metadata is neither NAME=VALUE, as in/, 64])
    end
    expect(simpkv('put', 'a', 'x', '-m', '{"a').to_a).to match(['', /--metadata is not JSON/, 65])
  end

  it 'put --keep-metadata changes only the value' do
    simpkv!('put', 'a', 'x', '--metadata', '{"owner": "dba"}')
    expect(simpkv!('put', 'a', '--json', '[1]', '--keep-metadata')).to eq('')
    expect(stored('a')).to eq([[1], { 'owner' => 'dba' }])
    expect(simpkv!('put', 'a', '--json', '[1]', '--keep-metadata')).to eq("'a' is unchanged\n")
    simpkv!('put', 'b', 'x', '--keep-metadata')
    expect(stored('b')).to eq(['x', {}])
    expect(simpkv('put', 'a', 'x', '--keep-metadata', '-m', '{}').to_a)
      .to eq(['', "simpkv: --metadata and --keep-metadata exclude each other\n", 64])
  end

  it 'put --unless-earlier begins no second rotation' do
    simpkv!('put', 'a', 'old', '--unless-earlier')
    simpkv!('put', 'a', 'new', '--history', '1', '--unless-earlier')
    expect(simpkv('put', 'a', 'newer', '--history', '1', '--unless-earlier').to_a)
      .to match(['', /'a': it keeps an earlier value.*nothing was stored/, 75])
    expect(simpkv!('get', 'a') + simpkv!('get', 'a', '--version', '-1')).to eq('newold')
  end

  it "put --keep-metadata keeps metadata of Puppet's types as they are stored" do
    sensitive = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
    plant('a', Simpkv::Codec.encode('x', { 'by' => sensitive }, 'pcore'))
    simpkv!('put', 'a', 'y', '--keep-metadata')
    expect(store.get('environments/production/a')).to eq(Simpkv::Codec.encode('y', { 'by' => sensitive }, 'pcore'))
    simpkv!('put', 'a', '--binary', '--keep-metadata', '-', input: "\xff")
    expect(simpkv!('get', 'a')).to eq("\xff".b)
    outcome = simpkv('put', 'a', '--json', '{"__ptype": 1}', '--keep-metadata')
    expect(outcome.to_a).to match(['', /a hash key '__ptype' in the value/, 65]).and(all(not_show_secrets))
  end

  it 'cas replaces only the expected value' do
    simpkv!('put', 'a', 'one', '--metadata', '{"n": 1}')
    expect(simpkv('cas', 'a', 'pl4nted-two', '--expect', 'pl4nted-other').to_a)
      .to match(['', /'a' has another value, or none: nothing was stored$/, 1]).and(all(not_show_secrets))
    expect(stored('a')).to eq(['one', { 'n' => 1 }])
    expect(simpkv('cas', 'a', 'two', '--expect', 'one', '--keep-metadata').to_a).to eq(['', '', 0])
    expect(stored('a')).to eq(['two', { 'n' => 1 }])
    expect(JSON.parse(simpkv!('cas', 'a', 'three', '--expect', 'two', '-o', 'json')))
      .to eq('key' => 'a', 'swapped' => true)
    expect(stored('a')).to eq(['three', {}])
    expect(simpkv('cas', 'b', 'x', '--expect', 'y').code).to eq(1)
    expect(simpkv('exists', 'b').code).to eq(1)
  end

  it 'cas takes values from files, and compares bytes and JSON' do
    File.binwrite(File.join(folder, 'old'), "\xff\n")
    simpkv!('put', 'a', '--binary', '-', input: "\xff")
    simpkv!('cas', 'a', '--binary', '--chomp', '--expect-file', 'old', '-', input: "\xfe\n")
    expect(simpkv!('get', 'a')).to eq("\xfe".b)
    simpkv!('put', 'a', '--json', '{"a": 1, "b": [2]}')
    expect(simpkv('cas', 'a', '--json', '0', '--expect', '{"b": [2], "a": 1.0}').code).to eq(1)
    expect(simpkv('cas', 'a', '--json', '0', '--expect', '{"b": [2], "a": 1}').code).to eq(0)
  end

  # It read an empty value behind the expected one, and stored that.
  it 'cas refuses to read both values from standard input' do
    simpkv!('put', 'a', 'one')
    [%w[-], %w[--file -]].each do |value|
      expect(simpkv('cas', 'a', *value, '--expect-file', '-', input: 'one').to_a)
        .to match(['', /\Asimpkv: the command line names standard input twice: name a file for one of them$/, 64])
    end
    expect(simpkv!('get', 'a')).to eq('one')
  end

  it 'put and cas refuse a folder in place of a file' do
    [%w[put a --file .], %w[cas a x --expect-file .]].each do |arguments|
      expect(simpkv(*arguments).to_a).to eq(['', "simpkv: '.' is a folder, not a file\n", 66])
    end
  end

  it 'cas --absent creates a key once' do
    cas = ->(value) { Thread.new { simpkv('cas', 'a', value, '--absent', process: true).code } }
    outcomes = Array.new(4) { |number| cas.call("value #{number}") }.map(&:value)
    expect(outcomes.sort).to eq([0, 1, 1, 1])
    expect(simpkv!('get', 'a')).to eq("value #{outcomes.index(0)}")
    expect(simpkv('cas', 'a', 'x', '--absent').to_a).to match(['', /'a' already exists: nothing was stored$/, 1])
  end

  it 'cas needs exactly one option for the expected value' do
    [[], %w[--absent --expect x], %w[--expect x --expect-file y]].each do |arguments|
      expect(simpkv('cas', 'a', 'x', *arguments).to_a).to match(['', /one of --expect OLD, --expect-file/, 64])
    end
  end

  it 'mv renames a key with its metadata' do
    simpkv!('put', 'a/b', 'x', '--metadata', '{"n": 1}')
    expect(simpkv('mv', 'a/b', 'c/d').to_a).to eq(['', '', 0])
    expect([stored('c/d'), simpkv('exists', 'a/b').code]).to eq([['x', { 'n' => 1 }], 1])
    expect(simpkv('mv', 'a/b', 'e').code).to eq(66)
    expect(simpkv('mv', 'c', 'e').code).to eq(66)
    expect([simpkv('mv', 'c/d', 'c//d').code, simpkv('mv', 'c/d', 'Big').code]).to eq([64, 64])
    expect(simpkv!('find')).to eq("c/d\n")
  end

  it 'mv replaces nothing' do
    %w[pl4nted-a pl4nted-b].zip(%w[a b]) { |value, key| simpkv!('put', key, value) }
    expect(simpkv('mv', 'a', 'b').to_a).to match(['', /'b': .*exists already/, 65]).and(all(not_show_secrets))
    expect([simpkv!('get', 'a'), simpkv!('get', 'b')]).to eq(%w[pl4nted-a pl4nted-b])
  end

  it 'mv completes a move that was killed' do
    %w[a b].each { |key| simpkv!('put', key, 'x') }
    simpkv!('mv', 'a', 'b')
    expect(simpkv!('find')).to eq("b\n")
  end

  # A change after the last read of the old key used to be lost.
  %i[put delete].each do |call|
    it "mv keeps a key that another client changes before its #{call}" do
      plant('a', Simpkv::Codec.encode('old'))
      changed = Simpkv::Codec.encode('new')
      within = store
      between = Class.new(SimpleDelegator) do
        define_method(call) do |*arguments, **more|
          within.put('environments/production/a', changed)
          super(*arguments, **more)
        end
      end
      mv = Simpkv::Cli::Commands['mv'].new
      allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(between.new(store))
      expect { mv.perform(['-c', config, 'a', 'b']) }
        .to raise_error(Simpkv::Cli::Failure, /'a': another client has changed it meanwhile: it stays/)
      expect([store.get('environments/production/a'), store.get('environments/production/b')])
        .to eq([changed, Simpkv::Codec.encode('old')])
    end
  end

  it 'mv is done if another client has deleted the old key meanwhile' do
    plant('a', Simpkv::Codec.encode('old'))
    within = store
    between = Class.new(SimpleDelegator) do
      define_method(:delete) do |*arguments, **more|
        within.delete('environments/production/a')
        super(*arguments, **more)
      end
    end
    allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(between.new(store))
    Simpkv::Cli::Commands['mv'].new.perform(['-c', config, 'a', 'b'])
    expect(store.list('environments/production')[:keys]).to eq('b' => Simpkv::Codec.encode('old'))
  end
end

RSpec.shared_examples 'edit' do
  # @param script [String] of a shell: "$1" is the file
  # @return [Hash{String => String}] the environment
  def editor(script)
    file = File.join(folder, 'editor')
    File.write(file, "#!/bin/sh\n#{script}\n")
    File.chmod(0o755, file)
    { 'VISUAL' => nil, 'EDITOR' => file, 'TMPDIR' => File.join(folder, 'tmp').tap { |tmp| FileUtils.mkdir_p(tmp) } }
  end

  def edit(key, script)
    simpkv('edit', key, environment: editor(script))
  end

  it 'stores the edited text with the metadata, and without the newline that editors add' do
    simpkv!('put', 'a', 'old', '--metadata', '{"n": 1}')
    expect(edit('a', 'cat "$1" > seen; echo new > "$1"').to_a).to eq(['', '', 0])
    expect(File.read(File.join(folder, 'seen'))).to eq('old')
    expect(JSON.parse(simpkv!('get', 'a', '-o', 'json'))).to eq('value' => 'new', 'metadata' => { 'n' => 1 })
    expect(edit('a', 'echo >> "$1"').out).to eq("'a' is unchanged\n")
    expect(edit('a', ':').out).to eq("'a' is unchanged\n")
    expect(edit('b', ':').code).to eq(66)
  end

  it 'does not overwrite the value that another client stores meanwhile' do
    simpkv!('put', 'a', 'old')
    other = "SIMPKV_CONFIG=#{config} #{Unbundled::COMMAND.join(' ')} put a theirs"
    expect(edit('a', "echo pl4nted-mine > \"$1\"\n#{other}").to_a)
      .to match(['', /'a': another client has changed it meanwhile: nothing was stored/, 75]).and(all(not_show_secrets))
    expect(simpkv!('get', 'a')).to eq('theirs')
  end
end

RSpec.shared_examples 'an editor' do
  include_examples 'edit'
  include Eventually

  it 'edits JSON as JSON and bytes as bytes, and keeps a Sensitive' do
    simpkv!('put', 'json', '--json', '{"a": [1, 2.5], "b": "λ"}')
    expect(edit('json', 'sed -i s/2.5/3/ "$1"').code).to eq(0)
    expect(simpkv!('get', 'json').force_encoding('UTF-8')).to eq('{"a":[1,3],"b":"λ"}')
    simpkv!('put', 'bytes', '--binary', '-', input: "\xff\n")
    expect(edit('bytes', 'printf text > "$1"').code).to eq(0)
    expect(store.get('environments/production/bytes')).to eq(Simpkv::Codec.encode('text'.b))
    sensitive = { '__ptype' => 'Sensitive', '__pvalue' => 'hush' }
    plant('sensitive', Simpkv::Codec.encode(sensitive, { 'by' => sensitive }, 'pcore'))
    expect(edit('sensitive', 'sed -i s/hush/quiet/ "$1"').code).to eq(0)
    expect(store.get('environments/production/sensitive'))
      .to eq(Simpkv::Codec.encode(sensitive.merge('__pvalue' => 'quiet'), { 'by' => sensitive }, 'pcore'))
  end

  it 'refuses text of another format, and quotes nothing' do
    simpkv!('put', 'json', '--json', '[1]')
    simpkv!('put', 'text', 'x')
    expect(edit('json', 'echo "{pl4nted" > "$1"').to_a)
      .to match(['', /the edited text is not JSON/, 65]).and(all(not_show_secrets))
    expect(edit('json', 'echo null > "$1"').to_a).to match(['', /the edited text is null/, 65])
    expect(edit('text', 'printf "pl4nted\\377" > "$1"').to_a)
      .to match(['', /the edited text is not UTF-8/, 65]).and(all(not_show_secrets))
    expect([simpkv!('get', 'json'), simpkv!('get', 'text')]).to eq(['[1]', 'x'])
  end

  it 'keeps the text private, and overwrites and removes it with the backups of the editor' do
    simpkv!('put', 'a', 'pl4nted')
    expect(edit('a', <<~SHELL).to_a).to eq(['', '', 0])
      stat -c %a "$1" "$(dirname "$1")" > modes
      cp "$1" "$1~"
      ln "$1" linked
      ln "$1~" backup
      echo changed >> "$1"
    SHELL
    expect(File.readlines(File.join(folder, 'modes'), chomp: true)).to eq(%w[600 700])
    expect(%w[linked backup].map { |name| File.binread(File.join(folder, name)).tr("\0", '') }).to eq(['', ''])
    expect(Dir.children(File.join(folder, 'tmp'))).to eq([])
  end

  it 'stores nothing if the editor fails or is missing' do
    simpkv!('put', 'a', 'x')
    expect(edit('a', 'echo y > "$1"; exit 3').to_a)
      .to match(['', /the editor failed \(exit 3\): nothing was stored/, 69])
    expect(edit('a', 'rm "$1"').code).to eq(69)
    expect(simpkv('edit', 'a', environment: { 'VISUAL' => '/nothing --wait', 'EDITOR' => 'true' }).to_a)
      .to match(['', %r{'/nothing' cannot be run}, 69])
    expect(simpkv('edit', 'a', environment: { 'VISUAL' => ' ', 'EDITOR' => "'pl4nted" }).to_a)
      .to match(['', /VISUAL or EDITOR has a quote/, 64]).and(all(not_show_secrets))
    expect(simpkv!('get', 'a')).to eq('x')
    expect(Dir.children(File.join(folder, 'tmp'))).to eq([])
  end

  # Runs an editor that waits. Yields while it waits.
  def while_editing(&block)
    simpkv!('put', 'a', 'x')
    environment = editor('echo y > "$1"; touch begun; until [ -e finish ]; do sleep 0.05; done')
    simpkv('edit', 'a', environment: environment) do |pid|
      eventually { File.exist?(File.join(folder, 'begun')) }
      block.call(pid)
    end
  end

  it 'leaves Ctrl-C to the editor' do
    outcome = while_editing do |pid|
      Process.kill('INT', pid)
      FileUtils.touch(File.join(folder, 'finish'))
    end
    expect([outcome.to_a, simpkv!('get', 'a')]).to eq([['', '', 0], 'y'])
  end

  it 'removes the text if a signal ends it' do
    outcome = while_editing do |pid|
      Process.kill('TERM', pid)
      eventually { Dir.empty?(File.join(folder, 'tmp')) }
      FileUtils.touch(File.join(folder, 'finish'))
    end
    expect([outcome.code, simpkv!('get', 'a')]).to eq([-15, 'x'])
  end

  it 'offers on a terminal to edit again, and prints no value' do
    simpkv!('put', 'a', '--json', '["pl4nted"]')
    environment = editor('if [ -e again ]; then echo 1 > "$1"; else touch again; echo pl4nted > "$1"; fi')
    shown, code = on_terminal('edit', 'a', answers: [''], environment: environment)
    expect([shown, code]).to match([/the edited text is not JSON. Edit again\? \[Y/, 0])
    expect(shown).to not_show_secrets
    expect(simpkv!('get', 'a')).to eq('1')
  end
end
