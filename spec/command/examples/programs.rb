# frozen_string_literal: true

require 'json'
require 'open3'
require_relative '../../support/page'

# exec gives values to a program, in its environment or in files in memory.
RSpec.shared_examples 'exec' do
  before do
    plant('app1/word', Simpkv::Codec.encode("it's\n$(x) λ"))
    plant('app1/data', Simpkv::Codec.encode('user' => 'app'))
    plant('app1/token', Simpkv::RichData.sensitive('hush'))
    plant('raw/zero', Simpkv::Codec.encode("\xff\0\n".b))
    plant('raw/old', '{"value":"gone","metadata":{},"expires":"2001-01-01T00:00:00Z"}')
  end

  def run(*arguments, **more, &block)
    simpkv('exec', *arguments, process: true, **more, &block)
  end

  # @return [String] what the program prints
  def run!(*arguments, **more)
    outcome = run(*arguments, **more)
    expect([outcome.err, outcome.code]).to eq(['', 0])
    outcome.out.force_encoding('UTF-8')
  end

  it 'sets variables to values: text as it is, other values as JSON' do
    values = run!('--env', 'WORD=app1/word', '--env', 'db=app1/data', '--env=T=app1/token', '--', 'sh', '-c',
                  'printf "%s|%s|%s" "$WORD" "$db" "$T"')
    expect(values).to eq("it's\n$(x) λ|{\"user\":\"app\"}|hush")
  end

  it 'gives values in files that have no name and that the program can read twice, byte for byte' do
    script = 'cat "$Z" "$Z" "$DB"; readlink "$Z"'
    shown = run!('--file', 'Z=raw/zero', '--file', 'DB=app1/data', 'sh', '-c', script).b
    expect(shown).to match(%r{\A\xff\0\n\xff\0\n\{"user":"app"\}/dev/shm/\S* \(deleted\)\n\z}n)
  end

  it 'sets the variables of a folder that get -o env prints, without the keys that have expired' do
    names = ->(*options) { run!('--recurse', *options, 'env').lines.map { |line| line[/\A\w+(?==)/] }.compact }
    expect(names['app1']).to include('APP1_WORD', 'APP1_DATA', 'APP1_TOKEN')
    expect(names['app1', '--prefix', 'my_']).to include('MY_WORD', 'MY_DATA', 'MY_TOKEN')
    expect(simpkv('put', 'raw/zero', 'text').code).to eq(0)
    expect(names['raw']).to include('RAW_ZERO').and(satisfy { |all| all.grep(/RAW_OLD/).empty? })
  end

  it 'runs the commands of docs/programs.md' do
    programs, script = Page.new('programs.md').blocks_of('sh').map do |block|
      Page.shell(block, 'SIMPKV_CONFIG' => config).lines
    end
    expect(programs).to eq(["6 characters\n", "6\n", "app\n"])
    expect([script.first, JSON.parse(script.drop(1).join).keys]).to eq(["app\n", %w[app1/db/user app1/db/password]])
  end

  it 'makes the variables that docs/programs.md names' do
    %w[app1/pg/user app1/pg/password].each { |key| plant(key) }
    expect(run!('--recurse', 'app1/pg', '--prefix', 'PG', 'env').lines).to include("PGUSER=x\n", "PGPASSWORD=x\n")
  end

  it 'leaves its options to the program, with and without --' do
    [%w[--], []].each do |hyphens|
      expect(run!('--env', 'A=app1/data', *hyphens, 'echo', '--env', '-o', '--', 'x')).to eq("--env -o -- x\n")
    end
  end

  it 'is replaced by the program: its process, exit code and signals' do
    expect(run('--env', 'A=app1/data', 'sh', '-c', 'exit 7').code).to eq(7)
    expect(run('--env', 'A=app1/data', 'sh', '-c', 'kill -TERM $$').code).to eq(-15)
    started = nil
    outcome = run('--env', 'A=app1/data', 'sh', '-c', 'echo $$') { |pid| started = pid }
    expect(outcome.out).to eq("#{started}\n")
  end

  # `serve` made the command ignore signals, and a program inherits that.
  it 'leaves nothing else to the program: no descriptor, no ignored signal, no value in the arguments' do
    script = 'ls /proc/$$/fd; grep SigIgn /proc/$$/status; tr "\0" " " < /proc/$$/cmdline'
    inherits = lambda do |*arguments|
      command = [*Unbundled::COMMAND, *arguments, 'sh', '-c', script, 'serve']
      Open3.capture2({ 'SIMPKV_CONFIG' => config }, *command, chdir: folder).first
    end
    plain, = Open3.capture2('sh', '-c', script, 'serve')
    expect(inherits['-e', 'production', 'exec', '--env', 'T=app1/token', '--']).to eq(plain)
  end

  describe 'before the program starts' do
    let(:touch) { ['touch', File.join(folder, 'started')] }

    after { expect(File.exist?(touch.last)).to be(false) }

    it 'fails with 66 for a missing and an expired key, and names each' do
      expect(simpkv('exec', '--env', 'A=no', '--file', 'B=app1/no', '--', *touch).to_a)
        .to match(['', %r{2 keys.*\n  'no': Key not found.*\n  'app1/no': Key not found}, 66])
      expect(simpkv('exec', '--env', 'A=raw/old', '--', *touch).to_a)
        .to match(['', %r{'raw/old': it expired at 2001.*the program was not started}, 66])
      expect(simpkv('exec', '--recurse', 'none', '--', *touch).code).to eq(66)
    end

    it 'fails with 65 for a variable with the byte 0, a name that programs obey, and names that become equal' do
      %w[app2/a.b app2/a_b ld/preload].each { |key| plant(key) }
      { %w[--env A=raw/zero] => %r{'raw/zero': it has the character U\+0000}, %w[--recurse ld] => /'LD_PRELOAD' is/,
        %w[--recurse app2] => /the variable APP2_A_B would also/ }.each do |options, message|
        expect(simpkv('exec', *options, '--', *touch).to_a).to match(['', message, 65])
      end
    end

    it 'fails with 64 for a wrong command line' do
      [[], %w[--env A], %w[--env A=], %w[--env 1=app1/data], %w[--env A-B=app1/data], %w[--recurse /],
       %w[--env A=app1/data --file A=app1/data], %w[--env A=app1/data --prefix x],
       %w[--env APP1_DATA=app1/data --recurse app1]]
        .each { |options| expect(simpkv('exec', *options, '--', *touch).code).to eq(64) }
    end
  end

  it 'exits with 127 if there is no such program, and with 126 if it cannot be run, as a shell does' do
    file = File.join(folder, 'plain').tap { |name| File.write(name, '') }
    { 'no-such-program' => 127, File.join(folder, 'none') => 127, folder => 126, file => 126 }.each do |program, code|
      outcome = simpkv('exec', '--env', 'T=app1/token', '--', program)
      shell = Open3.capture2e('sh', '-c', '"$0"', program).last.exitstatus
      expect([outcome.code, shell]).to eq([code, code])
      expect(outcome.err).to include("'#{program}'").and(satisfy { |text| !text.include?('hush') })
    end
  end

  it 'starts nothing if the system has no file system in memory', needs: %i[cext root] do
    script = 'mount --bind /usr /dev/shm && exec "$@"'
    inside = ['unshare', '-m', 'sh', '-c', script, 'sh', *Unbundled::COMMAND]
    words = ['exec', '--file', 'A=app1/data', 'echo', 'no']
    out, err, status = Open3.capture3({ 'SIMPKV_CONFIG' => config }, *inside, *words)
    expect([out, err, status.exitstatus]).to match(['', %r{/dev/shm is no file system in memory}, 69])
  end
end
