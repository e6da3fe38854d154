# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/estate_files'
require_relative '../support/spooled_writes'
require_relative '../../../../spec/support/processes'

RSpec.describe Simpkv::Estate::Spool do
  include_context 'with an estate in files'
  include KeyFile
  include Processes
  include SpooledWrites

  let(:folder) { File.join(key_folder, 'spool') }
  let(:options) { { 'spool' => folder, 'catalogs' => true } }

  # @return [Simpkv::Estate] the one of a compiler that reaches no server
  def away(more = {}, limits = {})
    SpooledWrites.compiler(key_folder, options.merge(limits), more)
  end

  def spool
    estate.spool
  end

  def entries
    Dir[File.join(folder, 'globals/spool', '*')].sort
  end

  # @return [Hash] see {Simpkv::Store#tree}, with the folders in order
  def everything
    estate.store.tree('globals').tap { |tree| tree[:folders].sort! }
  end

  # @return [String] a time of RFC 3339
  def ago(seconds)
    (Time.now.utc - seconds).iso8601(6)
  end

  # @return [Array<String>] of the exported resources of a node
  def titles
    estate.exports.of('web1').values.flatten.map { |resource| resource['title'] }
  end

  def counts(delivery)
    [delivery.stored, delivery.overtaken, delivery.errors.length]
  end

  it 'stores at once what can be stored' do
    expect(spool.save(facts('web1'))).to be(true)
    expect([File.exist?(folder), spool.waiting, spool.deliver.to_a]).to eq([false, [], [0, 0, {}, nil]])
  end

  it 'keeps what cannot be stored, and delivers it in order' do
    compiler = away.spool
    errors = []
    [facts('web1'), exports('web1', 'felix'), report('web1'), facts('web1', { 'a' => 2 })].each do |write|
      expect(compiler.save(write) { |error| errors << error.class }).to be(false)
    end
    expect(errors).to eq([Simpkv::UnavailableError]) # The server was not asked again.
    expect(spool.waiting.map(&:kind)).to eq(%w[facts exports report facts])
    expect(counts(spool.deliver)).to eq([4, 0, 0])
    expect([estate.facts.find('web1')['values'], estate.exports.of('web1'), estate.reports.all('web1').length, entries])
      .to eq([{ 'a' => 2 }, { 'user' => [{ 'title' => 'felix' }] }, 1, []])
  end

  it 'does not list what waits at each step' do
    compiler = away.spool
    compiler.save(facts('web1'))
    allow(Dir).to receive(:children).and_call_original
    3.times { |number| compiler.save(facts("web#{number}")) }
    expect(Dir).not_to have_received(:children)
    spool.save(facts('web4'))
    expect(Dir).to have_received(:children).twice
  end

  it 'tells why it cannot deliver' do
    away.spool.save(facts('web1'))
    FileUtils.rm_rf(File.join(root, 'globals/estate/inventory'))
    errors = []
    2.times { spool.save(facts('web2')) { |error| errors << error.class } }
    expect(errors).to match([be <= Simpkv::ConfigError])
  end

  it 'delivers what waits before it stores what comes next' do
    away.spool.save(facts('web1'))
    expect(spool.save(facts('web1', { 'a' => 2 }))).to be(true)
    expect([estate.facts.find('web1')['values'], entries]).to eq([{ 'a' => 2 }, []])
  end

  it 'stores the time of the run, not that of the delivery' do
    away.spool.save(facts('web1', time: '2026-11-23T01:02:03.456789Z'))
    away.spool.save(Simpkv::Estate::RunWrite::Status.new('web1', { 'environment' => 'production' },
                                                         time: '2026-11-23T01:02:04.000000Z'))
    spool.deliver
    expect([estate.facts.find('web1')['timestamp'], estate.statuses.get('web1')['last_seen']])
      .to eq(%w[2026-11-23T01:02:03Z 2026-11-23T01:02:04Z])
  end

  # The process was killed after it had stored something, and before it had deleted what waits.
  it 'changes nothing if something is delivered twice' do
    [facts('web1'), exports('web1', 'felix'), report('web1')].each { |write| away.spool.save(write) }
    kept = entries.to_h { |file| [file, File.binread(file)] }
    spool.deliver
    before = everything
    kept.each { |file, document| File.binwrite(file, document) }
    expect(spool.deliver.errors).to eq({})
    expect(everything).to eq(before)
  end

  it 'loses nothing that it has acknowledged if its process is killed', needs: :fork do
    folder
    reader, writer = IO.pipe
    pid = child do
      compiler = away.spool
      (1..10_000).each { |number| compiler.save(facts("web#{number}")) || writer.syswrite('.') }
    end
    writer.close
    acknowledged = reader.readpartial(1)
    acknowledged << reader.readpartial(1) until acknowledged.length == 20
    Process.kill(:KILL, pid)
    status_of(pid)
    acknowledged << reader.read
    delivery = spool.deliver
    expect([delivery.errors, entries, spool.leftovers.to_a]).to eq([{}, [], []])
    expect(estate.facts.all.keys).to include(*(1..acknowledged.length).map { |number| "web#{number}" })
  end

  # They stayed for good, with facts in plain text.
  it 'deletes the files of killed processes, and none of a live one' do
    away.spool.save(facts('web1'))
    killed, live = %w[1 2].map { |number| File.join(folder, "globals/spool/.skv~000000000000000#{number}") }
    [killed, live].each { |file| File.write(file, 'pl4nted') }
    left = lambda do
      spool.leftovers.to_a.tap do
        spool.deliver
        expect([File.exist?(killed), File.exist?(live)]).to eq([false, true])
      end
    end
    File.open(live) do |file|
      file.flock(File::LOCK_EX)
      expect(left.call).to eq([killed])
      File.write(killed, 'pl4nted') # Nothing else waits.
      expect(left.call).to eq([killed])
    end
  end

  it 'delivers by one process at a time', needs: :fork do
    compiler = away.spool
    20.times { |number| compiler.save(report('web1', time: ago(100 - number))) }
    expect_success_of(*Array.new(3) { child { spool.deliver(wait: true).errors.empty? } })
    expect([estate.statuses.get('web1')['runs'], entries]).to eq([1, []]) # They are the same report.
  end

  describe 'beside what is newer' do
    it 'leaves out facts that are older than those that are stored' do
      estate.facts.save('web1', { 'a' => 2 })
      away.spool.save(facts('web1', { 'a' => 1 }, time: ago(10)))
      expect([counts(spool.deliver), estate.facts.find('web1')['values']]).to eq([[0, 1, 0], { 'a' => 2 }])
    end

    it 'leaves out exports that are older than the last run, which another compiler has stored' do
      estate.exports.save('web1', { 'user' => [{ 'title' => 'new' }] }, 'production')
      estate.reports.save('web1', { 'status' => 'unchanged', 'time' => ago(5) })
      away.spool.save(exports('web1', 'old', time: ago(10)))
      expect([counts(spool.deliver), estate.exports.of('web1')])
        .to eq([[0, 1, 0], { 'user' => [{ 'title' => 'new' }] }])
    end

    it 'stores exports of which the report has reached another compiler before' do
      estate.reports.save('web1', { 'status' => 'changed', 'time' => ago(11) })
      away.spool.save(exports('web1', 'felix', time: ago(10)))
      expect([counts(spool.deliver), estate.exports.of('web1').keys]).to eq([[1, 0, 0], ['user']])
    end

    { 'with reports' => 1, 'without' => 0 }.each do |how, reports|
      it "leaves out exports that are older than the stored ones, #{how}" do
        estate = open_estate(options.merge('reports' => reports))
        estate.reports.save('web1', { 'status' => 'changed', 'time' => ago(4000) })
        away.spool.save(exports('web1', 'old', time: ago(600)))
        exports('web1', 'new', time: ago(300)).save(estate)
        estate.reports.save('web1', { 'status' => 'changed', 'time' => ago(700) })
        expect([counts(estate.spool.deliver), titles]).to eq([[0, 1, 0], ['new']])
      end
    end

    # They came back, because no report told of the later run, which had found nothing to change.
    it 'leaves out what is older than the last compiled run, also if no reports are stored' do
      estate = open_estate(options.merge('reports' => 0))
      exports('web1', 'felix', time: ago(900)).save(estate)
      facts('web1', time: ago(900)).save(estate)
      estate.reports.save('web1', { 'status' => 'unchanged', 'time' => ago(300) })
      estate.reports.save('web1', { 'status' => 'failed', 'time' => ago(100), 'cached_catalog_status' => 'not_used' })
      [exports('web1', 'old', time: ago(600)), facts('web1', { 'a' => 0 }, time: ago(600)),
       exports('web1', 'new', time: ago(200))].each { |write| away.spool.save(write) }
      expect([counts(estate.spool.deliver), titles, estate.facts.find('web1')['values']])
        .to eq([[1, 2, 0], ['new'], { 'a' => 1 }])
    end

    it 'gives the stored exports the time of the run, also if they stay the same' do
      exports('web1', 'felix', time: ago(900)).save(estate)
      late = exports('web1', 'felix', time: ago(300))
      away.spool.save(late)
      expect(counts(spool.deliver)).to eq([1, 0, 0])
      expect(estate.inventory.get('web1')['exported_at']).to eq(late.time)
      away.spool.save(exports('web1', 'other', time: ago(600)))
      expect([counts(spool.deliver), titles]).to eq([[0, 1, 0], ['felix']])
    end

    it 'writes nothing at a run that exports the same' do
      exports('web1', 'felix', time: ago(900)).save(estate)
      before = estate.store.tree('globals')
      exports('web1', 'felix').save(estate)
      expect(estate.store.tree('globals')).to eq(before)
    end

    { 'whose compilation has failed' => { 'cached_catalog_status' => 'not_used', 'status' => 'failed' },
      'with a cached catalog' => { 'cached_catalog_status' => 'on_failure', 'catalog_uuid' => 'a' } }
      .each do |which, members|
      it "stores exports beside the report of a later run #{which}" do
        away.spool.save(exports('web1', 'wanted', time: ago(600)))
        estate.reports.save('web1', { 'status' => 'failed', 'time' => ago(300) }.merge(members))
        expect([counts(spool.deliver), titles]).to eq([[1, 0, 0], ['wanted']])
      end
    end

    it 'leaves out exports that are older than the last run whose resources have failed' do
      away.spool.save(exports('web1', 'old', time: ago(600)))
      estate.reports.save('web1', { 'status' => 'failed', 'time' => ago(300), 'catalog_uuid' => 'a' })
      expect(counts(spool.deliver)).to eq([0, 1, 0])
    end

    # Wherever it meets the newer one: the next run completes what both have left.
    it 'does not end as the last one if a run stores newer exports meanwhile' do
      (1..20).each do |call|
        newer = exports('web1', "new#{call}", time: ago(5))
        exports('web1', "before#{call}", time: ago(900)).save(estate)
        disturbed = open_estate(options, call => -> { newer.save(estate) })
        exports('web1', 'old', time: ago(60)).deliver(disturbed)
        break if disturbed.store.calls < call

        record = estate.inventory.get('web1')
        expect(record).to include('exported_at' => newer.time).and(satisfy { |value| !value.key?('saving') })
        exports('web1', "new#{call}").save(estate)
        expect(titles).to eq(["new#{call}"])
        estate.remove('web1')
      end
    end

    it 'does not bring back a node that is deactivated after the check' do
      estate.facts.save('web1', { 'a' => 1 })
      write = exports('web1', 'old', time: ago(5))
      write.define_singleton_method(:overtaken?) do |estate, status|
        super(estate, status).tap { estate.deactivate('web1') }
      end
      expect([write.deliver(estate), estate.exports.of('web1')]).to eq([false, {}])
      expect(estate.inventory.get('web1')).to include('deactivated')
    end

    it 'leaves out what is older than the later one of two deactivations' do
      estate.facts.save('web1', { 'a' => 1 }, timestamp: ago(7200), produced: { 'producer_timestamp' => ago(7200) })
      [3600, 60, 1800].each { |age| estate.deactivate('web1', ago(age)) }
      away.spool.save(facts('web1', { 'a' => 1 }, time: ago(600)))
      expect(counts(spool.deliver)).to eq([0, 1, 0])
      expect(estate.inventory.get('web1')['deactivated']).to be > ago(1800)
    end

    it 'does not bring back a node that was removed meanwhile, and stores what came later' do
      estate.facts.save('web1', { 'a' => 1 })
      [3600, 60].each { |age| away.spool.save(exports('web1', 'felix', time: ago(age))) }
      away.spool.save(report('new1', time: ago(60)))
      [%w[web1 new1], %w[web1]].each { |names| names.each { |name| estate.remove(name) } }
      away.spool.save(facts('new1'))
      expect(counts(spool.deliver)).to eq([1, 3, 0])
      expect([estate.exports.of('web1'), estate.inventory.names]).to eq([{}, ['new1']])
    end

    it 'does not bring back a deactivated node that has expired, and forgets it long after' do
      estate.facts.save('web1', { 'a' => 1 }, timestamp: ago(20 * 86_400))
      estate.deactivate('web1', ago(15 * 86_400))
      away.spool.save(exports('web1', 'felix', time: ago(16 * 86_400)))
      expect(estate.expire).to eq(['web1'])
      expect([counts(spool.deliver), estate.inventory.names]).to eq([[0, 1, 0], []])
      { 'old1' => 105, 'new1' => 103 }.each { |name, days| estate.purged.enter(name, ago(days * 86_400)) }
      estate.expire
      expect(estate.purged.names).to contain_exactly('new1', 'web1')
    end
  end

  it 'leaves out what is older than the mark of a deactivation in the record of the inventory' do
    estate.inventory.update('web1') { { 'deactivated' => ago(5) } }
    [10, 1].each { |age| away.spool.save(facts('web1', { 'age' => age }, time: ago(age))) }
    expect([counts(spool.deliver), estate.facts.find('web1')['values']]).to eq([[1, 1, 0], { 'age' => 1 }])
  end

  it 'refuses what no run has left' do
    [nil, [], {}, { 'kind' => 'facts', 'certname' => 'a', 'time' => 'x', 'data' => {} },
     { 'kind' => 'x', 'certname' => 'a', 'time' => ago(1), 'data' => {} }].each do |document|
      expect { Simpkv::Estate::RunWrite.of(document) }.to raise_error(Simpkv::MalformedError)
    end
  end

  it 'delivers what other nodes have left if a document cannot be read' do
    compiler = away.spool
    [facts('web1'), facts('web2'), exports('web1', 'felix')].each { |write| compiler.save(write) }
    File.write(entries.first, 'x')
    delivery = spool.deliver
    expect([counts(delivery), spool.waiting.map(&:kind), delivery.errors.values])
      .to match([[1, 0, 1], %w[facts exports], [/cannot be read|malformed|not/]])
    expect(spool.save(facts('web1'))).to be(false) # It waits for those before it.
    expect(spool.delete(spool.waiting.first.name)).to be(true)
    expect(counts(spool.deliver)).to eq([2, 0, 0])
  end

  # The catalogs of all nodes failed, with an error of Ruby, or one that named the rights.
  { 'a folder' => ->(file) { Dir.mkdir(file) }, 'a FIFO' => ->(file) { File.mkfifo(file) },
    'a link' => ->(file) { File.symlink(File::NULL, file) } }.each do |what, make|
    it "delivers what other nodes have left beside #{what} with the name of an entry" do
      [facts('web1'), facts('web2')].each { |write| away.spool.save(write) }
      first = entries.first
      File.delete(first)
      make.call(first)
      expect(away.spool.save(facts('web3'))).to be(false)
      expect(spool.summary).to include('waiting' => 3, 'limit' => nil)
      name = File.basename(first)
      why = "'#{first}' is not a file: delete it by hand"
      expect(spool.deliver.to_a).to eq([2, 0, { name => why }, nil])
      expect([spool.save(facts('web1')), spool.save(facts('web4'))]).to eq([false, true])
      expect { spool.delete(name) }.to raise_error(Simpkv::MalformedError, why)
    end
  end

  # The catalogs of all nodes failed.
  describe 'of a node whose documents are damaged or lost' do
    def damage(subject, &block)
      Dir[File.join(root, "**/#{subject}/web1")].each(&block)
    end

    let(:writes) do
      rules = { 'rules' => [], 'record' => {} }
      outcome = { 'outcome' => rules, 'last' => nil }
      [facts('web1', { 'a' => 2 }), Simpkv::Estate::RunWrite::Catalog.new('web1', { 'a' => 2 }),
       Simpkv::Estate::RunWrite::Inspection.new('web1', outcome)]
    end

    { 'lost' => ->(file) { File.delete(file) }, 'malformed' => ->(file) { File.write(file, '{"x"') } }
      .each do |how, damage|
      it "replaces what is #{how}" do
        writes.each { |write| write.save(estate) }
        %w[facts catalogs inspections].each { |subject| damage(subject, &damage) }
        writes.each { |write| away.spool.save(write) }
        expect(counts(spool.deliver)).to eq([3, 0, 0])
        expect([estate.facts.find('web1')['values'], estate.catalogs.get('web1'), estate.inspections.get('web1')])
          .to match([{ 'a' => 2 }, { 'a' => 2 }, include('rules' => [])])
      end
    end

    it 'delivers those of other nodes after an error that nobody expected' do
      compiler = away.spool
      [facts('web2'), Simpkv::Estate::RunWrite::Exports.new('web1', {}), facts('web1'), facts('web3')]
        .each { |write| compiler.save(write) }
      delivery = spool.deliver
      expect([counts(delivery), delivery.errors.values]).to eq([[2, 0, 1], ['NoMethodError']])
      expect(spool.save(facts('web4'))).to be(true)
    end

    it 'ends at an error of the configuration, and keeps what waits' do
      away.spool.save(facts('web1'))
      FileUtils.rm_rf(File.join(root, 'globals/estate/inventory'))
      expect(spool.deliver.ended_by).to be_a(Simpkv::ConfigError)
      expect(spool.save(facts('web2'))).to be(false)
    end
  end

  # The owner of the folder could make root give it any file.
  it 'follows no link in place of the lock, and changes no owner then' do
    away.spool.save(facts('web1'))
    victim = File.join(key_folder, 'victim')
    File.write(victim, '')
    lock = File.join(folder, '.deliver.lock')
    File.symlink(victim, lock)
    File.chown(65_534, 65_534, folder) if Process.euid.zero?
    expect { spool.deliver }.to raise_error(Simpkv::Estate::SpoolError)
    File.delete(lock)
    File.link(victim, lock)
    expect([counts(spool.deliver), File.stat(victim).uid]).to eq([[1, 0, 0], Process.euid])
  end

  describe 'that is full' do
    def refused(limits)
      expect { away({}, limits).spool.save(facts('web1', { 'a' => 'x' * 600_000 })) }
        .to raise_error(Simpkv::Estate::SpoolError, /is full: .*simpkv spool flush/)
    end

    it 'refuses what exceeds its bytes, and loses nothing' do
      limits = { 'spool_bytes' => 1_048_576 }
      away({}, limits).spool.save(facts('web1', { 'a' => 'x' * 600_000 }))
      refused(limits)
      expect(spool.summary).to include('waiting' => 1)
      expect(counts(spool.deliver)).to eq([1, 0, 0])
    end

    # The bytes never exceed their limit, so status and metrics never told that catalogs failed.
    it 'says so in its summary once it refuses an entry like the largest' do
      compiler = away({}, 'spool_bytes' => 1_048_576).spool
      limits = [200, 400_000, 400_000].map do |size|
        compiler.save(facts('web1', { 'a' => 'x' * size }))
        compiler.summary['limit']
      end
      expect(limits).to eq([nil, nil, 'spool_bytes'])
      expect { compiler.save(facts('web1', { 'a' => 'x' * 400_000 })) }.to raise_error(/is full: .*'spool_bytes'/)
    end

    # A warning said that it waits in the spool, and the next line that the spool is full.
    it 'does not say that what it refuses waits' do
      limits = { 'spool_bytes' => 1_048_576 }
      away({}, limits).spool.save(facts('web1', { 'a' => 'x' * 600_000 }))
      told = []
      expect { away({}, limits).spool.save(facts('web1', { 'a' => 'x' * 600_000 })) { |error| told << error } }
        .to raise_error(Simpkv::Estate::SpoolError, /connection refused.* And the spool .* is full/)
      expect(told).to eq([])
    end

    # Makes the first entry older.
    def age
      file = entries.first
      File.rename(file, file.sub(%r{/\d{16}}, format('/%016d', (Time.now.to_i - 90_000) * 1_000_000)))
    end

    # One entry that nobody can store closed the spool for all nodes.
    it 'takes more if what has waited for too long has failed for a reason of its own' do
      compiler = away.spool
      2.times { compiler.save(facts('web1')) }
      age
      refused('spool_age' => '1d')
      File.write(entries.first, 'x')
      warnings = []
      3.times { |number| spool.save(facts("new#{number}")) { |error| warnings << error } }
      expect(warnings).to match([be_a(Simpkv::Estate::SpoolError)
        .and(have_attributes(message: /#{File.basename(entries.first)}.*cannot be .*'simpkv spool rm'/))])
      expect(away({}, 'spool_age' => '1d').spool.save(facts('web2'))).to be(false)
      expect(described_class.new(away({}, 'spool_age' => '1d')).summary).to include('limit' => nil, 'waiting' => 3)
      spool.delete(File.basename(entries.first))
      expect(counts(spool.deliver)).to eq([2, 0, 0])
    end

    it 'refuses more if something has waited for too long' do
      away.spool.save(facts('web1'))
      age
      refused('spool_age' => '1d')
      expect(away({}, 'spool_age' => '2d').spool.save(facts('web1'))).to be(false)
      expect(described_class.new(away({}, 'spool_age' => '1d')).summary).to include('limit' => 'spool_age')
    end
  end

  it 'encrypts as the backend does' do
    compiler = away('encryption_keys' => write_keys('a')).spool
    compiler.save(facts('web1', { 'a' => 'pl4nted' }))
    expect(File.read(entries.first)).not_to include('pl4nted')
    expect(compiler.read(spool.waiting.first.name).data).to eq('values' => { 'a' => 'pl4nted' })
  end

  it 'says who must be able to write there' do
    File.write(folder, '')
    expect { away.spool.save(facts('web1')) }.to raise_error(Simpkv::Estate::SpoolError, /'spool' of 'estate'/)
  end
end
