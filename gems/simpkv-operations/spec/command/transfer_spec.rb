# frozen_string_literal: true

require 'digest'
require 'fileutils'
require 'pty'
require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/ds389'
require_relative '../../../../spec/support/slapd'

# Moving keys with `simpkv export`, `import` and `copy`.
RSpec.describe 'moving keys' do
  include_context 'with the command'

  let(:backends) do
    %w[default other third].to_h do |name|
      [name, { 'type' => 'file', 'id' => name, 'root_path' => File.join(folder, name) }]
    end
  end

  # It stored them without a word.
  it 'copy and import name the keys whose values simpkv 1.0.0 has lost, and what is lost' do
    lost = { 'globals/lost' => document('Sensitive [value redacted]'),
             'environments/dev/lost' => document({ 'a' => ['Sensitive [value redacted]'] }),
             'environments/dev/key' => document({ 'Sensitive [value redacted]' => 1 }),
             'globals/twice' => '{"value":{"1":"pl4nted","1":2},"metadata":{}}',
             'globals/object' => document(['#<Object:0x00007f8151780cb0>']),
             'globals/call' => document({ 'a' => "Deferred({'name' => 'x'})" }) }
    fill('default', lost.merge('globals/kept' => document('it says "#<x:0x00007f8151780cb0>", \\"Deferred({')))
    exported = simpkv!('export')
    said = [simpkv('copy', 'default', 'other', '--dry-run'), simpkv('copy', 'default', 'other'),
            simpkv('-b', 'third', 'import', input: exported)]
    expect(said.map(&:code)).to eq([0, 0, 0])
    expect(said.map(&:err)).to all(include(<<~TEXT)).and(satisfy { |texts| !texts.join.include?('pl4nted') })
      6 values lost, as simpkv 1.0.0 loses some: store them anew
        environments/dev/key: it has the text 'Sensitive [value redacted]' in place of a secret
        environments/dev/lost: it has the text 'Sensitive [value redacted]' in place of a secret
        globals/call: it has a text such as #<Object:0x...> or Deferred(...) in place of an object
        globals/lost: it has the text 'Sensitive [value redacted]' in place of a secret
        globals/object: it has a text such as #<Object:0x...> or Deferred(...) in place of an object
        globals/twice: a Hash in it has a name twice, and only the last value is read
    TEXT
    expect(simpkv('copy', '-e', 'dev', 'default', 'other').err).to include('2 values lost')
  end

  # All exited with 0, and said no more than that the transfer is verified.
  it 'export, copy and import name each document that functions cannot read, carry it, and exit with 65' do
    corrupt = { 'globals/empty' => '', 'globals/cut' => '{"value":"pl4nted', 'globals/odd' => "\xFF\x00".b,
                'globals/times' => '{"value":1,"metadata":{},"expires":"pl4nted"}' }
    fill('default', corrupt)
    plain, raw = [[], %w[--raw]].map { |options| simpkv('export', *options) }
    said = [plain, raw, simpkv('copy', 'default', 'other', '--dry-run'), simpkv('copy', 'default', 'other'),
            simpkv('-b', 'third', 'import', input: plain.out)]
    expect(said.map(&:code).uniq).to eq([65])
    expect(said.map { |outcome| outcome.err.scan(/^simpkv: '(\S+)': .*: it (?:was|is) (?:exported|stored) as it is$/) })
      .to all(eq(corrupt.keys.sort.map { |key| [key] }))
    expect(said.map(&:err)).to all(include("'globals/cut': its document is corrupt (17 bytes)", 'document is empty'))
    expect(said.map(&:err).join).not_to include('pl4nted')
    expect(said.drop(3).map(&:out)).to all(match(/^corrupt: +4$/).and(match(/^verified: +true$/)))
    expect([everything('other'), everything('third')]).to all(eq(everything('default')))
  end

  # @return [Hash{String => String}] the documents of a backend, by path
  def everything(name)
    found = {}
    backend = backends.fetch(name)
    options = backend.reject { |option, _| %w[type case_sensitive].include?(option) }
    options.delete('id') if backend['type'] == 'file'
    store = Simpkv::Store.open(backend['type'], options)
    walk(store, 'globals', found)
    walk(store, 'environments', found)
    found
  ensure
    store&.close
  end

  def walk(store, path, found)
    listed = store.list(path)
    listed[:keys].each { |name, document| found["#{path}/#{name}"] = document }
    listed[:folders].each { |name| walk(store, "#{path}/#{name}", found) }
  rescue Simpkv::NotFoundError
    nil
  end

  # Writes documents into a file backend as they are.
  def fill(name, documents)
    documents.each do |path, document|
      file = File.join(folder, name, path)
      FileUtils.mkdir_p(File.dirname(file))
      File.binwrite(file, document)
    end
  end

  # Puts a pipe, which is no key, in the place of a folder: a plan does not see that.
  def block_folder
    FileUtils.mkdir_p(File.join(folder, 'other/globals'))
    File.mkfifo(File.join(folder, 'other/globals/host1'))
  end

  def document(value, metadata = {})
    Simpkv::Codec.encode(value, metadata)
  end

  let(:site) do
    { 'globals/token' => document('Ωmega 🔑', 'n' => 1),
      'globals/host1/keytab' => document((0..255).to_a.pack('C*')),
      'environments/production/app1/password' => document(%(it has "quotes", and a newline\n)),
      'environments/production/app1/deep/er/key' => document([1, { 'a' => nil }]),
      'environments/production/spaced' => '{ "value" : 1.50 , "metadata" : {} }',
      'environments/dev/app1/password' => document('x' * 100_000) }
  end

  before { fill('default', site) }

  def journal
    Dir[File.join(folder, '*.journal')].max
  end

  it 'export and copy refuse a missing environment, and name the existing ones' do
    [%w[export], %w[export out.jsonl], %w[copy default other]].each do |arguments|
      expect([arguments, *simpkv(*arguments, '-e', 'prodction').to_a])
        .to match([arguments, '', /there is no environment 'prodction', only dev, production$/, 66])
    end
    expect(Dir.children(folder)).not_to include('out.jsonl')
  end

  it 'completes the names of backends' do
    expect(simpkv!('complete', '--', 'copy', 'default', 'oth')).to start_with('other')
  end

  it 'says why copy takes no --backend' do
    %w[-b --backend].each do |name|
      expect(simpkv('copy', 'a', 'b', name, 'x').to_a)
        .to match(['', /\Asimpkv: invalid option: #{name}: FROM and TO name the backends.*\n\z/, 64])
    end
    expect(simpkv!('copy', '--help')).not_to include('--backend')
  end

  describe 'simpkv copy' do
    it 'stores all keys byte for byte, and reports that' do
      report = JSON.parse(simpkv!('copy', 'default', 'other', '-o', 'json'))
      expect(report).to include('keys' => 6, 'stored' => 6, 'failed' => 0, 'verified' => true)
      expect(everything('other')).to eq(site)
    end

    it 'stores no key that the target has' do
      simpkv!('copy', 'default', 'other')
      before = Dir[File.join(folder, 'other/**/*')].to_h { |file| [file, File.stat(file).mtime] }
      expect(JSON.parse(simpkv!('copy', 'default', 'other', '-o',
                                'json'))).to include('unchanged' => 6, 'stored' => 0)
      expect(Dir[File.join(folder, 'other/**/*')].to_h { |file| [file, File.stat(file).mtime] }).to eq(before)
    end

    it 'stores and creates nothing with --dry-run' do
      expect(JSON.parse(simpkv!('copy', 'default', 'other', '-n', '-o', 'json'))).to include('to store' => 6)
      expect(Dir.children(folder)).to contain_exactly('default', 'simpkv.yaml')
    end

    it 'copies one environment, or the global keys' do
      simpkv!('copy', '-e', 'dev', 'default', 'other')
      simpkv!('copy', '-g', 'default', 'third')
      expect(everything('other').keys).to eq(['environments/dev/app1/password'])
      expect(everything('third').keys).to contain_exactly('globals/token', 'globals/host1/keytab')
    end

    it 'keeps documents with the same content in other bytes' do
      fill('other', 'environments/production/spaced' => '{"value":1.5,"metadata":{}}')
      expect(JSON.parse(simpkv!('copy', 'default', 'other', '-o',
                                'json'))).to include('stored' => 5, 'verified' => true)
      expect(everything('other')).to include('environments/production/spaced' => '{"value":1.5,"metadata":{}}')
    end

    context 'with times and earlier values' do
      let(:versions) do
        times = '"stored_at":"2000-01-01T00:00:00Z","expires":"2001-01-01T00:00:00Z"'
        history = '"history":[{"value":"y","metadata":{"n":1}}]'
        { 'globals/expired' => %({"value":"x","metadata":{},#{times}}),
          'globals/versions' => %({"value":"x","metadata":{},#{times.sub('2001', '2999')},#{history}}) }
      end

      before { fill('default', versions) }

      it 'stores them as they are, also of expired keys, and so do export and import' do
        expect(JSON.parse(simpkv!('copy', 'default', 'other', '-o', 'json'))).to include('stored' => 8)
        simpkv!('export', '-g', 'site.jsonl')
        simpkv!('-b', 'third', 'import', 'site.jsonl')
        expect([everything('other'), everything('third')]).to match([site.merge(versions), include(versions)])
      end

      it 'takes equal values with other times for different ones' do
        fill('other', versions.transform_values { |document| document.sub(/,"stored_at".*\z/, '}') })
        expect(simpkv('copy', 'default', 'other'))
          .to have_attributes(code: 65, err: %r{globals/expired\n +globals/versions})
        simpkv!('copy', 'default', 'other', '--existing', 'replace')
        expect(everything('other')).to eq(site.merge(versions))
        simpkv!('copy', 'default', 'other', '--rollback', journal)
        expect(everything('other').values).to all(satisfy { |document| !document.include?('stored_at') })
      end
    end

    it 'refuses a target that is the same place as the source' do
      expect(simpkv('copy', 'default', 'default')).to have_attributes(code: 64, err: /one place/)
    end

    it 'copies between two places of one id, which functions refuse' do
      backends['other']['id'] = 'default'
      simpkv!('copy', 'default', 'other')
      expect(everything('other')).to eq(site)
    end

    it 'names a missing backend' do
      expect(simpkv('copy', 'default', 'nowhere')).to have_attributes(code: 78, err: /'nowhere'/)
    end

    context 'with differing documents in the target' do
      before { fill('other', 'globals/token' => document('pl4nted-theirs')) }

      it 'stores nothing, and names them' do
        outcome = simpkv('copy', 'default', 'other')
        expect(outcome).to have_attributes(code: 65, err: %r{globals/token})
        expect(outcome.err).not_to include('pl4nted-')
        expect(everything('other').length).to eq(1)
      end

      it 'leaves them with --existing keep' do
        expect(JSON.parse(simpkv!('copy', 'default', 'other', '--existing', 'keep', '-o', 'json')))
          .to include('kept' => 1, 'stored' => 5, 'verified' => true)
        expect(everything('other')).to eq(site.merge('globals/token' => document('pl4nted-theirs')))
      end

      it 'replaces them with --existing replace, and --rollback restores them' do
        simpkv!('copy', 'default', 'other', '--existing', 'replace')
        expect(everything('other')).to eq(site)
        expect(JSON.parse(simpkv!('copy', 'default', 'other', '--rollback', journal, '-o', 'json')))
          .to eq('rolled back' => 6, 'left' => 0)
        expect(everything('other')).to eq('globals/token' => document('pl4nted-theirs'))
      end

      # A plain value took the place of a Sensitive without a word.
      it 'names a Sensitive that a plain value replaces' do
        fill('other', 'globals/token' => Simpkv::RichData.sensitive('pl4nted'))
        said = [%w[--dry-run], []].map { |way| simpkv('copy', 'default', 'other', *%w[--existing replace], *way).err }
        expect(said).to all(include("simpkv: 'globals/token': a Sensitive is replaced by a plain value\n"))
        fill('default', 'globals/token' => Simpkv::RichData.sensitive('new'))
        expect(simpkv('copy', 'default', 'other', '--existing', 'replace').err).not_to include('Sensitive')
      end

      # `put` refused that, and a copy did it without a word.
      it 'names a corrupt document, which may have been a Sensitive, that a plain value replaces' do
        fill('other', 'globals/token' => Simpkv::RichData.sensitive('pl4nted')[0..-3])
        said = [%w[--dry-run], []].map { |way| simpkv('copy', 'default', 'other', *%w[--existing replace], *way).err }
        expect(said).to all(include("simpkv: 'globals/token': a plain value replaces a document that cannot be read, " \
                                    "so it may have been a Sensitive\n"))
      end

      it 'keeps keys on --rollback that were changed since' do
        simpkv!('copy', 'default', 'other', '--existing', 'replace')
        fill('other', 'globals/token' => document('later'))
        expect(simpkv('copy', 'default', 'other', '--rollback', journal))
          .to have_attributes(code: 65, err: %r{globals/token.*changed it since})
        expect(everything('other')).to eq('globals/token' => document('later'))
      end

      it 'refuses to roll back the journal of another target' do
        simpkv!('copy', 'default', 'other', '--existing', 'replace')
        expect(simpkv('copy', 'default', 'third', '--rollback',
                      journal)).to have_attributes(code: 64, err: /another target/)
      end

      it 'writes a journal that only its owner can read' do
        simpkv!('copy', 'default', 'other', '--existing', 'replace')
        expect(File.stat(journal).mode & 0o777).to eq(0o600)
      end
    end

    context 'with names that have capital letters' do
      let(:site) do
        { 'globals/Token' => document(1), 'globals/plain' => document(2),
          'environments/production/App1/Key' => document(3) }
      end

      it 'names them, and stores nothing' do
        expect(simpkv('copy', 'default', 'other'))
          .to have_attributes(code: 65, err: %r{environments/production/App1/Key\n  globals/Token\nNothing was stored})
        expect(everything('other')).to be_empty
      end

      it 'leaves them out with --capitals skip' do
        expect(simpkv('copy', 'default', 'other', '--capitals', 'skip'))
          .to have_attributes(code: 0, err: %r{'globals/Token' has capital letters: it is left out})
        expect(everything('other')).to eq('globals/plain' => document(2))
      end

      it 'lower-cases them with --capitals lower' do
        expect(simpkv('copy', 'default', 'other', '--capitals', 'lower').err)
          .to include("'globals/Token' has capital letters: it becomes 'globals/token'")
        expect(everything('other')).to eq('globals/token' => document(1), 'globals/plain' => document(2),
                                          'environments/production/app1/key' => document(3))
      end

      it 'refuses to merge two keys' do
        fill('default', 'globals/token' => document(4))
        expect(simpkv('copy', 'default', 'other', '--capitals', 'lower'))
          .to have_attributes(code: 65, err: %r{globals/Token, globals/token\nNothing was stored})
        expect(everything('other')).to be_empty
      end

      it 'stores them if the target accepts them' do
        backends['other']['case_sensitive'] = true
        simpkv!('copy', 'default', 'other')
        expect(everything('other')).to eq(site)
      end
    end

    it 'continues after a kill, and undoes all of it' do
      fill('default', (1..3000).to_h { |number| ["globals/many/k#{number}", document(number)] })
      2.times do |round|
        arguments = ['copy', 'default', 'other', '--jobs', '1', *('--resume' if round.positive?)]
        outcome = simpkv(*arguments) do |pid|
          count = (round + 1) * 500
          sleep 0.002 until Dir.glob(File.join(folder, 'other/globals/many/*')).length > count
          Process.kill('KILL', pid)
        end
        expect(outcome.code).to eq(-9)
      end
      report = JSON.parse(simpkv!('copy', 'default', 'other', '--resume', '-o', 'json'))
      expect(report).to include('keys' => 3006, 'verified' => true)
      expect(everything('other')).to eq(everything('default'))

      expect(Dir[File.join(folder, '*.journal')].length).to eq(1)
      simpkv!('copy', 'default', 'other', '--rollback', journal)
      expect(everything('other')).to be_empty
    end

    it 'explains how to continue after an interrupt' do
      fill('default', (1..3000).to_h { |number| ["globals/many/k#{number}", document(number)] })
      outcome = simpkv('copy', 'default', 'other', '--jobs', '1') do |pid|
        sleep 0.002 until Dir.glob(File.join(folder, 'other/globals/many/*')).length > 300
        Process.kill('INT', pid)
      end
      expect(outcome).to have_attributes(code: -2, err: /stored \d+ keys?\. Run the same command with --resume to/)
    end

    it 'creates a journal with --resume if none exists' do
      expect(simpkv('copy', 'default', 'other', '--resume')).to have_attributes(code: 0, err: /begins its own/)
      expect(everything('other')).to eq(site)
      expect(simpkv('copy', 'default', 'other', '--resume').code).to eq(0)
    end

    # The others were stored.
    it 'refuses a key in the place of a folder before it stores anything' do
      fill('other', 'globals/host1' => document('a key, where a folder is needed'))
      before = everything('other')
      expect(simpkv('copy', 'default', 'other')).to have_attributes(
        code: 65, err: %r{'globals/host1' is a key, and 'globals/host1/keytab' needs a folder there\nNothing was stored}
      )
      expect(everything('other')).to eq(before)
    end

    it 'reports a key that could not be stored as not verified' do
      block_folder
      expect(JSON.parse(simpkv('copy', 'default', 'other', '-o',
                               'json').out)).to include('failed' => 1, 'verified' => false)
    end

    describe 'with a journal' do
      def lines
        File.readlines(journal)
      end

      def write_journal(*changes)
        FileUtils.mkdir_p(File.join(folder, 'other'))
        header = { 'simpkv' => 'journal', 'version' => 1, 'source' => 'file/default',
                   'target' => { 'type' => 'file', 'id' => 'other', 'root_path' => File.join(folder, 'other') } }
        file = File.join(folder, 'simpkv-copy-9.journal')
        File.write(file, [header, *changes].map { |line| "#{JSON.generate(line)}\n" }.join, perm: 0o600)
        file
      end

      def change(path, old, new)
        { 'path' => path, 'old' => old, 'new' => Digest::SHA256.hexdigest(new) }
      end

      it 'restores a document that another client stored between a kill and the resumption' do
        fill('other', 'globals/a' => 'ours')
        write_journal(change('globals/a', nil, 'ours'), change('globals/a', 'theirs', 'ours'))
        simpkv!('copy', 'default', 'other', '--rollback', journal)
        expect(everything('other')).to eq('globals/a' => 'theirs')
      end

      it 'undoes the changes of two runs' do
        fill('other', 'globals/a' => 'ours', 'globals/b' => 'second')
        write_journal(change('globals/a', nil, 'ours'), change('globals/a', nil, 'ours'),
                      change('globals/b', 'old', 'first'), change('globals/b', 'first', 'second'))
        simpkv!('copy', 'default', 'other', '--rollback', journal)
        expect(everything('other')).to eq('globals/b' => 'old')
      end

      it 'skips changes that were never made, and keys that were deleted since' do
        fill('other', 'globals/a' => 'old')
        write_journal(change('globals/a', 'old', 'ours'), change('globals/b', 'old', 'ours'),
                      change('globals/c', nil, 'ours'))
        expect(simpkv('copy', 'default', 'other', '--rollback', journal))
          .to have_attributes(code: 65, out: /^rolled back: +0$/,
                              err: %r{'globals/b': another client has changed it since the transfer\n\z})
        expect(everything('other')).to eq('globals/a' => 'old')
      end

      it 'neither reads nor truncates one that another process is writing' do
        write_journal(change('globals/a', nil, 'ours'))
        File.write(journal, '{"path":', mode: 'a')
        before = File.read(journal)
        File.open(journal) do |stream|
          stream.flock(File::LOCK_EX)
          expect(simpkv('copy', 'default', 'other', '--resume', '--journal', journal))
            .to have_attributes(code: 75, err: /another process is writing it/)
          expect(simpkv('copy', 'default', 'other', '--rollback', journal)).to have_attributes(code: 75)
        end
        expect(File.read(journal)).to eq(before)
      end

      it 'continues one with a truncated last line' do
        write_journal(change('globals/token', nil, site['globals/token']))
        File.write(journal, '{"path":"globals/x', mode: 'a')
        simpkv!('copy', 'default', 'other', '--resume')
        expect(lines.map { |line| JSON.parse(line) }.last).to include('ended')
      end

      it 'refuses one that others can change, or a link, or a pipe' do
        file = write_journal(change('globals/a', nil, 'ours'))
        File.chmod(0o622, file)
        expect(simpkv('copy', 'default', 'other', '--rollback',
                      file)).to have_attributes(code: 77, err: /nobody else can change/)
        File.chmod(0o600, file)
        File.symlink(file, "#{folder}/link")
        expect(simpkv('copy', 'default', 'other', '--rollback', 'link').code).to eq(66)
        File.mkfifo("#{folder}/simpkv-copy-8.journal")
        expect(simpkv('copy', 'default', 'other', '--rollback', 'simpkv-copy-8.journal').code).to eq(77)
      end

      it 'refuses one with a path that is not that of a key' do
        ['notaroot', 'globals/../x', 'environments/x', 5].each do |path|
          write_journal(change(path, 'x', 'y'))
          expect(simpkv('copy', 'default', 'other', '--rollback', journal)).to have_attributes(code: 65, err: /damaged/)
        end
      end
    end

    it 'names files whose names no key can have, and copies the others' do
      fill('default', "globals/lat\xE9".b => document(1), "globals/esc\e[31m" => document(2))
      outcome = simpkv('copy', 'default', 'other')
      expect(outcome).to have_attributes(code: 65,
                                         err: %r{'globals/esc\\x1B\[31m': no key.*'globals/lat\\xE9': no key}m)
      expect(everything('other')).to eq(site)
    end

    it 'names the keys that could not be stored, and stores the others' do
      block_folder
      expect(simpkv('copy', 'default', 'other')).to have_attributes(code: 65, err: %r{'globals/host1/keytab': })
      expect(everything('other')).to eq(site.reject { |path, _| path == 'globals/host1/keytab' })
    end

    it 'shows a bar with rate and time left on a terminal' do
      config
      command = [{ 'SIMPKV_CONFIG' => config }, *Unbundled::COMMAND, 'copy', 'default', 'other']
      PTY.spawn(*command, chdir: folder) do |reader, _, pid|
        shown = +''
        begin
          loop { shown << reader.readpartial(4096) }
        rescue EOFError, Errno::EIO
          Process.wait(pid)
        end
        expect(shown).to match(%r{storing \|=+\| 6 of 6, +\d+/s, Time: })
      end
    end

    it 'prints plain lines elsewhere' do
      expect(simpkv('copy', 'default', 'other').err).to match(%r{^storing: 6 of 6 keys, \d+/s$})
    end
  end

  describe 'simpkv export and import' do
    it 'restore everything byte for byte' do
      simpkv!('export', 'site.jsonl')
      simpkv!('-b', 'other', 'import', 'site.jsonl')
      expect(everything('other')).to eq(site)
    end

    it 'name the backends that an export of everything leaves out' do
      names = ->(*words) { simpkv('export', *words, 'out.jsonl', '--force').err.scan(/--backend (\w+)/).flatten }
      expect(names[]).to eq(YAML.safe_load(File.read(config))['backends'].keys - ['default'])
      expect([%w[-b default], %w[-e production], %w[-g]].flat_map { |words| names[*words] }).to eq([])
    end

    it 'work through a pipe' do
      exported = simpkv!('export', process: true)
      # A file with the name `-` and plain values was written, and nothing was printed.
      # The first line has the time, the last one the digest of all before it.
      expect(simpkv!('export', '-', '-o', 'json').lines[1...-1]).to match_array(exported.lines[1...-1])
      expect(File).not_to exist(File.join(folder, '-'))
      expect(simpkv('-b', 'other', 'import', input: exported, process: true).code).to eq(0)
      expect(everything('other')).to eq(site)
    end

    it 'keep documents that are not UTF-8' do
      fill('default', 'globals/odd' => "\xFF\x00odd".b)
      simpkv('-b', 'other', 'import', input: simpkv('export').out)
      expect(everything('other')['globals/odd'].b).to eq("\xFF\x00odd".b)
    end

    it 'name a file that cannot be used, and why' do
      File.write(File.join(folder, 'other.json'), "{\n}\n")
      outcomes = [%w[import .], %w[import other.json], %w[import --rollback none], %w[export none/x]]
                 .map { |words| simpkv(*words).to_a.drop(1) }
      expect(outcomes)
        .to match([["simpkv: .: this is a folder, not a file\n", 66], [/\Asimpkv: other.json, line 1: /, 65],
                   ["simpkv: none: the journal cannot be read: No such file or directory\n", 66],
                   ["simpkv: none/x: the export cannot be written: No such file or directory\n", 73]])
      expect(outcomes[1].first).to include('this is no export of simpkv, or one for other programs (--format)')
    end

    it 'fail if the output cannot be written' do
      expect(Command.run(['export'], '', { 'SIMPKV_CONFIG' => config }, folder, out: '/dev/full'))
        .to have_attributes(code: 74, err: /No space left/)
    end

    it 'write into a pipe and read from one' do
      File.mkfifo(File.join(folder, 'pipe'))
      reader = Thread.new { File.read(File.join(folder, 'pipe')) }
      simpkv!('export', 'pipe', '--force')
      exported = reader.value
      expect(File.ftype(File.join(folder, 'pipe'))).to eq('fifo')
      writer = Thread.new { File.write(File.join(folder, 'pipe'), exported) }
      simpkv!('-b', 'other', 'import', 'pipe')
      writer.join
      expect(everything('other')).to eq(site)
    end

    it 'write a complete file that only its owner can read' do
      simpkv!('export', 'site.jsonl')
      expect(File.stat(File.join(folder, 'site.jsonl')).mode & 0o777).to eq(0o600)
      expect(simpkv('export', 'site.jsonl')).to have_attributes(code: 73, err: /already exists \(--force/)
      simpkv!('export', '-e', 'dev', '--force', 'site.jsonl')
      expect(File.foreach(File.join(folder, 'site.jsonl')).count).to eq(3)
    end

    it 'have a format that other programs can read' do
      lines = simpkv!('export').lines
      first, *keys, last = lines.map { |line| JSON.parse(line) }
      expect(first).to include('simpkv' => 'export', 'version' => 1, 'from' => 'file/default')
      expect(keys.to_h { |key| key.values_at('path', 'document') }).to eq(site)
      expect(last).to eq('keys' => 6, 'sha256' => Digest::SHA256.hexdigest(lines[0..-2].join))
    end

    it 'import one environment of an export' do
      simpkv!('-b', 'other', '-e', 'dev', 'import', input: simpkv!('export'))
      expect(everything('other').keys).to eq(['environments/dev/app1/password'])
    end

    describe 'of a damaged export' do
      let(:exported) { simpkv!('export') }

      {
        'cut between lines' => ->(text) { text.lines[0..-2].join },
        'cut in a line' => ->(text) { text[0..-40] },
        'with a missing line' => ->(text) { text.lines.tap { |lines| lines.delete_at(2) }.join },
        'with another document' => ->(text) { text.sub('quotes', 'pl4nted') },
        'with text after its end' => ->(text) { "#{text}{}\n" },
        'with a key twice' => ->(text) { text.lines.insert(2, text.lines[1]).join },
        'with a path that leads elsewhere' => ->(text) { text.sub('globals/token', 'globals/../x') },
        'with a path that is no key' => ->(text) { text.sub('globals/token', 'environments/production') },
        'with a path outside' => ->(text) { text.sub('globals/token', 'elsewhere/token') },
        'without a document' => ->(text) { text.sub('"document":', '"other":') },
        'that is another file' => ->(_) { "a: b\n" },
        'that is empty' => ->(_) { '' }
      }.each do |what, damage|
        it "store nothing: #{what}" do
          outcome = simpkv('-b', 'other', 'import', input: damage.call(exported))
          expect(outcome).to have_attributes(code: 65, err: /standard input.*Nothing was stored/)
          expect(outcome.err).not_to include('pl4nted')
          expect(everything('other')).to be_empty
        end
      end
    end

    it 'undo an import' do
      simpkv!('export', 'site.jsonl')
      fill('other', 'globals/token' => document('theirs'))
      simpkv!('-b', 'other', 'import', 'site.jsonl', '--existing', 'replace')
      simpkv!('-b', 'other', 'import', '--rollback', journal)
      expect(everything('other')).to eq('globals/token' => document('theirs'))
    end
  end
end
