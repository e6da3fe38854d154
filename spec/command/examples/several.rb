# frozen_string_literal: true

require 'json'
require 'open3'

# get prints several keys, parts of values, and variables for a shell: all of them or nothing.
RSpec.shared_examples 'several keys' do
  let(:data) { { 'user' => 'app', 'servers' => [{ 'port' => 5432, 'na.me' => 'x/y' }, nil], '' => 'e', '0' => 'zero' } }

  before do
    plant('app1/db', Simpkv::Codec.encode(data, 'owner' => 'dba'))
    plant('app1/sub/word', Simpkv::Codec.encode("it's\n$(touch x) λ"))
    plant('app1/token', Simpkv::RichData.sensitive('hush'))
    plant('app1/old', '{"value":"gone","metadata":{},"expires":"2001-01-01T00:00:00Z"}')
  end

  # @return [Array] the output as data, and the exit code
  def got(*arguments)
    JSON.parse(simpkv!('get', *arguments, '-o', 'json'))
  end

  # @return [Hash{String => String}] the variables that a shell gets from the output
  def in_shell(*arguments)
    lines = simpkv!('get', *arguments, '-o', 'env')
    out, = Open3.capture2('sh', '-c', 'set -a; eval "$1"; env -0', 'sh', lines, unsetenv_others: true)
    lines = out.force_encoding('UTF-8').split("\0").map { |line| line.split('=', 2) }
    lines.to_h.reject { |name, _| %w[_ PWD].include?(name) }
  end

  describe '--field' do
    fields = { 'user' => 'app', 'servers.0.port' => 5432, '/servers/0/na.me' => 'x/y', 'servers.1' => nil, '/' => 'e',
               '0' => 'zero', 'servers' => [{ 'port' => 5432, 'na.me' => 'x/y' }, nil] }

    it 'prints a part of a Hash or an Array' do
      expect(fields.keys.to_h { |field| [field, got('app1/db', '--field', field).fetch('value')] }).to eq(fields)
      expect(%w[user servers.0.port].map { |field| simpkv!('get', 'app1/db', '--field', field) }).to eq(%w[app 5432])
      expect(got('app1/db', '--field', 'user')).to eq('value' => 'app', 'metadata' => { 'owner' => 'dba' })
    end

    { 'usr' => 'usr', 'servers.2' => 'servers.2', 'servers.-1' => 'servers.-1', 'user.0' => 'user.0',
      'servers.0.port.x' => 'servers.0.port.x', 'servers.7.port' => 'servers.7',
      '/servers/0/none/x' => '/servers/0/none' }.each do |field, named|
      it "exits with 66 and names what is missing in #{field}" do
        expect(simpkv('get', 'app1/db', '--field', field).to_a)
          .to match(['', %r{'app1/db': its value has no field '#{Regexp.escape(named)}'$}, 66])
      end
    end

    it 'names each key without it, and prints nothing' do
      outcome = simpkv('get', 'app1/db', 'app1/token', 'app1/sub/word', '--field', 'user')
      expect(outcome.to_a).to match(['', %r{2 keys .*\n  'app1/token': its.*\n  'app1/sub/word': its}, 66])
      expect(outcome.err).not_to include('hush')
    end

    it 'refuses what names no part' do
      ['', '.', 'a..b', '.a', '/a~2'].each do |field|
        expect(simpkv('get', 'app1/db', '--field', field).to_a).to match(['', /--field must be names/, 64])
      end
    end
  end

  it 'print a map by key, in which each is what get prints of one' do
    keys = %w[app1/token app1/db]
    expect(got(*keys, *keys)).to eq(keys.to_h { |key| [key, got(key)] })
    expect(got('--recurse', 'app1')).to eq(%w[app1/db app1/sub/word app1/token].to_h { |key| [key, got(key)] })
    expect(YAML.safe_load(simpkv!('get', *keys, '-o', 'yaml'))).to eq(got(*keys))
    expect(got('--recurse', 'app1/sub/').keys).to eq(['app1/sub/word'])
  end

  it 'print a table for people, a line for each key' do
    expect(simpkv!('get', 'app1/token', 'app1/sub/word').force_encoding('UTF-8'))
      .to eq("app1/token     hush\napp1/sub/word  it's\\x0A$(touch x) λ\n")
  end

  it 'print nothing if one of them cannot be read, and name each such key' do
    plant('broken/a', 'no JSON')
    plant('broken/b')
    expect(simpkv('get', 'app1/db', 'nope', 'app1/nope').to_a)
      .to match(['', %r{2 keys .*\n  'nope': Key not found.*\n  'app1/nope': Key not found}, 66])
    expect(simpkv('get', 'app1/db', 'app1/old').to_a).to match(['', %r{'app1/old': it expired at 2001.*--expired}, 66])
    expect(simpkv('get', '--recurse', 'broken').to_a).to match(['', %r{'broken/a': .*JSON}, 65])
    expect(simpkv('get', '--recurse', 'none').to_a).to match(['', /'none': .*not found/, 66])
    expect(simpkv('get', '--recurse', 'app1/db').code).to eq(66)
  end

  it 'include those that have expired with --expired' do
    expect(got('--recurse', 'app1', '--expired').keys).to eq(%w[app1/db app1/old app1/sub/word app1/token])
  end

  it 'are those of the environment, or the global ones' do
    store.put('globals/app1/g', Simpkv::Codec.encode(1))
    expect(simpkv!('get', '-g', '--recurse', '/')).to eq("app1/g  1\n")
    expect(got('-e', '', '--recurse', 'production/app1/sub').keys).to eq(['production/app1/sub/word'])
  end

  describe '-o env' do
    it 'prints what a shell reads as the same values' do
      words = { 'APP1_SUB_WORD' => "it's\n$(touch x) λ", 'APP1_TOKEN' => 'hush' }
      expect(in_shell('--recurse', 'app1')).to eq(words.merge('APP1_DB' => JSON.generate(data)))
      expect(in_shell('app1/sub/word', 'app1/token')).to eq(words)
      expect(in_shell('app1/db', '--field', 'servers.0.port')).to eq('APP1_DB_SERVERS_0_PORT' => '5432')
      expect(in_shell('--recurse', 'app1/sub', '--prefix', 'my_')).to eq('MY_WORD' => words['APP1_SUB_WORD'])
    end

    it 'refuses bytes, names that become equal, and names that programs obey, and prints nothing' do
      plant('b/raw', Simpkv::Codec.encode("\xff\0".b))
      plant('c/a.b')
      plant('c/a-b')
      plant('d/path')
      plant('ld/preload')
      { %w[b/raw] => %r{'b/raw': it is bytes},
        %w[--recurse c] => %r{'c/a.b': the variable C_A_B would also have the value of 'c/a-b'},
        ['--recurse', 'd', '--prefix', ''] => /'PATH' is a variable that/, %w[ld/preload] => /'LD_PRELOAD' is/,
        ['--recurse', 'd', '--prefix', '1'] => /'1PATH' is no name/ }.each do |arguments, message|
        expect(simpkv('get', *arguments, '-o', 'env').to_a).to match(['', message, 65])
      end
    end

    it 'needs a prefix for all keys of an environment, because a key could set any variable' do
      expect(simpkv('get', '--recurse', '/', '-o', 'env').to_a).to match(['', /need --prefix TEXT/, 64])
      expect(in_shell('--recurse', '/', '--prefix', 'p_').keys).to eq(%w[P_APP1_DB P_APP1_SUB_WORD P_APP1_TOKEN])
    end
  end

  it 'come from KEY... or --recurse, and --prefix belongs to the latter' do
    expect([simpkv('get'), simpkv('get', 'a', '--recurse', 'b'), simpkv('get', 'a', '--prefix', 'X_')].map(&:code))
      .to eq([64, 64, 64])
  end
end
