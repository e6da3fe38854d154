# frozen_string_literal: true

require 'json'
require 'time'
require_relative '../../support/standing_clock'

# Expired keys and earlier values. The backend has no options for them.
RSpec.shared_examples 'expiry and versions' do
  include StandingClock

  def production(key)
    "environments/production/#{key}"
  end

  # @return [Hash{String => Object}] the members of a stored document
  def stored(key)
    JSON.parse(store.get(production(key), latest: true))
  end

  def values(key)
    members = stored(key)
    [members, *members['history']].map { |version| version['value'] }
  end

  it 'put --expires-after stores a key that readers miss after that time, and 60 s' do
    simpkv!('put', 'a/x', 'one', '--expires-after', '1h')
    simpkv!('put', 'a/y', 'two')
    at(3659) do
      expect([simpkv!('get', 'a/x'), simpkv!('exists', 'a/x'), simpkv!('ls', 'a')]).to eq(%W[one key\n x\ny\n])
    end
    at(3660) do
      expect(simpkv('get', 'a/x').to_a)
        .to match(['', %r{'a/x': it expired at 2026-01-01T13:00:00Z: --expired prints it$}, 66])
      expect(simpkv('exists', 'a/x').to_a).to eq(['', '', 1])
      expect([simpkv!('ls', 'a'), simpkv!('ls', '-l', 'a').split.last, simpkv!('find'), simpkv!('tree', 'a')])
        .to match(["y\n", 'y', "a/y\n", /\A[^x]*y\n\z/])
      expect(simpkv('edit', 'a/x', environment: { 'VISUAL' => 'true' }).to_a)
        .to match(['', /it expired at .*: simpkv put stores it anew/, 66])
    end
  end

  it '--expired reads keys that have expired as well' do
    simpkv!('put', 'a/x', 'one', '--expires-after', '1h', '-m', '{"n": 1}')
    at(7200) do
      calls = [%w[get a/x], %w[exists a/x], %w[ls a], %w[find x], %w[tree]]
      expect(calls.map { |call| simpkv!(*call, '--expired') }).to match(['one', "key\n", "x\n", "a/x\n", /x$/])
      expect(simpkv!('ls', '-l', 'a', '--expired'))
        .to match(/\Atype +bytes +metadata +expires +name\nString +\d+ +1 +2026-01-01T13:00:00Z +x$/)
      expect(JSON.parse(simpkv!('get', 'a/x', '--expired', '-o', 'json')))
        .to eq('value' => 'one', 'metadata' => { 'n' => 1 }, 'stored_at' => '2026-01-01T12:00:00Z',
               'expires' => '2026-01-01T13:00:00Z')
    end
  end

  it 'exists and the lists name keys that cannot be read, whatever their times' do
    plant('a', '{"value":"pl4nted","expires":"2001-01-01T')
    calls = [%w[exists a], %w[ls], %w[find], %w[tree]].map { |call| simpkv!(*call) }
    expect(calls).to match(["key\n", "a\n", "a\n", /a$/])
    plant('a', '{"value":"x","expires":"2001-01-01T00:00:00Z"}')
    denying = Class.new(SimpleDelegator) { define_method(:get) { |*| raise Simpkv::DeniedError, 'no' } }
    allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(denying.new(store))
    expect(simpkv!('exists', 'a')).to eq("key\n")
  end

  it 'put --history keeps the last values, which log names and get --version prints' do
    %w[one two three four].each_with_index do |value, hour|
      at(hour * 3600) { simpkv!('put', 'a', value, '--history', '2', '-m', %({"by": "#{value}"})) }
    end
    expect(simpkv!('log', 'a')).to eq(<<~TEXT)
      0   2026-01-01T15:00:00Z  -
      -1  2026-01-01T14:00:00Z  -
      -2  2026-01-01T13:00:00Z  -
    TEXT
    expect(JSON.parse(simpkv!('log', 'a', '-o', 'json')).last)
      .to eq('version' => -2, 'stored_at' => '2026-01-01T13:00:00Z')
    expect([0, -1, -2].map { |version| simpkv!('get', 'a', '--version', version.to_s) }).to eq(%w[four three two])
    expect(JSON.parse(simpkv!('get', 'a', '--version=-1', '-o', 'yaml', '-o', 'json')))
      .to eq('value' => 'three', 'metadata' => { 'by' => 'three' }, 'stored_at' => '2026-01-01T14:00:00Z')
    expect(simpkv('get', 'a', '--version', '-3').to_a)
      .to match(['', /'a': there is no version -3: the key has 2 earlier values$/, 66])
    expect(simpkv('get', 'a', '--version', 'pl4nted').to_a)
      .to match(['', /--version must be a whole number/, 64]).and(all(not_show_secrets))
  end

  it 'stat prints when a key and its folder were changed, how it is stored, and no value' do
    simpkv!('put', 'f/a', 'pl4nted', '--history', '2', '--expires-after', '90d')
    simpkv!('put', 'f/a', 'pl4nted-2', '--history', '2', '--expires-after', '90d')
    facts = JSON.parse(simpkv!('stat', 'f/a', '-o', 'json'))
    expect(facts).to include('key' => 'f/a', 'kind' => 'key', 'encrypted' => false, 'versions' => 2,
                             'size' => stored('f/a').to_json.bytesize, 'stored_at' => String, 'expires' => String)
    expect(Time.iso8601(facts['modified_at'])).to be_within(120).of(Time.now)
    expect(simpkv!('stat', 'f/a')).to match(/^kind: +key$.*^changed: +\d{4}-\S+Z( by .+)?$.*^encrypted: +no$/m)
    expect(JSON.parse(simpkv!('stat', 'f', '-o', 'json'))).to include('kind' => 'folder', 'keys' => 1, 'folders' => 0)
    expect(simpkv!('stat', 'f')).to match(/^keys: +1$/)
    expect(simpkv('stat', 'none').to_a).to match(['', /there is no key or folder/, 66])
  end

  it 'log prints what a document has: a key that functions stored has one version' do
    plant('a')
    expect([simpkv!('log', 'a'), simpkv!('log', 'a', '-o', 'json')]).to match(["0  -  -\n", /"version": 0/])
    expect(simpkv('log', 'b').code).to eq(66)
  end

  it 'put of an equal value keeps the history, and renews the time if less than half of it is left' do
    simpkv!('put', 'a', 'one')
    put = ['put', 'a', 'two', '--history', '3', '--expires-after', '1h']
    expect(simpkv!(*put)).to eq('')
    at(1799) { expect(simpkv!(*put)).to eq("'a' is unchanged\n") }
    at(1801) { expect(simpkv!(*put)).to eq('') }
    expect([values('a'), stored('a')['expires']]).to eq([%w[two one], '2026-01-01T13:30:01Z'])
    at(1802) { expect(simpkv!('put', 'a', 'two', '--keep-metadata', '--expires-after', '60')).to eq('') }
    expect(stored('a')['expires']).to eq('2026-01-01T12:31:02Z')
  end

  it 'put without these options stores the document of a key that does not expire' do
    simpkv!('put', 'a', 'one', '--history', '1', '--expires-after', '1h')
    simpkv!('put', 'a', 'one')
    expect(store.get(production('a'), latest: true)).to eq(Simpkv::Codec.encode('one'))
    at(-7200) { simpkv!('put', 'b', 'one', '--expires-after', '1h') }
    simpkv!('put', 'b', 'one')
    expect([simpkv!('get', 'b'), stored('b').keys]).to eq(['one', %w[value metadata]])
  end

  it 'put refuses times and numbers that are none, and quotes nothing' do
    outcomes = { '--expires-after' => %w[pl4nted 0d -1], '--history' => %w[pl4nted -1 101] }.flat_map do |name, texts|
      texts.map { |text| simpkv('put', 'a', 'x', name, text) }
    end
    expect(outcomes.map(&:code).uniq).to eq([64])
    expect(outcomes.map(&:err)).to all(match(/--(expires-after|history) must be /).and(not_show_secrets))
    expect(simpkv('put', 'a', 'x', '--expires-after', '9000y').to_a).to match(['', /'a': .*9999/, 65])
    expect(simpkv('exists', 'a').code).to eq(1)
  end

  it 'restore makes an earlier value the current one, and the current one version -1' do
    sensitive = { '__ptype' => 'Sensitive', '__pvalue' => 'pl4nted' }
    plant('a', Simpkv::Codec.encode(sensitive, { 'by' => sensitive }, 'pcore'))
    text = "\xff".b.encode('UTF-8', 'ISO-8859-1')
    simpkv!('put', 'a', text, '--no-sensitive', '--history', '1', '--expires-after', '1h')
    at(60) { expect(simpkv('restore', 'a', '-1').to_a).to eq(['', '', 0]) }
    expect(stored('a'))
      .to eq('value' => sensitive, 'encoding' => 'pcore', 'metadata' => { 'by' => sensitive },
             'stored_at' => '2026-01-01T12:01:00Z', 'expires' => '2026-01-01T13:00:00Z',
             'history' => [{ 'value' => 'ÿ', 'metadata' => {}, 'stored_at' => '2026-01-01T12:00:00Z' }])
    at(120) do
      expect(simpkv!('restore', '--expires-after', '1d', '-o', 'json', 'a', '-1'))
        .to eq(JSON.pretty_generate('key' => 'a', 'version' => -1, 'written' => true) << "\n")
    end
    expect([values('a'), stored('a')['expires']]).to eq([['ÿ', sensitive], '2026-01-02T12:02:00Z'])
  end

  # The oldest value was lost when --history of put had set the length of the history.
  it 'restore keeps every value: the current one takes the place of the restored one' do
    %w[one two three].each { |value| simpkv!('put', 'a', value, '--history', '2') }
    simpkv!('restore', 'a', '-1')
    expect(values('a')).to eq(%w[two three one])
    simpkv!('restore', 'a', '-2')
    expect(values('a')).to eq(%w[one two three])
    simpkv!('restore', 'a', '-2', '--expires-after', '1h')
    expect([values('a'), stored('a')['expires']]).to eq([%w[three one two], '2026-01-01T13:00:00Z'])
  end

  it 'restore stores nothing if the history cannot hold the current value' do
    simpkv!('put', 'a', 'one')
    simpkv!('put', 'a', 'pl4nted' * 40_000, '--history', '1')
    document = store.get(production('a'), latest: true)
    expect(simpkv('restore', 'a', '-1').to_a)
      .to match(['', /'a': the history would lose a value: .*Nothing was stored/, 65]).and(all(not_show_secrets))
    expect(store.get(production('a'), latest: true)).to eq(document)
  end

  it 'restore refuses a version that is not there, and a key that has expired, unless it is told the time' do
    simpkv!('put', 'a', 'one')
    simpkv!('put', 'a', 'two', '--history', '1', '--expires-after', '1h')
    expect(simpkv('restore', 'a', '-2').to_a)
      .to match(['', /'a': there is no version -2: the key has 1 earlier value$/, 66])
    [%w[0], %w[1], %w[pl4nted], %w[], %w[-1 -1]]
      .each { |words| expect(simpkv('restore', 'a', *words).code).to eq(64) }
    expect(simpkv('restore', 'b', '-1').code).to eq(66)
    at(7200) do
      expect(simpkv('restore', 'a', '-1').to_a).to match(['', /'a': it expired at .*: say with --expires-after/, 66])
      simpkv!('restore', 'a', '-1', '--expires-after', '1h')
      expect([simpkv!('get', 'a'), values('a')]).to eq(['one', %w[one two]])
    end
  end

  it 'forget removes earlier values, and keeps the current one with its metadata and its time' do
    %w[one two three].each { |value| simpkv!('put', 'a', value, '--history', '2', '--expires-after', '1h') }
    before = stored('a')
    expect(simpkv!('forget', 'a', '--keep', '1')).to eq("1 earlier value removed\n")
    expect([values('a'), stored('a').slice('expires', 'stored_at')])
      .to eq([%w[three two], before.slice('expires', 'stored_at')])
    expect(simpkv!('forget', 'a', '-o', 'json')).to eq(JSON.pretty_generate('key' => 'a', 'removed' => 1) << "\n")
    expect(stored('a')).to eq(before.slice('value', 'metadata', 'stored_at', 'expires'))
    expect(simpkv!('forget', 'a')).to eq("0 earlier values removed\n")
    expect(simpkv('forget', 'b').code).to eq(66)
  end

  it 'restore stores no malformed value' do
    plant('a', document = '{"value":1,"history":[{"value":"pl4nted","encoding":"base64"},{"value":2,"metadata":3}]}')
    [-1, -2].each do |version|
      expect(simpkv('restore', 'a', version.to_s).to_a).to match(['', /'a': Failed to deserialize: /, 65])
        .and(all(not_show_secrets))
    end
    expect(store.get(production('a'), latest: true)).to eq(document)
  end

  it 'restore does not overwrite the value that another client stores meanwhile' do
    simpkv!('put', 'a', 'pl4nted-one')
    simpkv!('put', 'a', 'pl4nted-two', '--history', '1')
    within = store
    between = Class.new(SimpleDelegator) do
      define_method(:put) do |*arguments, **more|
        within.put('environments/production/a', Simpkv::Codec.encode('theirs'))
        super(*arguments, **more)
      end
    end
    allow_any_instance_of(Simpkv::Cli::ChosenBackend).to receive(:store).and_return(between.new(store))
    expect(simpkv('restore', 'a', '-1').to_a)
      .to match(['', /'a': another client has changed it meanwhile: nothing was stored; its versions/, 75])
      .and(all(not_show_secrets))
    expect(values('a')).to eq(%w[theirs])
  end

  it 'cas keeps the history, and takes an expired key for a missing one' do
    simpkv!('put', 'a', 'one')
    simpkv!('put', 'a', 'two', '--history', '1')
    simpkv!('cas', 'a', 'three', '--expect', 'two')
    expect(values('a')).to eq(%w[three two])
    simpkv!('cas', 'a', 'four', '--expect', 'three', '--history', '2', '--expires-after', '1h')
    expect(simpkv('cas', 'a', 'four', '--expect', 'four', '--expires-after', '1h').to_a).to eq(['', '', 0])
    at(7200) do
      expect(simpkv('cas', 'a', 'five', '--expect', 'four').code).to eq(1)
      expect(values('a')).to eq(%w[four three two])
      simpkv!('cas', 'a', 'five', '--absent')
      expect([values('a'), stored('a')['expires']]).to eq([%w[five four three], nil])
      expect(simpkv('cas', 'a', 'six', '--absent').code).to eq(1)
    end
    simpkv!('put', 'b', 'x')
    simpkv!('cas', 'b', 'y', '--expect', 'x')
    expect(store.get(production('b'), latest: true)).to eq(Simpkv::Codec.encode('y'))
  end

  it 'edit keeps the history and the time of expiry' do
    File.write(editor = File.join(folder, 'editor'), "#!/bin/sh\nprintf new > \"$1\"\n", perm: 0o755)
    edit = ['edit', 'a', { environment: { 'VISUAL' => editor } }]
    simpkv!('put', 'a', 'old', '--expires-after', '1h')
    at(60) { simpkv!(*edit[0..1], **edit[2]) }
    expect([values('a'), stored('a').values_at('stored_at', 'expires')])
      .to eq([%w[new], %w[2026-01-01T12:01:00Z 2026-01-01T13:00:00Z]])
    simpkv!('put', 'a', 'old')
    simpkv!(*edit[0..1], '--history', '1', **edit[2])
    expect(values('a')).to eq(%w[new old])
    File.write(editor, "#!/bin/sh\nprintf newer > \"$1\"\n")
    simpkv!(*edit[0..1], **edit[2])
    expect([values('a'), stored('a')['expires']]).to eq([%w[newer new], nil])
  end

  it 'mv replaces a key that has expired' do
    simpkv!('put', 'a', 'one')
    simpkv!('put', 'b', 'two', '--expires-after', '1h')
    expect(simpkv('mv', 'a', 'b').code).to eq(65)
    at(3660) { expect(simpkv('mv', 'a', 'b').to_a).to eq(['', '', 0]) }
    expect([simpkv!('find'), values('b')]).to eq(["b\n", %w[one]])
  end

  it 'mv moves the times and the history' do
    simpkv!('put', 'a', 'one')
    simpkv!('put', 'a', 'two', '--history', '1', '--expires-after', '1h')
    document = store.get(production('a'), latest: true)
    at(7200) { simpkv!('mv', 'a', 'b') }
    expect([store.get(production('b'), latest: true), simpkv('exists', 'a', '--expired').code]).to eq([document, 1])
  end
end
