# frozen_string_literal: true

require 'json'

RSpec.shared_examples 'ls, tree, exists, find and explain' do
  # Stores keys up to two folders deep, in two environments and in globals.
  def fill
    %w[token app1/db_password app1/web:443 app1/site/deep].each { |key| plant(key) }
    plant('dev/other', environment: 'dev')
    store.put('globals/hosts/db1', Simpkv::Codec.encode('x'))
  end

  it 'ls prints keys and folders, with a slash behind folders' do
    fill
    expect(simpkv!('ls')).to eq("app1/\ntoken\n")
    expect(simpkv!('ls', 'app1')).to eq("site/\ndb_password\nweb:443\n")
    expect(simpkv!('ls', 'app1/')).to eq(simpkv!('ls', 'app1'))
    expect(simpkv!('ls', '-g')).to eq("hosts/\n")
    expect(simpkv!('ls', '-e', '')).to eq("dev/\nproduction/\n")
    expect(JSON.parse(simpkv!('ls', 'app1', '-o', 'json')))
      .to eq('keys' => %w[db_password web:443], 'folders' => %w[site])
    expect(YAML.safe_load(simpkv!('ls', '-o', 'yaml'))).to eq('keys' => %w[token], 'folders' => %w[app1])
  end

  # It exited with 0.
  it 'ls -l prints types, sizes and numbers of metadata, and names keys that it cannot read, as export does' do
    fill
    documents = { 'bytes' => Simpkv::Codec.encode("\xff".b), 'list' => Simpkv::Codec.encode([1], { 'a' => 1 }),
                  'broken' => '{"value":"pl4nted', 'yes' => Simpkv::Codec.encode(true),
                  'sensitive' => Simpkv::Codec.encode({ '__ptype' => 'Sensitive', '__pvalue' => 'x' }, {}, 'pcore') }
    documents.each { |name, document| plant("l/#{name}", document) }
    plant('l/folder/x')
    sizes = documents.transform_values { |document| document.bytesize.to_s }
    long = simpkv('ls', '-l', 'l')
    expect(long).to have_attributes(code: 65, err: "simpkv: 'broken': its document is corrupt (17 bytes)\n")
    expect(long.out.lines.map(&:split))
      .to eq([%w[type bytes metadata name], %w[folder - - folder/], ['malformed', sizes['broken'], '-', 'broken'],
              ['Binary', sizes['bytes'], '0', 'bytes'], ['Array', sizes['list'], '1', 'list'],
              ['Sensitive', sizes['sensitive'], '0', 'sensitive'], ['Boolean', sizes['yes'], '0', 'yes']])
    expect(JSON.parse(simpkv!('ls', '-l', 'app1', '-o', 'json'))['keys']['web:443'])
      .to eq('type' => 'String', 'bytes' => 27, 'metadata' => 0)
  end

  it 'ls of an empty environment is empty; ls of a missing folder or of a key exits with 66' do
    store.put('globals/hosts/db1', Simpkv::Codec.encode('x'))
    expect(simpkv('ls').to_a).to eq(['', '', 0])
    fill
    expect([simpkv('ls', 'app2').code, simpkv('ls', 'token').code]).to eq([66, 66])
  end

  # A missing environment looked like an empty one.
  it 'commands that read refuse a missing environment, and name the existing ones' do
    fill
    [%w[get token], %w[ls], %w[ls app1], %w[tree], %w[tree app1], %w[exists token], %w[find], %w[rm token],
     %w[rm -ry app1]].each do |arguments|
      outcome = simpkv(*arguments, '-e', 'prodction')
      expect([arguments, *outcome.to_a])
        .to match([arguments, '', /there is no environment 'prodction', only dev, production$/, 66])
    end
    expect(simpkv('rm', '-f', '-e', 'prodction', 'token').to_a).to eq(['', '', 0])
  end

  it 'put creates an environment, and reports that' do
    fill
    outcome = simpkv('put', '-e', 'test', 'a', 'x')
    expect([outcome.code, outcome.err]).to match([0, /'a' is the first key of the environment 'test'$/])
    expect(simpkv('put', '-e', 'test', 'b', 'x').to_a).to eq(['', '', 0])
    expect(simpkv!('ls', '-e', 'test')).to eq("a\nb\n")
  end

  it 'tree draws all keys and folders below' do
    fill
    expect(simpkv!('tree').force_encoding('UTF-8')).to eq(<<~TREE)
      environments/production/
      ├── app1/
      │   ├── db_password
      │   ├── site/
      │   │   └── deep
      │   └── web:443
      └── token
    TREE
    all = simpkv!('tree', '--all').force_encoding('UTF-8')
    expect(all).to start_with("/\n├── environments/\n│   ├── dev/\n").and end_with("    └── hosts/\n        └── db1\n")
    expect(JSON.parse(simpkv!('tree', 'app1', '-o', 'json')))
      .to eq('keys' => %w[db_password site/deep web:443].map { |name| "environments/production/app1/#{name}" },
             'folders' => ['environments/production/app1/site'])
  end

  it 'tree of a missing folder exits with 66' do
    fill
    expect([simpkv('tree', 'app2').code, simpkv('tree', 'token').code]).to eq([66, 66])
  end

  it 'exists tells keys from folders, and exits with 1 for missing ones' do
    fill
    outcomes = %w[token app1 app1/site/deep app1/nothing nothing].map { |key| simpkv('exists', key).to_a }
    expect(outcomes).to eq([["key\n", '', 0], ["folder\n", '', 0], ["key\n", '', 0], ['', '', 1], ['', '', 1]])
    expect(JSON.parse(simpkv('exists', 'nothing', '-o', 'json').out))
      .to eq('key' => 'nothing', 'exists' => false, 'kind' => nil)
  end

  it 'find finds keys and folders by name' do
    fill
    {
      [] => %w[app1/db_password app1/site/deep app1/web:443 token], ['d*'] => %w[app1/db_password app1/site/deep],
      ['app1/*'] => %w[app1/db_password app1/web:443], ['app1/**/d*'] => %w[app1/db_password app1/site/deep],
      ['{token,deep}'] => %w[app1/site/deep token], ['token', 'web:*'] => %w[app1/web:443 token],
      ['--folders'] => %w[app1 app1/site], ['--under', 'site'] => %w[app1/site/deep],
      ['--under', 'app1/site'] => %w[app1/site/deep], ['--all', '*1'] => %w[globals/hosts/db1], ['nothing'] => []
    }.each do |arguments, found|
      expect(simpkv!('find', *arguments).lines(chomp: true)).to eq(found)
      expect(JSON.parse(simpkv!('find', '-o', 'json', *arguments))).to eq(found)
    end
  end

  it 'lists of names include unreadable keys' do
    fill
    plant('app1/broken', '{"value":"pl4nted-value')
    expect(%w[ls tree find].map { |command| simpkv(command, *('app1' if command != 'find')).out })
      .to all(include('broken'))
  end

  it 'explain names the backend, the path, and the place that a put uses' do
    facts = JSON.parse(simpkv!('explain', 'app1/token', '-o', 'json'))
    expect(facts).to include('key' => 'app1/token', 'path' => 'environments/production/app1/token',
                             'backend' => 'default', 'type' => backends['default']['type'],
                             'id' => backends['default']['id'], 'chosen' => "by default, from #{config}")
    expect(facts).not_to include('but')
    simpkv!('put', 'app1/token', 'x')
    expect(kept?(facts)).to be(true)
    table = simpkv!('explain', '-g', 'token')
    expect(table).to match(%r{^path: +globals/token$}).and match(/^backend: +default$/)
  end

  it 'explain names the reason why functions refuse a key' do
    expect(simpkv!('explain', 'a b')).to match(/^but: +.*a b/)
  end
end

RSpec.shared_examples 'rm' do
  it 'deletes keys, and exits with 66 for a missing one without --force' do
    %w[a b c/d].each { |key| plant(key) }
    expect(simpkv!('rm', 'a', 'c/d')).to eq('')
    expect(simpkv!('find')).to eq("b\n")
    outcome = simpkv('rm', 'a', 'b')
    expect([outcome.code, outcome.err]).to match([66, /there was no key 'a'$/])
    expect(simpkv!('find')).to eq('')
    expect(simpkv!('rm', '-f', 'a')).to eq('')
  end

  it 'deletes folders with -r only' do
    %w[app1/a app1/b/c token].each { |key| plant(key) }
    expect(simpkv('rm', 'app1').to_a).to match(['', /'app1': it is a folder: simpkv rm -r deletes folders$/, 66])
    expect(simpkv('rm', '-r', 'token', '-y').to_a)
      .to match(['', /'token': it is a key, not a folder: .* without -r$/, 66])
    expect(simpkv!('rm', '-r', '--yes', 'app1')).to eq("deleted 'app1', which had 2 keys\n")
    expect(simpkv!('find')).to eq("token\n")
    expect(simpkv('rm', '-ry', 'app1').code).to eq(66)
    expect(simpkv!('rm', '-rf', 'app1')).to eq('')
  end

  # It deleted all of them, without a question or a word.
  it 'deletes no folder in a script without --yes' do
    %w[app1/a app1/b/c app2/a].each { |key| plant(key) }
    expect(simpkv('rm', '-r', 'app1', 'app2').to_a)
      .to match(['', %r{environments/production/app1 has 2 keys, and there is no terminal to ask .*--yes does$}, 64])
    expect(simpkv!('find').lines.length).to eq(3)
    expect(JSON.parse(simpkv!('rm', '-r', 'app1', 'app2', 'none', '-f', '-o', 'json')))
      .to eq('deleted' => %w[app1 app2], 'keys' => 3, 'kept' => [], 'missing' => %w[none])
  end

  it 'says which folders are deleted when the next one cannot be' do
    %w[app1/a token].each { |key| plant(key) }
    expect(simpkv('rm', '-ry', 'app1', 'token').to_a)
      .to match(["deleted 'app1', which had 1 key\n", /'token': it is a key/, 66])
  end

  it 'deletes no environment by accident' do
    plant('token')
    outcomes = ['', '/'].map { |key| simpkv('rm', '-rf', key) }
    expect(outcomes.map(&:code)).to eq([64, 64])
    expect(simpkv!('find')).to eq("token\n")
  end

  it 'asks on a terminal before it deletes a folder' do
    %w[app1/a app1/b].each { |key| plant(key) }
    shown, code = on_terminal('rm', '-r', 'app1', answers: ['n'])
    expect([shown, code]).to match([%r{^Delete environments/production/app1 of .*, with 2 keys\? \[y/N\] }, 0])
    expect(simpkv!('exists', 'app1')).to eq("folder\n")
    # The key that the user kept was among the deleted ones.
    expect(on_terminal('rm', '-r', 'app1', '-o', 'json', answers: ['']))
      .to match([/"keys": 0,\s+"deleted": \[\s*\],\s+"kept": \[\s+"app1"\s+\]/, 0])
    expect(simpkv!('exists', 'app1')).to eq("folder\n")
    expect(on_terminal('rm', '-r', 'app1', answers: ['y'])).to match([/deleted 'app1', which had 2 keys/, 0])
    expect(simpkv('exists', 'app1').code).to eq(1)
  end

  it 'asks nothing with --yes or --force' do
    %w[--yes --force].each do |option|
      plant('app1/a')
      expect(on_terminal('rm', '-r', option, 'app1')).to eq(["deleted 'app1', which had 1 key\r\n", 0])
    end
    expect(simpkv('exists', 'app1').code).to eq(1)
  end
end

RSpec.shared_examples 'commands that print no values' do
  it 'includes all commands but get' do
    secret = Simpkv::Codec.encode({ 'a' => 'pl4nted-value' }, { 'owner' => 'pl4nted-meta' })
    %w[app1/a token].each { |key| plant(key, secret) }
    plant('app1/broken', secret[0..-5])
    plant('app1/odd', '{"value":"pl4nted-value","encoding":"pl4nted-encoding"}')
    calls = [%w[ls], %w[ls app1], %w[ls token], %w[tree], %w[tree --all], %w[find], %w[find --folders -a],
             %w[exists token], %w[explain token], %w[get app1], %w[get app1/broken], %w[get app1/odd], %w[rm app1],
             %w[rm -r token], %w[get --recurse app1], %w[get token app1/odd], %w[get token --field a.b],
             %w[exec --env A=app1/odd true], %w[exec --recurse app1 true]]
    formats = [[], %w[-o json], %w[-o yaml]]
    outcomes = calls.product(formats).map { |call, format| simpkv(*call, *format) }
    shown = outcomes.flat_map { |outcome| [outcome.out, outcome.err] }
    expect(shown.join.length).to be > 1000
    expect(shown).to all(not_show_secrets)
  end

  it 'includes the errors of put' do
    plant('a/b')
    calls = [%w[x --json], %w[x --metadata], %w[x --bogus=pl4nted], %w[x pl4nted-more], %w[Bad],
             %w[x -o], %w[x --output]]
    outcomes = calls.map { |call| simpkv('put', *call, 'pl4nted-value') }
    # In files, the names of a key and a folder exclude each other.
    taken = [simpkv('put', 'a', 'pl4nted-value'), simpkv('put', 'a/b/c', 'pl4nted-value')]
    expect(taken.map { |outcome| outcome.out + outcome.err }).to all(not_show_secrets)
    outcomes << simpkv('put', 'x', '-pl4nted-value') << simpkv('put', 'x', '--pl4nted-value') << simpkv('put', 'x')
    outcomes << simpkv('put', 'x', "pl4nted\xff") << simpkv('put', 'x', '--json', '-', input: '{"pl4nted": ')
    expect(outcomes.map(&:code)).to all(be_between(64, 78))
    expect(outcomes.map { |outcome| outcome.out + outcome.err }).to all(not_show_secrets.and(start_with('simpkv: ')))
  end
end
