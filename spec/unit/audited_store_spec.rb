# frozen_string_literal: true

require 'delegate'
require 'etc'
require 'open3'
require 'socket'
require 'time'
require_relative '../support/audit_file'
require_relative '../support/eventually'
require_relative '../support/file_store'
require_relative '../support/key_file'

RSpec.describe Simpkv::AuditedStore do
  include AuditFile
  include Eventually
  include FileStoreHelp
  include KeyFile

  let(:options) { {} }
  let(:reads) { false }
  let(:warnings) { [] }
  let(:settings) do
    Simpkv::Config.typed({ 'type' => 'file', 'id' => 'site', 'audit' => audit(reads: reads) }.merge(options), 'b')
  end
  let(:audited) { over(store) }

  def over(below, more = settings, **layers)
    Simpkv::Layers.over(below, more, node: 'web1', warn: ->(warning) { warnings << warning }, **layers)
  end

  def document(value)
    Simpkv::Codec.encode(value)
  end

  it 'is not there without the option' do
    expect(over(store, settings.reject { |name, _| name == 'audit' })).to equal(store)
  end

  it 'writes the line of a watch when it begins' do
    audited = over(store, settings.merge('audit' => settings['audit'].merge('reads' => true)))
    store.put('globals/a', document('x'))
    audited.watch('globals') do
      expect(lines.map { |line| line.values_at('operation', 'outcome') }).to eq([%w[watch found]])
      break
    end
    expect { audited.watch('globals/none') { nil } }.to raise_error(Simpkv::NotFoundError)
    expect(lines.map { |line| line.values_at('operation', 'outcome') }).to eq([%w[watch found], %w[watch absent]])
  end

  it 'writes one line about a list that reads the documents of some keys' do
    audited = over(store, settings.merge('audit' => settings['audit'].merge('reads' => true)))
    %w[a b].each { |name| store.put("globals/#{name}", document(name)) }
    audited.list('globals', chosen: ->(_) { %w[a] })
    expect(lines.map { |line| line.values_at('operation', 'outcome') }).to eq([%w[list found]])
  end

  it 'writes who did what to which key, and how it ended' do
    before = Time.now
    audited.put('environments/production/app/password', document('x'))
    user = Etc.getpwuid(Process.euid).name
    expect(lines).to contain_exactly(
      'time' => /\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\z/, 'operation' => 'put', 'backend' => 'file/site',
      'environment' => 'production', 'key' => 'app/password', 'node' => 'web1', 'identity' => user, 'user' => user,
      'pid' => Process.pid, 'outcome' => 'written', 'duration_us' => be_between(1, 60_000_000)
    )
    expect(Time.iso8601(lines.first['time'])).to be_between(before - 0.001, Time.now)
  end

  it 'names the bind DN of a directory as identity' do
    ldap = { 'type' => 'ldap', 'id' => 'x', 'ldap_uri' => 'ldap://a', 'admin_dn' => 'cn="ops",dc=simp',
             'audit' => audit }
    over(store, Simpkv::Config.typed(ldap.merge('admin_pw_file' => '/pw'), 'b')).put('globals/a', document(1))
    over(store, Simpkv::Config.typed(ldap, 'b')).put('globals/a', document(1))
    expect(lines.map { |line| line.values_at('backend', 'identity') })
      .to eq([['ldap/x', 'cn="ops",dc=simp'], ['ldap/x', Etc.getpwuid(Process.euid).name]])
  end

  it 'has a line for each write, with its outcome' do
    audited.put('globals/a', document(1))
    audited.put('globals/a', document(1))
    expect { audited.put('globals/a', document(2), condition: :absent) }.to raise_error(Simpkv::ExistsError)
    audited.put('globals/a', document(2), condition: :expect, expect: document(1))
    expect(audited.delete('globals/a', expect: document(9))).to be(false)
    expect(audited.delete('globals/a', expect: document(2))).to be(true)
    expect([audited.delete('globals/a'), audited.deletetree('globals/f')]).to eq([false, false])
    expect([audited.create_folder('globals/f'), audited.create_folder('globals/f')]).to eq([true, false])
    expect(operations).to eq(
      ['put global:a written', 'put global:a unchanged', 'put global:a conflict', 'put global:a written',
       'delete global:a conflict', 'delete global:a deleted', 'delete global:a absent',
       'deletetree global:f absent', 'create_folder global:f written', 'create_folder global:f unchanged']
    )
    expect([audited.delete_folder('globals/f'), audited.deletetree('globals')]).to eq([true, true])
    expect(operations.last(2)).to eq(['delete_folder global:f deleted', 'deletetree global: deleted'])
  end

  it 'has a line for each of many keys' do
    audited.put_many({ 'globals/a' => document(1), 'environments/dev/b' => document(2) })
    audited.put_many({ 'globals/a' => document(1), 'globals/b' => document(2), 'globals/a/c' => document(3) },
                     condition: :expect, expect: { 'globals/a' => document(1), 'globals/b' => document(9),
                                                   'globals/a/c' => nil })
    expect(operations).to eq(
      ['put_many global:a written', 'put_many dev:b written', 'put_many global:a unchanged',
       'put_many global:b conflict', 'put_many global:a/c error']
    )
    expect(lines.last['error']).to eq('IsKeyError')
    expect([audited.put_many({}), lines.length, warnings]).to eq([{}, 5, []])
  end

  it 'has no lines about operations that read' do
    store.put('globals/a', document(1))
    audited.get('globals/a')
    audited.exist?('globals/a')
    audited.kind('globals/a')
    audited.get_many(%w[globals/a globals/none])
    audited.list('globals') { nil }
    audited.tree('globals')
    expect(lines).to eq([])
  end

  context 'with reads' do
    let(:reads) { true }

    it 'has lines about these as well, with numbers of keys' do
      store.put('globals/a', document(1))
      expect(audited.get('globals/a')).to eq(document(1))
      expect(audited.get('globals/none', required: false)).to be_nil
      expect { audited.get('globals/none') }.to raise_error(Simpkv::NotFoundError)
      expect([audited.exist?('globals/a'), audited.kind('globals/none')]).to eq([true, nil])
      expect(audited.stat('globals', count: true)).to include('keys' => 1, 'kind' => 'folder')
      expect { audited.stat('globals/none') }.to raise_error(Simpkv::NotFoundError)
      expect(audited.get_many(%w[globals/a globals/none])['globals/a']).to eq(document(1))
      expect(audited.list('globals') { |name, _| name }[:keys]).to eq('a' => 'a')
      expect(audited.tree('')[:keys]).to eq('globals/a' => document(1))
      expect { audited.list('globals/none') }.to raise_error(Simpkv::NotFoundError)
      expect(audited.list('environments', required: false)[:keys]).to eq({})
      expect(operations).to eq(
        ['get global:a found', 'get global:none absent', 'get global:none absent', 'exists global:a found',
         'exists global:none absent', 'stat global: found', 'stat global:none absent', 'get_many global:a found',
         'get_many global:none absent', 'list global: found', 'tree : found', 'list global:none absent', 'list : found']
      )
      expect(lines.map { |line| line['count'] }.compact).to eq([1, 1, 0])
    end
  end

  it 'names the class of an error, and raises it' do
    Dir.mkdir(path('globals').tap { store } << '/folder')
    expect { audited.put('globals/folder', document(1)) }.to raise_error(Simpkv::IsFolderError)
    expect { audited.put(nil, document(1)) }.to raise_error(TypeError)
    expect { audited.put_many({ 5 => document(1) }) }.to raise_error(TypeError)
    failing = Object.new
    failing.define_singleton_method(:delete) { |_key, **| raise Simpkv::DeniedError, 'no' }
    expect { over(failing).delete('globals/a') }.to raise_error(Simpkv::DeniedError)
    expect(lines.map { |line| line.values_at('key', 'outcome', 'error') })
      .to eq([%w[folder error IsFolderError], ['', 'error', 'TypeError'], ['', 'error', 'TypeError'],
              %w[a refused DeniedError]])
  end

  it 'writes a line for an operation that was interrupted' do
    below = Object.new
    reached = Queue.new
    below.define_singleton_method(:delete) { |_key, **| reached.push(true) && sleep }
    %i[raise kill].each do |interrupt|
      thread = Thread.new { over(below).delete('globals/a') }
      thread.report_on_exception = false
      reached.pop
      interrupt == :raise ? thread.raise(Interrupt) : thread.kill
      begin
        thread.join
      rescue Interrupt
        nil
      end
    end
    expect(lines.map { |line| line.values_at('outcome', 'error') }).to eq([%w[error Interrupt], %w[error Interrupted]])
  end

  it 'writes a line for each operation, whenever a thread is interrupted', needs: :mri do
    begun = 0
    below = Object.new
    below.define_singleton_method(:delete) { |_key, **| (begun += 1).positive? }
    store = over(below)
    over = false
    deletions = proc { 100.times { store.delete('globals/a') } }
    thread = Thread.handle_interrupt(Interrupt => :never) do
      Thread.new do
        until over
          begin
            Thread.handle_interrupt(Interrupt => :immediate, &deletions)
          rescue Interrupt
            next
          end
        end
      end
    end
    300.times do
      thread.raise(Interrupt)
      sleep 0.0005
    end
    over = true
    thread.join
    expect(lines.length).to eq(begun)
    expect(begun).to be > 100
  end

  it 'escapes characters that could forge lines or command a terminal' do
    ["a\nb", "\e[31m", "\u009b31m", "\u202egpj", "\xFF\x00", "\u2028", 'x"}', '\\'].each do |name|
      audited.put("globals/#{name}", document(1))
    rescue Simpkv::Error
      next
    end
    text = File.read(audit_file, encoding: 'UTF-8')
    expect([text.count("\n"), text.delete("\n")]).to match([8, /\A[[:print:]]*\z/])
    expect(lines.map { |line| line['key'] })
      .to eq(["a\nb", "\e[31m", "\u009b31m", "\u202egpj", "\uFFFD\0", "\u2028", 'x"}', '\\'])
  end

  # U+061C, which changes the direction, and others that nobody sees, were in the log as they are.
  it 'escapes characters that are invisible' do
    invisible = %W[\u061c \u00a0 \u00ad \u034f \u115f \u180e \u200b \u2007 \u2060 \u2800 \u3000 \u3164 \ufe0f \ufeff
                   \ufffb \u{1d173} \u{e0041} \u{e0100}]
    visible = ['é', 'ا', '日', '€', '😀', 'é b']
    (invisible + visible).each { |character| audited.put("globals/a#{character}b", document(1)) }
    text = File.read(audit_file, encoding: 'UTF-8')
    expect(invisible.select { |character| text.include?(character) }).to be_empty
    expect(visible.reject { |character| text.include?(character) }).to be_empty
    expect(lines.map { |line| line['key'] }).to eq((invisible + visible).map { |character| "a#{character}b" })
  end

  # It ended at a line about lost lines, which has no key.
  it 'is read by the command in the documentation', :tools, :once do
    audited.put('globals/app1/x', document(1))
    File.write(audit_file, Simpkv::Audit::Line.lost(2) + File.read(audit_file) + Simpkv::Audit::Line.lost(1))
    audited.put('globals/app2/x', document(1))
    command = File.read(File.expand_path('../../docs/audit.md', __dir__))[/^jq -r .*?@tsv'/m].sub(/"2026-[^"]+"/, '""')
    output, status = Open3.capture2e("#{command} #{audit_file}")
    expect([output.split("\t").values_at(1, 2, 3), output.count("\n"), status.success?])
      .to eq([%w[put app1/x written], 1, true])
  end

  it 'asks for the node of each line' do
    nodes = %w[a b].each
    asked = Simpkv::Layers.over(store, settings, node: -> { nodes.next })
    2.times { asked.delete('globals/k') }
    Simpkv::Layers.over(store, settings).delete('globals/k')
    expect(lines.map { |line| line['node'] }).to eq(['a', 'b', Socket.gethostname])
  end

  context 'with encryption' do
    let(:options) { { 'encryption_keys' => write_keys('a') } }
    let(:reads) { true }

    it 'has no value, and one line an operation' do
      audited.put('globals/k', document('pl4nted'))
      audited.get('globals/k')
      expect(audited.renew('globals/k')).to eq(:unchanged)
      write_keys('b', 'a')
      expect(audited.renew('globals/k')).to eq(:renewed)
      expect(audited.state(audited.below.get('globals/k'))).to eq('b')
      store.put('globals/other', store.get('globals/k'))
      expect { audited.get('globals/other') }.to raise_error(Simpkv::MalformedError)
      expect(over(store, raw: true).get('globals/k')).to include('"jwe"')
      expect(operations.map { |operation| operation.sub('global:', '') })
        .to eq(['put k written', 'get k found', 'rekey k unchanged', 'rekey k written', 'get k found',
                'get other error', 'get k found'])
      expect(File.read(audit_file)).not_to match(/pl4nted|eyJ/)
    end
  end

  describe 'on a full disk', needs: :mri, thorough: true do
    let(:required) { false }
    let(:settings) do
      Simpkv::Config.typed({ 'type' => 'file', 'id' => 'site',
                             'audit' => { 'to' => @log, 'required' => required, 'reads' => true } }, 'b')
    end

    # @return [Array<Hash>]
    def lines
      File.readlines(@log).map { |line| JSON.parse(line) }
    end

    around do |example|
      on_small_disk do |folder, fill|
        @log = "#{folder}/audit.log"
        @fill = fill
        example.run
      end
    end

    it 'goes on without required, warns once, and says later how many lines are lost' do
      audited.put('globals/a', document(1))
      @fill.call
      length = (1..100).find { |n| audited.put("globals/k#{n}", document(n)) && warnings.any? }
      2.times { |n| audited.put("globals/more#{n}", document(n)) }
      expect(warnings).to contain_exactly(/\Acannot write the audit log '#{@log}': No space left on device: lines /)
      File.truncate(File.join(File.dirname(@log), 'filler'), 0)
      audited.delete('globals/a')
      expect(lines.map { |line| line.values_at('operation', 'key', 'outcome', 'count') }.last(2))
        .to eq([['audit', nil, 'lost', 3], ['delete', 'a', 'deleted', nil]])
      expect([lines.length, store.list('globals')[:keys].length]).to eq([length + 2, length + 2])
    end

    context 'with required' do
      let(:required) { true }

      it 'does nothing that it could not tell of' do
        # Lines of these names are longer than the ones that do not fit any more.
        first = 'globals/first-of-all'
        other = 'globals/one-more-key'
        audited.put(first, document(1))
        @fill.call
        # Their lines are longer than the space that is reserved for those of other operations.
        many = (1..2000).to_h { |n| ["globals/k#{n}", document(n)] }
        expect { audited.put_many(many) }.to raise_error(Simpkv::AuditError, /cannot reserve .*, so nothing was done/)
        done = (1..2000).take_while { |n| attempt { audited.put("globals/k#{n}", document(n)) } }
        expect(@error).to be_a(Simpkv::AuditError).and have_attributes(
          message: "cannot reserve disk space for the audit log '#{@log}': No space left on device. The option " \
                   "'required' of 'audit' is set, so nothing was done"
        )
        expect(store.list('globals')[:keys].length).to eq(done.length + 1)
        expect { audited.put_many({ other => document(1) }) }.to raise_error(Simpkv::AuditError)
        expect { audited.get(first) }.to raise_error(Simpkv::AuditError)
        expect([store.kind(other), lines.length]).to eq([nil, done.length + 1])
        File.truncate(File.join(File.dirname(@log), 'filler'), 0)
        expect([audited.put(other, document(1)), lines.length]).to eq([true, done.length + 2])
      end

      def attempt
        yield
      rescue Simpkv::Error => e
        @error = e
        false
      end
    end
  end

  describe 'with required' do
    let(:options) { { 'audit' => audit(required: true) } }

    it 'refuses an operation if the log cannot be opened, and works as soon as it can' do
      Dir.mkdir(audit_file)
      expect { audited.put('globals/a', document(1)) }
        .to raise_error(Simpkv::AuditError, /\Acannot open the audit log '#{audit_file}': Is a directory\. The option /)
      expect(store.kind('globals/a')).to be_nil
      Dir.rmdir(audit_file)
      expect([audited.put('globals/a', document(1)), lines.length]).to eq([true, 1])
    end

    it 'names the key, and no DN (it named nothing)' do
      Dir.mkdir(audit_file)
      [[-> { audited.delete('globals/a') }, 'globals/a'],
       [-> { audited.directory.delete_entry('dc=simp') }, nil]].each do |call, key|
        expect(&call).to raise_error(Simpkv::AuditError) { |error| expect(error.key).to eq(key) }
      end
    end

    it 'says that an operation was done, if its line cannot be written all the same' do
      below = Object.new
      file = audit_file
      below.define_singleton_method(:delete) do |_key, **|
        File.delete(file)
        Dir.mkdir(file)
        true
      end
      expect { over(below).delete('globals/a') }
        .to raise_error(Simpkv::AuditError,
                        /Is a directory\. The operation itself is over, with the outcome 'deleted': only its line is /)
    end
  end

  it 'warns once, and not again, if the log cannot be opened' do
    Dir.mkdir(audit_file)
    3.times { |n| audited.put('globals/a', document(n)) }
    expect(warnings)
      .to contain_exactly("cannot open the audit log '#{audit_file}': Is a directory: lines of the audit log are lost")
  end

  it 'says once how many lines are lost, although several threads write when the log is there again' do
    file = File.join(audit_folder, 'later', 'audit.log')
    wait = -> { true }
    in_step = Class.new(SimpleDelegator) do
      define_method(:write) { |*arguments| wait.call && super(*arguments) }
    end
    allow(Simpkv::Native::AuditLog).to(receive(:new).and_wrap_original { |new, target| in_step.new(new.call(target)) })
    log = Simpkv::Audit::Log.to(file)
    2.times { expect { log.write("a line\n") }.to raise_error(Simpkv::Error, /No such file/) }
    Dir.mkdir(File.dirname(file))
    entered = Queue.new
    wait = -> { entered.push(true) && eventually { entered.length == 2 } }
    Array.new(2) { Thread.new { log.write("a line\n") } }.each(&:join)
    expect(File.readlines(file).grep(/"lost"/)).to contain_exactly(/"count":2}$/)
  end

  it 'loses no line of several processes while the log is rotated', needs: :fork, thorough: true do
    log = Simpkv::Native::AuditLog.new(audit_file)
    counts = (0..3).to_h { |writer| [writer, File.join(audit_folder, "count#{writer}")] }
    stop = File.join(audit_folder, 'stop')
    writers = counts.map do |writer, count|
      fork do
        lines = 0
        until File.exist?(stop)
          log.write(%({"writer":#{writer},"n":#{lines}}\n), 30_000)
          lines += 1
        end
        File.write(count, lines)
        exit!(0)
      end
    end
    20.times do |rotation|
      eventually { File.size?(audit_file).to_i > 2000 }
      File.rename(audit_file, "#{audit_file}.#{rotation}")
    end
    File.write(stop, '')
    writers.each { |pid| Process.wait(pid) }
    written = Dir["#{audit_file}*"].flat_map { |file| File.readlines(file) }.map { |line| JSON.parse(line).values }
    # In this order, a missing line shows as a difference of two numbers.
    expect(written.sort).to eq(counts.flat_map { |writer, count| [writer].product([*0...File.read(count).to_i]) })
  end
end
