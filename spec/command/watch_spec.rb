# frozen_string_literal: true

require 'English'
require 'time'
require 'simpkv/cli/awaited_folder'
require 'simpkv/cli/polled_changes'
require_relative 'command_helper'
require_relative '../support/processes'
require_relative 'examples/watching'

RSpec.describe 'simpkv watch' do
  include_context 'with keys in files'

  def plant(key, value = 'x')
    store.put("environments/production/#{key}", Simpkv::Codec.encode(value))
  end

  include Processes
  include WatchingCommand

  it 'prints a line for each change, from the folder on' do
    plant('app1/old')
    lines = watched('app1', '--count', '3') do
      plant('app2/elsewhere')
      plant('app1/new')
      store.delete('environments/production/app1/old')
      plant("app1/a\e[1m")
    end
    expect(@first).to match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ready\n\z/)
    expect(lines.map { |line| line.split(' ', 2).last }).to eq(['put new', 'delete old', 'put a\x1B[1m'])
  end

  it 'prints an object on a line with -o json, and values only with --values' do
    plant('app1/a')
    plain = watched('-o', 'json', '--count', '1') { plant('app1/a', 'pl4nted') }
    expect(plain.join).not_to include('pl4nted')
    change = JSON.parse(plain.first)
    expect(change).to match('time' => String, 'change' => 'put', 'key' => 'app1/a', 'cookie' => /\Afile:\d+\z/)
    expect(JSON.parse(@first)).to include('change' => 'ready', 'key' => '', 'deletions' => 'known')
    with_values = watched('-o', 'json', '--values', '--count', '1') do
      store.put('environments/production/app1/a', Simpkv::RichData.sensitive('shown'))
    end
    expect(JSON.parse(with_values.first))
      .to include('key' => 'app1/a', 'value' => 'shown', 'metadata' => {}, 'sensitive' => true)
    lines = watched('--values', '--count', '1') { plant('app1/a', 'again') }
    expect(lines.join).to end_with('put app1/a {"value":"again"}')
  end

  it 'continues from a cookie' do
    plant('app1/a')
    watched('-o', 'json', '--count', '1') { plant('app1/b') }
    cookie = JSON.parse(@first)['cookie']
    plant('app1/c')
    expect(keys_since(cookie, 'app1/c')).to include('app1/b')
    expect(simpkv('watch', '--since', 'secret-cookie').to_a)
      .to match(['', /this is not a cookie of a store in files$/, 65])
  end

  # @return [Array<String>] the keys that changed since, up to the last one. Some earlier ones are among them
  def keys_since(cookie, last)
    command = [{ 'SIMPKV_CONFIG' => config }, *Unbundled::COMMAND, 'watch', '--since', cookie, '-o', 'json']
    IO.popen(command, chdir: folder) do |output|
      keys = []
      keys << JSON.parse(output.gets)['key'] until keys.last == last
      Process.kill('TERM', output.pid)
      keys
    end
  end

  it 'refuses --poll with --since' do
    expect(simpkv('watch', '--poll', '1', '--since', 'file:1').to_a)
      .to eq(['', "simpkv: --poll does not go with --since: a list has no cookie\n", 64])
    expect(simpkv('watch', '--poll', '0').code).to eq(64)
  end

  # It asked without a pause. A watch that reads from a replica that lags does not find the folder for a while.
  it 'pauses between two tries while the folder is there, and the watch does not find it' do
    plant('app1/a')
    tries = 0
    watch = lambda do |&each|
      (tries += 1) > 4 ? each.call(Simpkv::Change.new(:ready, '', '', true)) : raise(Simpkv::NotFoundError, 'none')
    end
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    seen = []
    awaited = Simpkv::Cli::AwaitedFolder.new(store, 'environments/production/app1', 0.1, ->(error) { seen << error })
    awaited.each(watch) { |change| seen << change.key }
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - started).to be >= 0.4
    expect(seen).to match([be_a(Simpkv::NotFoundError), '', 'a'])
  end

  # A list that failed must not look like a folder that was emptied.
  it 'goes on with --poll when a list has failed for now' do
    errors = [nil, Simpkv::UnavailableError.new('away'), nil]
    polled = Object.new
    polled.define_singleton_method(:tree) do |*, **, &each|
      error = errors.shift
      raise error if error

      { keys: { 'a' => each.call('a', errors.length.to_s) }, folders: [], errors: {} }
    end
    warned = []
    seen = []
    Simpkv::Cli::PolledChanges.new(polled, 'f', 0.001, ->(error) { warned << error.message }).each do |change|
      seen << [change.kind, change.key]
      break if seen.length == 2
    end
    expect([warned, seen]).to eq([%w[away], [[:ready, ''], [:put, 'a']]])
  end

  # The hex layout of a directory names the keys below a hidden folder, each of which was printed as changed.
  it 'keeps with --poll what it knows of keys whose folder is hidden, and prints one that cannot be read itself' do
    hidden = %w[sub/a sub/b].to_h { |path| [path, 'a folder of its path cannot be read'] }
    lists = [{ keys: { 'sub/a' => '1', 'sub/b' => '1' }, folders: %w[sub], errors: { 'x/y' => 'x' } },
             { keys: {}, folders: [], errors: { 'x/y' => 'x' }.merge(hidden) },
             { keys: { 'sub/a' => '2' }, folders: %w[sub], errors: { 'x/y' => 'x', 'sub/b' => 'too long' } }]
    polled = Object.new
    polled.define_singleton_method(:tree) { |*, **| lists.shift || raise(Simpkv::NotFoundError, 'gone') }
    seen = []
    warn = ->(error) { seen << error.message }
    changes = Simpkv::Cli::PolledChanges.new(polled, 'f', 0.001, warn)
    expect { changes.each { |change| seen << [change.kind, change.key] } }.to raise_error(Simpkv::NotFoundError)
    expect(seen).to match([[:ready, ''], %r{'sub/' cannot be read: a folder}, [:put, 'sub/a'], [:put, 'sub/b'],
                           [:delete, 'sub/a'], [:delete, 'sub/b'], [:delete, 'x/y']])
  end

  # Keys below a folder that could not be listed were printed as deleted.
  it 'keeps with --poll what it knows of a folder that is hidden for now, and ends for one that is gone' do
    FileUtils.mkdir_p(root)
    FileUtils.chmod(0o777, [folder, root])
    changes = [[:ready, ''], :warned, [:put, 'sub/b'], [:delete, 'sub/a'], [:delete, 'sub/b']]
    as_nobody { of_a_hidden_folder == changes }
  end

  # @return [Array] the changes and warnings while a folder is hidden, and then changed and shown again
  def of_a_hidden_folder
    seen = []
    own = Simpkv::Store.open('file', 'root_path' => root)
    %w[sub/a sub/b].each { |key| own.put("globals/f/#{key}", key) }
    sub = File.join(root, 'globals/f/sub')
    show = lambda do |error|
      seen << :warned if error.message.start_with?("'sub/' cannot be read: ")
      File.chmod(0o700, sub)
      own.put('globals/f/sub/b', 'changed')
    end
    Simpkv::Cli::PolledChanges.new(own, 'globals/f', 0.001, show).each do |change|
      seen << [change.kind, change.key]
      File.chmod(0, sub) if change.kind == :ready
      own.deletetree('globals/f') if change.kind == :put
    end
  rescue Simpkv::NotFoundError
    seen
  end

  it 'ends as the signal says, and for a folder that is missing' do
    plant('app1/a')
    outcome = simpkv('watch', process: true) do |pid|
      sleep(0.05) until inotify?(pid)
      Process.kill('TERM', pid)
    end
    expect([outcome.err, outcome.code]).to eq(['', -15])
  end

  # It exited with 66 at once.
  it 'waits for a folder that is missing, prints its first keys, and ends when the folder is deleted' do
    plant('key')
    [[], %w[--poll 0.2]].each do |options|
      command = [{ 'SIMPKV_CONFIG' => config }, *Unbundled::COMMAND, 'watch', 'new/folder', *options]
      lines = IO.popen(command, chdir: folder, err: File::NULL) { |output| steps_of_a_folder(output) }
      expect(lines).to eq(['ready', 'put a', 'put b/c', 'delete a'])
      expect($CHILD_STATUS.exitstatus).to eq(66)
      store.deletetree('environments/production/new')
    end
    expect(simpkv('watch', 'key').to_a).to match(['', /it is a key, and simpkv watch takes a folder/, 66])
  end

  # Makes each change when the one before was printed.
  def steps_of_a_folder(output)
    steps = [-> { plant('new/folder/a') }, -> { plant('new/folder/b/c') },
             -> { store.delete('environments/production/new/folder/a') }]
    lines = [output.gets.split(' ', 2).last.chomp]
    steps.each do |step|
      step.call
      lines << output.each_line.find { |line| !line.match?(/ folder /) }.split(' ', 2).last.chomp
    end
    store.deletetree('environments/production/new')
    output.read
    lines
  end

  def inotify?(pid)
    Dir.children("/proc/#{pid}/fd").any? { |fd| File.readlink("/proc/#{pid}/fd/#{fd}").include?('inotify') }
  rescue Errno::ENOENT
    false
  end
end
