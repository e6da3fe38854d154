# frozen_string_literal: true

require_relative 'index_helper'

RSpec.describe Simpkv::Query::Index do
  include_context 'with an index'

  def rows(certname, facts: {}, exports: {}, reports: [])
    documents = Simpkv::Query::Rows::Documents.new(certname: certname, digest: 'd', facts: { 'values' => facts },
                                                   exports: exports, reports: reports)
    Simpkv::Query::Rows.of(documents)
  end

  def enter(certname, **documents)
    index.update { |writer| writer.replace(certname, rows(certname, **documents)) }
  end

  # @return [Integer] the number of rows that belong to nodes
  def count_rows
    %w[nodes factsets facts node_packages resources reports events].sum do |table|
      select("SELECT COUNT(*) FROM #{table}").flatten.first
    end
  end

  describe 'as files' do
    it 'are there for this user only' do
      enter('web1')
      File.umask(0).tap do |mask|
        index.read { |database| database.execute('SELECT 1') }
      ensure
        File.umask(mask)
      end

      files = Dir.children(folder).map { |name| File.join(folder, name) }
      expect(files.map { |file| File.extname(file) }).to include('.db', '.lock')
      expect([folder, *files].map { |file| File.stat(file).mode & 0o077 }).to all(eq(0))
    end

    # Each update of the index opened the database twice, and read all facts again.
    it 'are opened once by the holder of the lock, who reads no facts that are the same' do
      enter('web1', facts: { 'a' => 1 })
      allow(SQLite3::Database).to receive(:new).and_call_original
      index.exclusively { index.read { |database| expect(database.get_first_value('SELECT 1')).to eq(1) } }
      expect(SQLite3::Database).not_to have_received(:new)
      index.update { |writer| writer.replace('web1', rows('web1', facts: { 'a' => 1 }).merge('facts' => [])) }
      expect(select('SELECT name, value FROM facts')).to eq([%w[a 1]])
    end

    it 'have a name of their own for each estate' do
      enter('web1')
      other = described_class.new(folder, 'another estate')
      other.update { |writer| writer.replace('db1', rows('db1')) }

      expect(other.read { |database| database.execute('SELECT certname FROM nodes') }).to eq [['db1']]
      expect(certnames).to eq ['web1']
      other.close
    end

    # The reader took the index for one that was deleted.
    it 'are read while another thread ends its write' do
      enter('web1')
      inside, leave = Array.new(2) { Queue.new }
      writer = Thread.new do
        index.exclusively do
          inside << certnames
          leave.pop
        end
      end
      inside.pop
      allow(index).to receive(:usable?).and_wrap_original do |usable|
        leave << true
        writer.join
        usable.call
      end
      expect(certnames).to eq ['web1']
    end

    it 'are not made until they are used' do
      expect([index.there?, Dir.exist?(folder)]).to eq [false, false]
      index.reader.close
      expect(index.there?).to be true
    end

    it 'refuse a folder that others may write to' do
      Dir.mkdir(folder)
      File.chmod(0o770, folder)

      expect { index.reader }.to raise_error(Simpkv::ConfigError, /rights for others/)
      expect(Dir.children(folder)).to be_empty
    end

    it 'refuse a folder whose parent others may write to, so that they could replace it' do
      File.chmod(0o777, parent)

      expect { index.reader }.to raise_error(Simpkv::ConfigError, /'#{parent}'/)
    end

    it 'refuse a folder that is a link' do
      Dir.mkdir(File.join(parent, 'other'), 0o700)
      File.symlink('other', folder)

      expect { index.reader }.to raise_error(Simpkv::ConfigError, /is a link/)
      expect(Dir.children(File.join(parent, 'other'))).to be_empty
    end

    ['.db', '.db-wal', '.db-shm', '.db-journal', '.lock'].each do |suffix|
      it "refuse a link in place of the file with #{suffix}" do
        Dir.mkdir(folder, 0o700)
        victim = File.join(parent, 'victim')
        File.write(victim, 'precious')
        File.symlink(victim, index.path.sub(/\.db\z/, suffix))

        expect { enter('web1') }.to raise_error(Simpkv::ConfigError)
        expect(File.read(victim)).to eq 'precious'
      end
    end

    it 'refuse a database that others may read' do
      enter('web1')
      index.close
      File.chmod(0o644, index.path)

      expect { index.reader }.to raise_error(Simpkv::ConfigError, /rights for others/)
    end

    next unless Process.euid.zero? # Only root can change the owner of a file.

    %w[folder database].each do |name|
      it "refuse the #{name} of another user" do
        enter('web1')
        index.close
        File.chown(65_534, nil, name == 'folder' ? folder : index.path)

        expect { index.reader }.to raise_error(Simpkv::ConfigError, /another user/)
      end
    end
  end

  describe 'of an estate' do
    let(:estate) { Simpkv::Estate.new({ 'backends' => { 'default' => backend } }) }
    let(:backend) { { 'type' => 'file', 'id' => 'x', 'root_path' => '/nowhere' } }

    before { File.write(File.join(parent, 'file'), '') }

    around do |example|
      before = ENV.to_h.slice('XDG_CACHE_HOME', 'XDG_RUNTIME_DIR')
      example.run
    ensure
      ENV.update('XDG_CACHE_HOME' => nil, 'XDG_RUNTIME_DIR' => nil, **before)
    end

    # @param usable [Array<Symbol>] the places in which this user can make a folder
    # @return [String] the folder of the index, below the parent
    def folder_with(*usable)
      places = %i[disk memory home runtime].to_h do |name|
        [name, File.join(parent, usable.include?(name) ? name.to_s : "file/#{name}")]
      end
      stub_const('Simpkv::Query::Index::Place::ON_DISK', places[:disk])
      stub_const('Simpkv::Query::Index::Place::IN_MEMORY', places[:memory])
      ENV.update('XDG_CACHE_HOME' => places[:home], 'XDG_RUNTIME_DIR' => places[:runtime])
      File.dirname(described_class.of(estate).path).delete_prefix("#{parent}/")
    end

    it 'is in the cache of the service, or else of the user' do
      expect(folder_with(:disk, :memory, :home, :runtime)).to eq 'disk/index'
      expect(folder_with(:memory, :home, :runtime)).to eq 'home/simpkv/index'
      expect { folder_with(:memory, :runtime) }.to raise_error(Simpkv::ConfigError, /option 'index' of 'server'/)
    end

    it 'is deleted from the disk once the store is encrypted, unless it is in use or of another estate' do
      backend['root_path'] = parent
      folder_with(:disk, :memory)
      plain = described_class.of(estate)
      plain.reader.close
      foreign = described_class.new(File.dirname(plain.path), 'other').tap { |other| other.reader.close }
      backend['encryption_keys'] = File.join(parent, 'keys')
      encrypted = described_class.of(Simpkv::Estate.new({ 'backends' => { 'default' => backend } }))
      encrypted.reader.close
      used = encrypted.former
      [plain, foreign, encrypted].each(&:close)
      encrypted.reader.close

      expect([used, encrypted.former]).to eq [[plain.path], []]
      expect(Dir[File.join(parent, '*/index/*.db')]).to contain_exactly(foreign.path, encrypted.path)
    end

    it 'is not in the folder of another user, as that of the service is for root' do
      other = instance_double(File::Stat, owned?: false)
      allow(File).to receive(:lstat).and_call_original
      allow(File).to receive(:lstat).with(File.join(parent, 'disk/index')).and_return(other)
      expect(folder_with(:disk, :home)).to eq 'home/simpkv/index'
    end

    it 'is where the option says' do
      expect(File.dirname(described_class.of(estate, '/srv/index').path)).to eq '/srv/index'
    end

    context 'that is encrypted' do
      let(:backend) { super().merge('encryption_keys' => '/keys') }

      it 'is in memory, and on a disk only if the option names a folder there' do
        expect(folder_with(:disk, :memory, :home, :runtime)).to eq 'memory/index'
        expect(folder_with(:disk, :home, :runtime)).to eq 'runtime/simpkv/index'
        expect { folder_with(:disk, :home) }.to raise_error(Simpkv::ConfigError, /encrypted/)
        expect(File.dirname(described_class.of(estate, '/srv/index').path)).to eq '/srv/index'
      end
    end
  end

  describe 'of a version' do
    def version=(version)
      index.update { |writer| writer.note('version' => version) }
      index.close
    end

    it 'that is another one is deleted, and made anew' do
      enter('web1')
      self.version = Simpkv::Query::Schema::VERSION + 1

      expect(certnames).to eq []
      expect(select("SELECT value FROM meta WHERE name = 'version'")).to eq [[Simpkv::Query::Schema::VERSION]]
    end

    it 'that is the same stays' do
      enter('web1')
      expect(described_class.new(folder, 'estate').read { |database| database.execute('SELECT certname FROM nodes') })
        .to eq [['web1']]
    end
  end

  # Two services with other options deleted the index of each other at each refresh.
  describe 'beside others of the same folder' do
    let(:other) { described_class.new(folder, 'estate', '{"reports":7}') }
    let(:foreign) { described_class.new(folder, 'another estate') }

    after { [other, foreign].each(&:close) }

    # @return [Array<String>] the names of the databases in the folder
    def databases
      Dir.children(folder).grep(/\.db\z/)
    end

    def names_of(index)
      index.read { |database| database.execute('SELECT certname FROM nodes ORDER BY 1').flatten }
    end

    it 'has a file of its own for other options of the estate, while both are used' do
      enter('web1')
      other.update { |writer| writer.replace('web2', rows('web2')) }
      enter('web3')

      expect([names_of(index), names_of(other)]).to eq [%w[web1 web3], %w[web2]]
    end

    it 'deletes those of other options, of another version, or of an earlier name that nobody uses' do
      [index, foreign].each { |each| each.reader.close }
      stub_const('Simpkv::Query::Schema::VERSION', 0)
      described_class.new(folder, 'estate').tap { |old| old.reader.close }.close
      File.write(File.join(folder, "#{File.basename(index.path)[/\A\h+/]}.db"), '', perm: 0o600)
      index.close
      other.reader.close

      expect(databases).to match_array([other, foreign].map { |each| File.basename(each.path) })
      expect(Dir.children(folder).grep(/\.(lock|use)\z/).length).to eq 4
    end

    it 'deletes it once the processes that use it have ended', needs: :fork do
      reader, writer = IO.pipe
      own = index
      pid = fork do
        own.reader.close
        writer.syswrite('x')
        sleep
      end
      reader.read(1)
      other.reader.close
      used = databases.length
      other.close
      Process.kill(:KILL, pid)
      Process.wait(pid)
      other.reader.close

      expect([used, databases]).to eq [2, [File.basename(other.path)]]
    end

    it 'is made anew for a process that begins to use it while another one deletes it' do
      Array.new(4) do |number|
        Thread.new do
          10.times do
            one = described_class.new(folder, 'estate', number.to_s)
            one.update { |made| made.replace('web1', rows('web1')) }
            raise 'lost' unless names_of(one) == ['web1']

            one.close
          end
        end
      end.each(&:join)

      expect(databases.length).to be_between(1, 4)
    end
  end

  describe 'that is damaged' do
    { 'no database' => ->(file) { File.write(file, 'x' * 8192) },
      'empty' => ->(file) { File.truncate(file, 0) },
      'a database without tables' => lambda { |file|
        FileUtils.rm(Dir["#{file}*"])
        File.write(file, '', perm: 0o600)
        SQLite3::Database.new(file).tap { |database| database.execute('CREATE TABLE a (b)') }.close
      } }.each do |name, damage|
      it "is made anew: #{name}" do
        enter('web1')
        index.close
        damage.call(index.path)

        expect(certnames).to eq []
        enter('web2')
        expect(certnames).to eq ['web2']
      end
    end

    it 'is deleted when a page of it is read, and says so' do
      enter('web1', facts: Array.new(500) { |number| ["fact#{number}", 'x' * 100] }.to_h)
      index.close
      described_class.open(index.path) { |database| database.execute('PRAGMA wal_checkpoint(TRUNCATE)') }.close
      pages = File.size(index.path) / 4096
      File.open(index.path, 'r+b') { |file| file.seek((pages - 10) * 4096) && file.write("\xFF" * 10 * 4096) }

      expect { select('SELECT SUM(LENGTH(value)), COUNT(name) FROM facts') }
        .to raise_error(Simpkv::UnavailableError, /was damaged, and is made anew/)
      expect(certnames).to eq []
    end
  end

  describe 'when it is written' do
    let(:report) { { 'status' => 'changed', 'events' => [{ 'resource' => 'File[/a]', 'status' => 'success' }] } }

    it 'replaces the rows of a node whole' do
      enter('web1', facts: { 'a' => 1, 'b' => 2 }, exports: { 'user' => [{ 'title' => 'x' }] }, reports: [report])
      enter('web2', facts: { 'a' => 3 })
      before = select('SELECT id FROM nodes WHERE certname = ?', 'web1')
      enter('web1', facts: { 'b' => 4 })

      expect(select('SELECT certname, name, value FROM facts JOIN nodes ON nodes.id = node ORDER BY 1, 2'))
        .to eq [%w[web1 b 4], %w[web2 a 3]]
      expect(%w[resources reports events].map { |table| select("SELECT COUNT(*) FROM #{table}").first.first })
        .to eq [0, 0, 0]
      expect(select('SELECT id FROM nodes WHERE certname = ?', 'web1')).to eq before
    end

    it 'replaces the packages of a node, of which other nodes have some as well' do
      packages = ->(*names) { { '_puppet_inventory_1' => { 'packages' => names.map { |name| [name, '1', 'apt'] } } } }
      enter('web1', facts: packages.call('bash', 'zsh'))
      enter('web2', facts: packages.call('bash'))
      enter('web1', facts: packages.call('zsh', 'dash'))

      expect(select('SELECT certname, package_name FROM package_inventory JOIN nodes ON nodes.id = node ORDER BY 1, 2'))
        .to eq [%w[web1 dash], %w[web1 zsh], %w[web2 bash]]
      expect(select('SELECT count(*) FROM packages')).to eq [[3]]
    end

    it 'removes all rows of a node' do
      inventory = { 'packages' => [%w[bash 5 apt]] }
      enter('web1', facts: { 'a' => 1, '_puppet_inventory_1' => inventory },
                    exports: { 'user' => [{ 'title' => 'x' }] }, reports: [report])
      index.update { |writer| %w[web1 none].each { |certname| writer.remove(certname) } }

      expect(count_rows).to eq 0
    end

    it 'belongs to the report of its event' do
      enter('web1', reports: [report, report.merge('status' => 'failed')])

      expect(select('SELECT reports.status, resource_title FROM events JOIN reports ON reports.id = report ORDER BY 1'))
        .to eq [%w[changed /a], %w[failed /a]]
    end

    it 'keeps nothing of a block that fails' do
      enter('web1')

      expect do
        index.update do |writer|
          writer.remove('web1')
          raise IOError, 'broken'
        end
      end.to raise_error(IOError, 'broken')
      expect(certnames).to eq ['web1']
    end

    it 'keeps nothing of a block whose thread is killed (the gem would commit)' do
      enter('web1')
      inside = Queue.new
      thread = Thread.new do
        index.update do |writer|
          writer.remove('web1')
          inside << true
          sleep
        end
      end
      inside.pop
      thread.kill.join

      expect(certnames).to eq ['web1']
    end

    it 'keeps nothing of a process that is killed', needs: :fork do
      enter('web1')
      index.close
      reader, writer = IO.pipe
      pid = fork do
        index.update do |made|
          made.replace('web2', rows('web2'))
          writer.syswrite('x')
          sleep
        end
      end
      reader.read(1)
      Process.kill('KILL', pid)
      Process.wait(pid)

      expect(certnames).to eq ['web1']
      enter('web3')
      expect(certnames).to eq %w[web1 web3]
    end

    it 'can be read meanwhile, as it was before' do
      enter('web1')
      seen = nil
      index.update do |writer|
        writer.remove('web1')
        seen = Thread.new { certnames }.value
      end

      expect(seen).to eq ['web1']
    end

    it 'has one writer at a time among processes', needs: :fork do
      index.reader.close
      reader, writer = IO.pipe
      children = Array.new(3) do |number|
        fork do
          5.times do |time|
            index.exclusively do
              writer.syswrite('(')
              index.update { |made| made.replace("n#{number}-#{time}", rows("n#{number}-#{time}")) }
              writer.syswrite(')')
            end
          end
          exit!(0)
        end
      end
      writer.close
      children.each { |pid| Process.wait(pid) }

      expect(reader.read).to eq '()' * 15
      expect(certnames.length).to eq 15
    end

    it 'follows another process that has made it anew' do
      enter('web1')
      described_class.new(folder, 'estate').delete
      enter('web2')

      expect(certnames).to eq ['web2']
    end

    it 'marks nodes as expired when their time has passed' do
      expiring = lambda do |certname, time|
        documents = Simpkv::Query::Rows::Documents.new(certname: certname, digest: 'd', status: { 'last_seen' => time })
        now = Time.iso8601('2026-11-23T00:00:00Z')
        index.update { |writer| writer.replace(certname, Simpkv::Query::Rows.of(documents, lifetime: 3600, now: now)) }
      end
      expiring.call('web1', '2026-11-23T00:00:01Z')
      expiring.call('web2', '2026-11-23T00:00:05Z')
      index.update { |writer| writer.expire('2026-11-23T01:00:01.000Z') }

      expect(select('SELECT certname, expired FROM nodes ORDER BY 1'))
        .to eq [['web1', '2026-11-23T01:00:01.000Z'], ['web2', nil]]
    end
  end

  it 'cannot be changed by a reader' do
    database = index.reader

    expect { database.execute("DELETE FROM nodes WHERE certname = 'a'") }.to raise_error(SQLite3::ReadOnlyException)
    database.close
  end

  it 'has an error of the library in place of those of SQLite, without the query' do
    expect { select("SELECT 's3cret' FROM nowhere") }
      .to raise_error(Simpkv::UnavailableError, 'the index of queries cannot be used: no such table: nowhere')
  end

  describe 'when it says how old it is' do
    def demand(at, **notes)
      index.update { |writer| writer.note(notes.transform_keys(&:to_s)) }
      index.state.demand(60, Time.at(at))
    end

    it 'is fresh within the limit' do
      expect(demand(1060, refreshed: 1000.0)).to be_nil
      expect(index.state.age(Time.at(1060))).to eq 60.0
    end

    it 'is stale after it, and says why' do
      expect { demand(1061, refreshed: 1000.0, failure: 'the server is down') }
        .to raise_error(Simpkv::Query::StaleError, 'the index of queries is 61 s old: the server is down')
    end

    # It used to be 0 s old, for as long as the clock had been ahead.
    it 'is stale after the clock was set back' do
      expect { demand(999, refreshed: 1000.0) }
        .to raise_error(Simpkv::Query::StaleError, /is of a time that is yet to come, until the next refresh\z/)
    end

    it 'is stale before it is complete, and says how far it is' do
      expect { demand(1000, done: 200, total: 1000) }
        .to raise_error(Simpkv::Query::StaleError, 'the index of queries is being built, 200 of 1000 nodes')
      expect { demand(1000, failure: 'the server is down') }
        .to raise_error(Simpkv::Query::StaleError, 'the index of queries cannot be built: the server is down')
    end
  end
end
