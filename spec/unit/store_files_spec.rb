# frozen_string_literal: true

require 'etc'
require 'timeout'
require_relative '../support/file_store'

# Tests the files themselves: their names, bytes, modes and locks, which simpkv 1.0.0 shares.
RSpec.describe Simpkv::Store, 'in files' do
  include FileStoreHelp

  def with_umask(mask)
    before = File.umask(mask)
    yield
  ensure
    File.umask(before)
  end

  [0o077, 0o000].each do |mask|
    it "creates files with mode 0660 and folders with mode 0770 under umask #{format('%03o', mask)}" do
      with_umask(mask) do
        store.put('globals/a/b/k', 'd')
        store.put('globals/a/b/k', 'e')
      end
      expect(%w[globals/a/b/k globals/a/b globals/a].map { |name| mode(name) }).to eq(%w[0660 0770 0770])
    end
  end

  it 'reads the documents of the chosen keys of a folder only, without folders below and keys that are gone' do
    %w[a b c d].each { |name| store.put("globals/f/#{name}", "document of #{name}") }
    store.put('globals/f/sub/x', 'd')
    store.put('globals/f/torn', 'd')
    File.delete(path('globals/f/torn'))
    File.mkfifo(path('globals/f/torn'))
    chosen = lambda do |names|
      expect(names).to include(keys: %w[a b c d].to_h { |name| [name, ''] }, folders: ['sub'],
                               errors: { 'torn' => /neither a key file nor a folder/ })
      store.delete('globals/f/c')
      %w[b c]
    end
    expect(store.list('globals/f', chosen: chosen) { |name, document| "#{name}: #{document}" })
      .to match(keys: { 'a' => '', 'b' => 'b: document of b', 'd' => '' }, folders: ['sub'], errors: include('torn'))
    expect(store.list('globals/none', chosen: ->(_) { [] }, required: false)).to include(keys: {}, folders: [])
    expect { store.list('globals/none', chosen: chosen) }.to raise_error(Simpkv::NotFoundError)
  end

  it 'keeps the mode of the folders above a key (they were changed to 0770, and lost setgid)' do
    store
    Dir.mkdir(path('globals/f'))
    File.chmod(0o2750, path('globals/f'))
    store.put('globals/f/g/k', 'd')
    expect(%w[globals/f globals/f/g].map { |name| mode(name) }).to eq(%w[2750 2770])
  end

  it 'keeps owner and group of a file that it replaces' do
    store.put('globals/k', 'd')
    File.chown(1234, 4321, path('globals/k')) if Process.euid.zero?
    before = File.stat(path('globals/k'))
    store.put('globals/k', 'e')
    after = File.stat(path('globals/k'))
    expect(after.ino).not_to eq(before.ino)
    expect([after.uid, after.gid, after.mode]).to eq([before.uid, before.gid, before.mode])
  end

  it 'describes keys and folders by their files, without a value' do
    store.put('globals/f/k', '{"value":"hush"}')
    File.utime(0, Time.utc(2026, 2, 28, 23, 59, 59.9r), path('globals/f/k'))
    owner = Etc.getpwuid(Process.euid).name
    facts = { 'kind' => 'key', 'modified_at' => '2026-02-28T23:59:59Z', 'size' => 16, 'owner' => owner }
    expect(store.stat('globals/f/k')).to eq(facts)
    expect(store.stat('globals/f/k', count: true, document: true))
      .to eq(facts.merge('encrypted' => false, 'versions' => 1))
    expect(store.stat('globals/f', count: true, document: true))
      .to include('kind' => 'folder', 'owner' => owner, 'keys' => 1, 'folders' => 0)
    expect(store.stat('globals')).not_to include('keys', 'size')
    expect { store.stat('globals/x') }.to raise_error(Simpkv::NotFoundError, %r{no key or folder '.*/globals/x'})
    expect { store.stat('') && store.stat('../x') }.to raise_error(Simpkv::InvalidError)
  end

  # As another user than root, it looks at a file of its own.
  it 'shows the number of an owner without a name' do
    store.put('globals/k', 'd')
    File.chown(4_000_000, nil, path('globals/k')) if Process.euid.zero?
    expect(store.stat('globals/k')['owner']).to eq(Process.euid.zero? ? '4000000' : Etc.getpwuid.name)
  end

  it 'leaves no other file behind' do
    3.times { |i| store.put('globals/k', "document #{i}") }
    expect(names_in('globals')).to eq(['k'])
  end

  it 'waits for a lock that another program holds briefly' do
    store.put('globals/k', 'd')
    threads = with_lock('globals/k') do
      [-> { store.get('globals/k') }, -> { store.put('globals/k', 'd') }].map { |call| Thread.new(&call) }
                                                                         .each { |thread| thread.join(0.1) }
    end
    expect(threads.map(&:value)).to eq(['d', false])
  end

  it 'waits for such a lock before a delete' do
    store.put('globals/k', 'd')
    thread = with_lock('globals/k') do
      Thread.new { store.delete('globals/k') }.tap do |deleting|
        deleting.join(0.1)
        expect(File.exist?(path('globals/k'))).to be(true)
      end
    end
    expect(thread.value).to be(true)
    expect(File.exist?(path('globals/k'))).to be(false)
  end

  it 'gives up at the deadline and names the locked key (a deadline of 1 s took 4.56 s on JRuby)' do
    quick = open_store(root, 'lock_timeout_seconds' => 0.3)
    quick.put('globals/k', 'd')
    failures = []
    elapsed = seconds do
      with_lock('globals/k') do
        [-> { quick.get('globals/k') }, -> { quick.put('globals/k', 'e') }].each do |call|
          call.call
        rescue Simpkv::TimeoutError => e
          failures << e.message
        end
      end
    end
    expect(failures).to eq(["Timed out waiting for lock of key file '#{path('globals/k')}'"] * 2)
    expect(elapsed).to be_between(0.6, 10)
    expect(quick.get('globals/k')).to eq('d')
    quick.close
  end

  it 'follows links inside the root, and replaces their targets' do
    store.put('globals/real/k', 'd')
    File.symlink('real', path('globals/folder'))
    File.symlink('real/k', path('globals/key'))
    expect([store.get('globals/folder/k'), store.get('globals/key')]).to eq(%w[d d])
    store.put('globals/key', 'e')
    expect([store.get('globals/real/k'), File.symlink?(path('globals/key'))]).to eq(['e', true])
    expect(store.list('globals')).to eq(keys: { 'key' => 'e' }, folders: %w[folder real], errors: {})
      .or eq(keys: { 'key' => 'e' }, folders: %w[real folder], errors: {})
  end

  it 'refuses links that lead out of the root, or nowhere' do
    store.put('globals/k', 'd')
    { 'out' => '/etc', 'passwd' => '/etc/passwd', 'up' => '../..', 'dangling' => 'nothing' }.each do |name, target|
      File.symlink(target, path("globals/#{name}"))
      [-> { store.get("globals/#{name}") }, -> { store.put("globals/#{name}", 'd') },
       -> { store.put("globals/#{name}/k", 'd') }, -> { store.kind("globals/#{name}/k") },
       -> { store.kind("globals/#{name}") }].each do |call|
        expect(&call).to raise_error(Simpkv::DeniedError, /the link '#{name}' leads (out of the root|nowhere)/)
      end
    end
    list = store.list('globals')
    expect([list[:keys], list[:errors].keys.sort]).to eq([{ 'k' => 'd' }, %w[dangling out passwd up]])
    expect(store.deletetree('globals')).to be(true)
    expect(File.exist?('/etc/passwd')).to be(true)
  end

  # The core resolves paths, so one Ruby suffices.
  describe 'with a folder that becomes a link out of the root, and a folder again, while it is used', needs: :mri do
    let(:outside) { File.join(scratch, 'outside') }
    let(:folder) { path('globals/d') }

    before do
      Dir.mkdir(outside)
      File.write(File.join(outside, 'k'), 'not ours')
      store.put('globals/d/k', 'ours')
    end

    # Runs the block. If a put has recreated the folder, deletes it and tries again.
    def instead
      yield
    rescue SystemCallError
      FileUtils.rm_rf(folder)
      retry
    end

    def swap
      File.rename(folder, path('globals/aside'))
      instead { File.symlink(outside, folder) }
      File.unlink(folder)
      instead { File.rename(path('globals/aside'), folder) }
    end

    # @return [Array] the results of the block while the folder changes; nil for a call that fails
    def while_swapped(times)
      swapper = Thread.new { loop { swap } }
      Array.new(times) do |number|
        yield number
      rescue Simpkv::Error, SystemCallError
        nil
      end
    ensure
      swapper.kill.join
    end

    it 'does not follow the link, as Ruby would' do
      naive = while_swapped(1_000_000) do
        Thread.pass
        break 'not ours' if File.read(File.join(folder, 'k')) == 'not ours'
      end
      expect(naive).to eq('not ours')
    end

    it 'neither reads nor writes there' do
      found = while_swapped(2000) do |number|
        store.put('globals/d/new', number.to_s) if (number % 4).zero?
        store.get('globals/d/k')
      end
      expect(found.uniq - [nil, 'ours']).to eq([])
      expect(Dir.children(outside)).to eq(['k'])
    end
  end

  it 'does not hang on a FIFO' do
    store.put('globals/k', 'd')
    raise 'mkfifo failed' unless system('mkfifo', path('globals/fifo'))

    %w[get kind delete].each do |name|
      expect { store.public_send(name, 'globals/fifo') }.to raise_error(Simpkv::UnavailableError, /regular|neither/)
    end
    expect { store.put('globals/fifo', 'd') }.to raise_error(Simpkv::UnavailableError, /not a regular file/)
    expect(store.list('globals')).to match(keys: { 'k' => 'd' }, folders: [], errors: { 'fifo' => /not a regular/ })
  end

  it 'lets 8 threads put at once (699 of 800 puts failed)' do
    threads = (0...8).map do |t|
      Thread.new do
        100.times { |i| store.put("environments/dev/t#{t % 4}/k#{i}", "document #{t}") }
      end
    end
    threads.each(&:join)
    lists = (0...4).map { |t| store.list("environments/dev/t#{t}") }
    expect(lists.map { |list| list[:keys].length }).to eq([100] * 4)
    expect(lists.each_with_index.map { |list, t| list[:keys].values.uniq - ["document #{t}", "document #{t + 4}"] })
      .to eq([[]] * 4)
    expect(names_in('environments/dev/t0').grep(/skv/)).to eq([])
  end

  describe 'an interrupt during a lock wait' do
    # The extension interrupts the wait. FFI notices the interrupt when the call returns, at its deadline.
    let(:lock_timeout) { Simpkv::Native.binding_name == 'cext' ? 300 : 2 }
    let(:store) { open_store(root, 'lock_timeout_seconds' => lock_timeout) }

    before { store.put('globals/k', 'd') }

    def in_lock_wait(&block)
      elapsed = seconds { with_lock('globals/k', &block) }
      expect(elapsed).to be < 30
      expect(store.get('globals/k')).to eq('d')
    end

    it 'ends it by Thread#raise' do
      # At the deadline, the call may fail first.
      expected = lock_timeout > 2 ? be_a(IOError) : be_a(IOError).or(be_a(Simpkv::TimeoutError))
      in_lock_wait do
        thread = Thread.new { store.put('globals/k', 'e') }
        thread.report_on_exception = false
        thread.join(0.2)
        thread.raise(IOError, 'stop')
        expect { thread.value }.to raise_error(StandardError) { |error| expect(error).to expected }
      end
    end

    it 'ends it by Timeout' do
      in_lock_wait do
        expect { Timeout.timeout(0.2) { store.get('globals/k') } }.to raise_error(Timeout::Error)
      end
    end

    it 'ends it by Thread#kill' do
      in_lock_wait do
        thread = Thread.new { store.list('globals') }
        thread.join(0.2)
        expect(thread.kill.join(60)).to be(thread)
      end
    end
  end
end
