# frozen_string_literal: true

require 'json'
require 'simpkv/query/keeper'
require_relative 'index_helper'
require_relative '../../../simpkv-estate/spec/support/estate_files'
require_relative '../../../../spec/support/eventually'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/replica'

# What the builder does, whatever the store.
RSpec.shared_examples 'a builder of an index' do
  def builder(site = estate, **more)
    Simpkv::Query::Builder.new(site, index, **more)
  end

  def refresh(site = estate)
    builder(site).refresh
  end

  # @return [Hash{String => Object}] the facts of a node
  def facts(certname)
    select('SELECT name, value FROM facts JOIN nodes ON nodes.id = node WHERE certname = ?', certname)
      .to_h { |name, value| [name, JSON.parse(value)] }
  end

  # @return [Array<String>] the exported resources of a node
  def resources(certname)
    select('SELECT type, title FROM resources JOIN nodes ON nodes.id = node WHERE certname = ? ORDER BY 1, 2', certname)
      .map { |type, title| "#{type}[#{title}]" }
  end

  def run_node(certname, number)
    estate.facts.save(certname, { 'number' => number, 'os' => { 'family' => 'Debian' } },
                      trusted: { 'certname' => certname })
    estate.exports.save(certname, { 'user' => [{ 'title' => "user#{number}" }] }, 'production')
    estate.reports.save(certname, 'time' => '2026-11-23T01:02:03Z', 'status' => 'changed', 'events' => [],
                                  'environment' => 'production', 'configuration_version' => number.to_s)
  end

  def statuses(certname)
    select('SELECT configuration_version FROM reports JOIN nodes ON nodes.id = node WHERE certname = ? ' \
           'ORDER BY latest DESC', certname).flatten
  end

  it 'enters all nodes, and then those that have changed' do
    %w[web1 web2].each { |certname| run_node(certname, 1) }
    expect(refresh).to eq 2
    expect([facts('web1')['number'], resources('web1'), statuses('web1')]).to eq [1, ['User[user1]'], ['1']]

    expect(refresh).to eq 0
    run_node('web2', 2)
    expect(refresh).to eq 1
    expect(facts('web2')).to include('number' => 2, 'os' => { 'family' => 'Debian' },
                                     'trusted' => { 'certname' => 'web2' })
    expect([resources('web2'), statuses('web2')]).to eq [['User[user2]'], %w[2 1]]
    expect(facts('web1')['number']).to eq 1
  end

  it 'tells of changes, but not of nodes that it reads again anyway' do
    %w[web1 web2].each { |certname| run_node(certname, 1) }
    allow(estate.snapshots).to receive(:of).and_wrap_original do |of, *arguments|
      of.call(*arguments).each_value { |snapshot| snapshot.digest = nil }
    end
    kept = builder
    expect([kept.refresh, kept.untold]).to eq [2, 2]
    expect([kept.refresh, kept.untold]).to eq [2, 0]
  end

  it 'sees each step of a run' do
    run_node('web1', 1)
    refresh
    estate.facts.save('web1', { 'number' => 5 })
    expect([refresh, facts('web1')['number']]).to eq [1, 5]
    estate.exports.save('web1', { 'user' => [{ 'title' => 'rosa' }] }, 'testing')
    expect([refresh, resources('web1')]).to eq [1, ['User[rosa]']]
    estate.reports.save('web1', 'status' => 'failed', 'environment' => 'testing', 'configuration_version' => '7')
    expect([refresh, statuses('web1')]).to eq [1, %w[7 1]]
  end

  it 'does not call an index complete that was deleted during the refresh' do
    %w[web1 web2].each { |certname| run_node(certname, 1) }
    refresh
    run_node('web2', 2)
    removing = lambda do
      FileUtils.rm(Dir["#{index.path}*"])
      false
    end
    expect { builder(stopping: removing).refresh }.to raise_error(Simpkv::UnavailableError, /deleted/)
    expect([index.state.refreshed, refresh, certnames]).to eq [nil, 2, %w[web1 web2]]
  end

  it 'removes nodes that are removed from the store' do
    %w[web1 web2].each { |certname| run_node(certname, 1) }
    refresh
    estate.remove('web1')

    expect([refresh, certnames]).to eq [1, ['web2']]
    expect(select('SELECT COUNT(*) FROM facts WHERE node NOT IN (SELECT id FROM nodes)')).to eq [[0]]
  end

  it 'does not take a folder that is missing or hidden for one without nodes' do
    run_node('web1', 1)
    refresh
    estate.store.delete('globals/estate/inventory/.estate')

    expect { refresh }.to raise_error(Simpkv::Estate::MissingError, /inventory/)
    expect(certnames).to eq ['web1']
  end

  # A comparison would find the changes a minute later.
  it 'enters changes of which the store tells, without a comparison' do
    run_node('web1', 1)
    keeper = Simpkv::Query::Keeper.new { |stopping| builder(stopping: stopping) }.start
    eventually { keeper.progress.trouble.nil? && keeper.progress.age }
    keeper.demand(nil, Simpkv::Clock.now + 60)
    compared = keeper.progress.refreshes

    run_node('web2', 2)
    eventually { statuses('web2') == ['2'] }
    estate.facts.save('web2', { 'number' => 3 })
    estate.remove('web1')
    eventually { certnames == ['web2'] && facts('web2')['number'] == 3 }
    expect(keeper.progress).to have_attributes(refreshes: compared, told: be >= 3, failures: 0)
    expect(builder.check).to eq []
  ensure
    keeper&.stop
  end

  it 'finds no difference between index and store' do
    %w[web1 web2].each { |certname| run_node(certname, 1) }
    refresh
    expect(builder.check).to eq []
  end
end

RSpec.describe Simpkv::Query::Builder do
  include Eventually

  include_context 'with an index'

  # OpenLDAP tells of changes with an overlay.
  Directories.each_server do |server, tags|
    describe "with an estate in #{server.name}", **tags do
      include_context 'with a directory', server, **(server == Slapd ? { more: Replica::SUPPLIER } : {})

      let(:estate) { Simpkv::Estate.new({ 'estate' => {} }) { store } }

      before { estate.make }

      it_behaves_like 'a builder of an index'

      next unless server == Slapd

      # A change meanwhile was visible after the next comparison, up to 30 s later.
      it 'has a feed that says at once that its watches are cut, and that they are back' do
        feed = Simpkv::Query::Feed.new(estate)
        told = Queue.new
        feed.watch { |certname| told << certname }
        eventually { feed.trouble.nil? }
        told.clear
        directory.stop_serving
        eventually { !told.empty? && feed.trouble }
        expect(feed.trouble).to eq('the watch has lost its connection')
        told.clear
        directory.launch
        eventually { feed.trouble.nil? }
        expect(Array.new(told.size) { told.pop }).to include(nil)
      ensure
        feed&.unwatch
      end
    end
  end

  describe 'with an estate in files' do
    include_context 'with an estate in files'

    it_behaves_like 'a builder of an index'

    def builder(site = estate, **more)
      described_class.new(site, index, **more)
    end

    def run_node(certname, number = 1, site: estate)
      site.facts.save(certname, { 'number' => number })
      site.exports.save(certname, { 'user' => [{ 'title' => "user#{number}" }] }, 'production')
      site.reports.save(certname, 'status' => 'changed', 'environment' => 'production', 'events' => [])
    end

    def file(*names)
      File.join(root, 'globals/estate', *names)
    end

    def number(certname)
      select("SELECT value FROM facts JOIN nodes ON nodes.id = node WHERE name = 'number' AND certname = ?", certname)
        .flatten.first
    end

    # Changes each document that the name matches.
    def change(*names)
      Dir[file(*names)].each { |path| File.write(path, yield(File.read(path))) }
    end

    # Makes the last run of the node earlier than a minute ago.
    def end_early
      change('{inventory,status,facts}/web1') do |text|
        text.gsub(/"(?:last_seen|seen|timestamp)":"\K[^"]+/, '2026-01-01T00:00:00Z')
      end
    end

    def tamper(sql)
      database = Simpkv::Query::Index.open(index.path)
      database.execute(sql)
    ensure
      database&.close
    end

    def digest_of(certname)
      select('SELECT digest FROM nodes WHERE certname = ?', certname).flatten.first
    end

    describe 'whose documents cannot be read' do
      before do
        %w[web1 web2].each { |certname| run_node(certname) }
        builder.refresh
        %w[web1 web2].each { |certname| run_node(certname, 2) }
      end

      %w[facts/web1 exported/user/web1 inventory/web1 status/web1 reports/web1/2].each do |name|
        it "fails, and stays as old as it is: #{name}" do
          fresh = index.state.refreshed
          File.write(file(name), 's3cret')

          expect { builder.refresh }.to raise_error(Simpkv::MalformedError, /#{name}' cannot be read: (?!.*s3cret)/)
          expect(index.state.refreshed).to eq fresh
          expect(index.state.failure).to match(/#{name}' cannot be read: (?!.*s3cret)/)
        end
      end

      it 'says since when it fails, and recovers with the document' do
        good = File.read(file('facts/web1'))
        File.write(file('facts/web1'), 's3cret')
        2.times { expect { builder.refresh }.to raise_error(Simpkv::MalformedError) }
        failed = index.state.failed
        expect(failed).to be_between(index.state.refreshed, Time.now.to_f)

        File.write(file('facts/web1'), good)
        builder.refresh
        expect([index.state.failed, index.state.failure, number('web1')]).to eq [nil, nil, '2']
      end

      it 'fails if a document is missing that the inventory names' do
        File.delete(file('exported/user/web1'))

        expect { builder.refresh }.to raise_error(Simpkv::Estate::MissingError, %r{exported/user/web1' is missing})
      end

      it 'leaves out what is malformed with skip_undecodable, with a warning, as collectors do' do
        File.write(file('exported/user/web1'), 's3cret')
        warnings = []
        builder(open_estate('skip_undecodable' => true), warn: ->(warning) { warnings << warning }).refresh

        expect(select('SELECT certname, title FROM nodes LEFT JOIN resources ON nodes.id = node ORDER BY 1'))
          .to eq [['web1', nil], %w[web2 user2]]
        expect(warnings).to match [%r{\A'globals/estate/exported/user/web1' cannot be read: (?!.*s3cret)}]
      end

      # The second time, there was no warning.
      it 'warns once as long as a document is malformed, and again if it was repaired and breaks again' do
        warnings = []
        lasting = builder(open_estate('skip_undecodable' => true), warn: ->(warning) { warnings << warning })
        counts = [true, true, false, true].map.with_index do |broken, number|
          run_node('web1', number + 3)
          File.write(file('exported/user/web1'), 's3cret') if broken
          lasting.refresh
          warnings.length
        end
        expect(counts).to eq [1, 1, 1, 2]
      end
    end

    describe 'after a run that has changed the status only' do
      before do
        run_node('web1')
        builder.refresh
        estate.reports.save('web1', 'status' => 'failed', 'environment' => 'production', 'events' => [])
      end

      it 'reads and writes neither facts nor resources' do
        read = []
        allow(estate.store).to receive(:get_many).and_wrap_original do |get_many, keys|
          get_many.call(keys.each { |key| read << key })
        end
        before = select('SELECT * FROM facts UNION ALL SELECT node, type, title FROM resources')
        builder.refresh

        expect(read).to match_array(%w[inventory/web1 status/web1 reports/web1/1 reports/web1/2]
          .map { |name| "globals/estate/#{name}" })
        expect(select('SELECT * FROM facts UNION ALL SELECT node, type, title FROM resources')).to eq before
        expect(select('SELECT latest_report_status, timestamp = facts_timestamp FROM factsets JOIN nodes ON id = node'))
          .to eq [['failed', 1]]
        expect(builder.check).to eq []
      end

      it 'reads all if facts or exports have changed as well' do
        estate.facts.save('web1', { 'number' => 7 })
        expect([builder.refresh, number('web1'), builder.check]).to eq [1, '7', []]
      end

      it 'reads all if the clock of the status is behind that of the facts' do
        change('status/web1') { |text| text.sub(/"last_seen":"[^"]+"/, '"last_seen":"2026-01-01T00:00:00Z"') }
        expect([builder.refresh, builder.check]).to eq [1, []]
      end
    end

    describe 'while a run is saving' do
      it 'reads a node again whose report is not there yet' do
        run_node('web1')
        builder.refresh
        report = File.read(file('reports/web1/1'))
        run_node('web1', 2)
        late = File.read(file('reports/web1/2'))
        File.delete(file('reports/web1/2'))
        builder.refresh
        expect(digest_of('web1')).to eq ''

        File.write(file('reports/web1/2'), late)
        expect([builder.refresh, builder.refresh]).to eq [1, 0]
        expect(select('SELECT COUNT(*) FROM reports')).to eq [[2]]
        expect(report).not_to eq late
      end

      # The report of the first one used to be missing until the next run.
      it 'reads a node again of two runs at once, whose reports come in the other order' do
        run_node('web1')
        builder.refresh
        2.times { |number| run_node('web1', number + 2) }
        late = File.read(file('reports/web1/2'))
        File.delete(file('reports/web1/2'))
        2.times { builder.refresh }
        File.write(file('reports/web1/2'), late)

        expect([builder.refresh, builder.refresh, builder.check]).to eq [1, 0, []]
        expect(select('SELECT run FROM reports ORDER BY 1').flatten).to eq [1, 2, 3]
      end

      it 'does not wait for ever for a report that was lost' do
        run_node('web1')
        File.delete(file('reports/web1/1'))
        end_early

        expect([builder.refresh, builder.refresh]).to eq [1, 0]
      end

      it 'reads a node again whose exports are those of another save' do
        run_node('web1')
        document = File.read(file('exported/user/web1'))
        File.write(file('exported/user/web1'), document.sub('user1', 'user9'))
        expect([builder.refresh, digest_of('web1')]).to eq [1, '']

        File.write(file('exported/user/web1'), document)
        expect([builder.refresh, builder.refresh]).to eq [1, 0]
      end
    end

    describe 'on a replica that is later than a minute' do
      let(:lasting) { builder }

      before do
        allow(estate).to receive(:replica?).and_return(true)
        allow(Simpkv::Clock).to receive(:now) { @clock }
        @clock = 0.0
        run_node('web1')
        lasting.refresh
        @old = documents
        run_node('web1', 2)
        @new = documents
        arrive(@old)
        end_early
        lasting.refresh
      end

      def documents
        %w[facts/web1 exported/user/web1].to_h { |name| [name, File.read(file(name))] }
      end

      def arrive(documents)
        documents.each { |name, text| File.write(file(name), text) }
      end

      # They used to stay as they were for good.
      it 'enters facts and exports when they arrive, though no digest changes' do
        expect([number('web1'), lasting.refresh]).to eq ['1', 0]
        arrive(@new)
        expect([lasting.refresh, number('web1')]).to eq [0, '1']
        @clock += 11
        expect([lasting.refresh, number('web1'), lasting.refresh, lasting.check]).to eq [1, '2', 0, []]
        expect(select('SELECT title FROM resources')).to eq [['user2']]
      end

      it 'reads them after a run that has changed the status only' do
        arrive(@new)
        estate.reports.save('web1', 'status' => 'unchanged', 'environment' => 'production', 'events' => [])
        expect([lasting.refresh, number('web1'), lasting.check]).to eq [1, '2', []]
      end
    end

    describe 'with many reports' do
      let(:options) { { 'reports' => 4, 'report_ttl' => '1d' } }

      # @return [Array<Array>] run and whether it is the last one, newest first
      def runs(certname = 'web1')
        select('SELECT run, latest FROM reports JOIN nodes ON nodes.id = node WHERE certname = ? ORDER BY run DESC',
               certname)
      end

      # Makes the times of all documents of reports and statuses earlier.
      def age(seconds)
        change('{reports/*,status}/*') do |text|
          text.gsub(/"(?:received|last_seen)":"\K[^"]+/) { |time| (Time.iso8601(time) - seconds).iso8601 }
        end
      end

      it 'reads the new ones only, and leaves out those that are replaced' do
        run_node('web1')
        builder.refresh
        read = []
        allow(estate.store).to receive(:get_many).and_wrap_original do |get_many, keys|
          read.concat(keys.grep(%r{/reports/}).map { |key| key[/\d+\z/].to_i })
          get_many.call(keys)
        end
        5.times do |number|
          run_node('web1', number + 2)
          builder.refresh
        end

        expect(read).to eq [1, 2, 2, 3, 3, 0, 0, 1, 1, 2]
        expect(runs).to eq [[6, 1], [5, 0], [4, 0], [3, 0]]
        expect(builder.check).to eq []
      end

      it 'enters several runs since the last refresh, also more than there are reports' do
        [1, 2, 9].each do |times|
          times.times { |number| run_node('web1', number) }
          builder.refresh
          expect(builder.check).to eq []
        end
        expect(runs).to eq [[12, 1], [11, 0], [10, 0], [9, 0]]
      end

      # The last one to arrive was the latest one.
      it 'enters reports that arrive late, none of which is the latest one' do
        sent = lambda do |minutes, status|
          time = (Time.now.utc - (minutes * 60)).iso8601(3)
          estate.reports.save('web1', 'status' => status, 'producer_timestamp' => time, 'events' => [])
          builder.refresh
          expect(builder.check).to eq []
        end
        [[60, 'changed'], [50, 'changed'], [55, 'failed'], [58, 'failed'], [59.5, 'failed'], [99, 'failed']]
          .each { |minutes, status| sent.call(minutes, status) }
        expect(runs).to eq [[5, 0], [4, 0], [3, 0], [2, 1]]
        expect(select('SELECT latest_report_status FROM nodes')).to eq [['changed']]
        sent.call(1, 'unchanged')
        expect(runs).to eq [[6, 1], [5, 0], [4, 0], [3, 0]]
      end

      it 'reads all of a node whose runs begin anew' do
        3.times { |number| run_node('web1', number) }
        builder.refresh
        estate.statuses.delete('web1')
        run_node('web1', 9)
        builder.refresh

        expect(builder.check).to eq []
        expect(runs.length).to eq 3
      end

      it 'leaves out those that are too old, though nothing changes' do
        2.times { |number| run_node('web1', number) }
        age(80_000)
        run_node('web1', 3)
        builder.refresh
        expect(runs).to eq [[3, 1], [2, 0], [1, 0]]

        allow(Time).to receive(:now).and_return(Time.now + 10_000)
        expect([builder.refresh, runs, builder.refresh]).to eq [1, [[3, 1]], 0]
        allow(Time).to receive(:now).and_return(Time.now + 90_000)
        expect([builder.refresh, runs, builder.refresh]).to eq [1, [], 0]
        expect(select('SELECT latest_report_hash, latest_report_status FROM nodes')).to eq [[nil, 'changed']]
      end
    end

    # It used to be a node without anything until the next refresh.
    it 'removes a node that is removed between the list and its documents' do
      %w[web1 web2].each { |certname| run_node(certname) }
      builder.refresh
      run_node('web1', 2)
      allow(estate.snapshots).to receive(:digests).and_wrap_original do |list|
        list.call.tap { estate.remove('web1') }
      end

      expect([builder.refresh, certnames]).to eq [1, ['web2']]
    end

    # Their rows used to be made twice, and the second ones did not have the paths, so that `~>` found nothing.
    it 'enters the paths of facts of a node that was removed, and has come back' do
      run_node('web1')
      builder.refresh
      estate.remove('web1')
      estate.facts.save('web1', { 'disk' => { 'size' => 1 } })
      estate.reports.save('web1', 'status' => 'failed', 'environment' => 'production', 'events' => [])

      expect([builder.refresh, builder.check]).to eq [1, []]
      expect(select("SELECT path FROM fact_paths WHERE name = 'disk'")).to eq [['["disk","size"]']]
    end

    it 'enters stored catalogs with the option catalogs' do
      run_node('web1')
      estate.catalogs.put('web1', 'version' => 5, 'resources' => [{ 'type' => 'File', 'title' => '/a' }])
      builder.refresh
      expect(select('SELECT type FROM resources ORDER BY 1')).to eq [['User']]
      builder(open_estate('catalogs' => true)).build

      expect(select('SELECT type FROM resources ORDER BY 1')).to eq [['File'], ['User']]
      expect(select('SELECT version FROM catalogs')).to eq [['5']]
    end

    describe 'with stored catalogs' do
      let(:estate) { open_estate('catalogs' => true) }
      let(:catalog) { { 'environment' => 'production', 'resources' => [{ 'type' => 'File', 'title' => '/a' }] } }

      before do
        estate.catalogs.put('web1', catalog)
        run_node('web1')
        builder.refresh
      end

      # @return [Array] after a refresh: the types of the node's resources, and the nodes whose rows are others
      def refreshed
        builder.refresh
        [select('SELECT type FROM resources ORDER BY 1').flatten, builder.check]
      end

      it 'writes no rows of resources while catalog and exports are the same' do
        tamper("DELETE FROM resources WHERE type = 'File'")
        estate.facts.save('web1', { 'number' => 7 })
        expect([*refreshed, number('web1')]).to eq [%w[User], %w[web1], '7']
        estate.catalogs.put('web1', catalog.merge('version' => '2'))
        estate.facts.save('web1', { 'number' => 8 })
        expect(refreshed).to eq [%w[File User], []]
      end

      it 'reads the catalog alone after a run that has changed the status only' do
        read = []
        allow(estate.store).to receive(:get_many).and_wrap_original do |get_many, keys|
          get_many.call(keys.each { |key| read << key })
        end
        estate.reports.save('web1', 'status' => 'failed', 'environment' => 'production', 'events' => [])
        builder.refresh

        expect(read.grep(/web1/)).to match_array(%w[inventory/web1 status/web1 catalogs/web1 reports/web1/1
                                                    reports/web1/2].map { |name| "globals/estate/#{name}" })
        expect(builder.check).to eq []
      end

      it 'enters other exports, and another environment, beside the same catalog' do
        estate.exports.save('web1', { 'host' => [{ 'title' => 'web1' }] }, 'production')
        expect(refreshed).to eq [%w[File Host], []]
        estate.catalogs.put('web1', catalog.reject { |name, _| name == 'environment' })
        estate.exports.save('web1', {}, 'testing')
        expect(refreshed).to eq [%w[File], []]
        estate.exports.save('web1', {}, 'production')
        expect([*refreshed, select('SELECT environment FROM catalogs')]).to eq [%w[File], [], [['production']]]
      end

      it 'gives a catalog without a time that of the last run' do
        change('status/web1') { |text| text.sub(/"last_seen":"[^"]+"/, '"last_seen":"2026-01-01T00:00:00Z"') }
        estate.facts.save('web1', { 'number' => 7 })
        expect(refreshed).to eq [%w[File User], []]
        expect(select('SELECT c.producer_timestamp FROM catalogs c')).to eq [['2026-01-01T00:00:00.000Z']]
      end
    end

    it 'marks a node as expired though nothing changes' do
      mortal = open_estate('node_ttl' => '1h')
      run_node('web1', site: mortal)
      builder(mortal).refresh
      expect(select('SELECT expired FROM nodes')).to eq [[nil]]

      allow(Time).to receive(:now).and_return(Time.now + 3601)
      expect(builder(mortal).refresh).to eq 0
      expect(select('SELECT expired = expires FROM nodes')).to eq [[1]]
    end

    # It used to stay expired until its next run.
    it 'does not leave a node expired that expired while the clock was ahead' do
      mortal = open_estate('node_ttl' => '1h')
      run_node('web1', site: mortal)
      now = Time.now
      allow(Time).to receive(:now).and_return(now + 3601)
      builder(mortal).refresh
      allow(Time).to receive(:now).and_return(now)
      builder(mortal).refresh

      expect(select('SELECT expired FROM nodes')).to eq [[nil]]
    end

    it 'makes the whole index anew' do
      run_node('web1')
      builder.refresh
      index.update { |writer| writer.note('other' => 1) }

      expect([builder.build, certnames]).to eq [1, ['web1']]
      expect(select("SELECT * FROM meta WHERE name = 'other'")).to eq []
    end

    it 'does not refresh again what another process has refreshed while it waited' do
      run_node('web1')
      inside = Queue.new
      release = Queue.new
      other = Thread.new do
        rival = Simpkv::Query::Index.new(folder, 'estate')
        rival.exclusively do
          inside << true
          release.pop
          described_class.new(open_estate, rival).refresh
        end
        rival.close
      end
      inside.pop
      estate.store
      waiting = Thread.new { builder.refresh }
      begin
        eventually { waiting.status == 'sleep' }
      ensure
        release << true
        other.join
      end

      expect([waiting.value, certnames]).to eq [0, ['web1']]
    end

    # Each refresh used to take the one that the clock had put in the future for one of another process.
    it 'refreshes after the clock was set back' do
      run_node('web1')
      now = Time.now
      allow(Time).to receive(:now).and_return(now + 86_400)
      builder.refresh
      allow(Time).to receive(:now).and_return(now)
      run_node('web2')

      expect([index.state.age, builder.refresh, certnames, index.state.age]).to eq [nil, 1, %w[web1 web2], 0.0]
    end

    it 'can be given up between two chunks' do
      stub_const("#{described_class}::CHUNK", 1)
      %w[web1 web2 web3].each { |certname| run_node(certname) }
      steps = [false, true].each

      expect { builder(stopping: -> { steps.next }).refresh }.to raise_error(Simpkv::InterruptedError)
      expect([certnames.length, index.state.refreshed, index.state.failure]).to eq [1, nil, nil]
      expect([builder.refresh, certnames.length]).to eq [2, 3]
    end

    it 'goes on where a killed process has stopped', needs: :fork do
      stub_const("#{described_class}::CHUNK", 1)
      %w[web1 web2 web3].each { |certname| run_node(certname) }
      index.close
      pid = fork do
        steps = 0
        builder(stopping: -> { (steps += 1) == 3 ? Process.kill('KILL', Process.pid) : false }).refresh
      end
      Process.wait(pid)

      expect(index.state.refreshed).to be_nil
      expect([builder.refresh, certnames.length]).to eq [1, 3]
    end

    it 'checks no index that is not there, or is of another version' do
      expect([builder.check, index.there?]).to eq [nil, false]
      builder.refresh
      index.update { |writer| writer.note('version' => 0) }
      expect(builder.check).to be_nil
    end

    describe 'that is checked' do
      before do
        %w[web1 web2].each { |certname| run_node(certname) }
        builder.refresh
      end

      ["UPDATE facts SET value = '9' WHERE node = web1", 'DELETE FROM resources WHERE node = web1',
       "UPDATE nodes SET latest_report_status = 'failed' WHERE id = web1", 'DELETE FROM reports WHERE node = web1',
       "INSERT INTO package_inventory VALUES (web1, 'bash', '1', 'apt')",
       "INSERT INTO events (report, status) SELECT id, 'success' FROM reports WHERE node = web1"].each do |sql|
        it "names the node whose rows are others: #{sql}" do
          tamper(sql.sub('web1', "(SELECT id FROM nodes WHERE certname = 'web1')"))
          expect(builder.check).to eq ['web1']
        end
      end

      it 'names a node with a path of facts that is missing, whichever of those that have it' do
        tamper('DELETE FROM fact_paths')
        expect(builder.check).to match [/\Aweb[12]\z/]
      end

      it 'leaves out a node that has changed since' do
        run_node('web1', 2)
        expect(builder.check).to eq []
      end

      it 'says that the file is damaged' do
        database = Simpkv::Query::Index.open(index.path)
        database.execute('PRAGMA writable_schema = ON')
        database.execute("UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'facts_of_node'")
        database.close

        expect { builder.check }.to raise_error(Simpkv::Query::DamagedError, /the file is damaged/)
        expect(index.there?).to be true
      end
    end

    describe Simpkv::Query::Keeper do
      it 'rests as long as a refresh took, but never so long that queries find the index too old' do
        rests = [[0.1, 0], [0.8, 0], [75, 0], [0.1, 3], [0.1, 100]].map do |took, failures|
          described_class.rest(took, failures)
        end
        expect(rests).to eq([0.9, 0.8, 2.0, 3.0, 5.0])
      end

      let(:lines) { Queue.new }
      let(:keeper) do
        described_class.new(log: lines.method(:<<)) do |stopping|
          Simpkv::Query::Builder.new(estate, index, stopping: stopping)
        end
      end

      after { keeper.stop }

      it 'keeps the index at most two seconds old, beside runs' do
        keeper.start
        oldest = Array.new(4) do |round|
          run_node('web1', round)
          begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          eventually { number('web1') == round.to_s }
          Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun
        end.max

        expect(oldest).to be < 10
        # The index shows a refresh before its thread counts it.
        eventually { keeper.progress.nodes >= 4 }
        expect(keeper.progress).to have_attributes(error: nil, failures: 0, refreshes: be > 0)
        expect(keeper.progress.age).to be < 10
      end

      it 'compares every second where the store does not tell of changes, and says why' do
        stub_const('Simpkv::Query::Feed::RETRY', 0.1)
        allow(estate.store).to receive(:watch).and_raise(Simpkv::InvalidError, 'it is on a network file system')
        keeper.start
        eventually { keeper.progress.trouble == 'it is on a network file system' && keeper.progress.age }
        run_node('web1')
        eventually { certnames == ['web1'] && keeper.progress.refreshes > 1 }
        expect(keeper.progress.told).to eq 0

        allow(estate.store).to receive(:watch).and_call_original
        eventually { lines.size == 2 }
        expect(keeper.progress.trouble).to be_nil
        expect([lines.pop, lines.pop]).to match([/every second: it is on a network file system/, /tells.*again/])
      end

      it 'finds by a comparison what the store has not told, and what changes without a change of a node' do
        allow(estate.store).to receive(:watch) do |&told|
          told.call(Simpkv::Change.new(:ready, '', '', true))
          sleep
        end
        keeper = described_class.new(age: 2, log: lines.method(:<<)) { Simpkv::Query::Builder.new(estate, index) }.start
        eventually { keeper.progress.trouble.nil? && keeper.progress.age }
        run_node('web1')
        report = File.read(file('reports/web1/1'))
        File.delete(file('reports/web1/1'))
        eventually { digest_of('web1') == '' }
        expect(Array.new(2) { refreshed(keeper) && keeper.progress.untold }.uniq.length).to eq 1
        File.write(file('reports/web1/1'), report)
        eventually { digest_of('web1') != '' }
        run_node('web2') until lines.size.positive?
        expect(lines.pop).to match(/\Athe store has not told of changes of \d+ nodes?, which a comparison found\z/)
        expect(keeper.progress).to have_attributes(told: 0, failures: 0, untold: be > 1)
      ensure
        keeper&.stop
      end

      # Waits for another comparison.
      def refreshed(keeper)
        refreshes = keeper.progress.refreshes + 1
        eventually { keeper.progress.refreshes >= refreshes }
      end

      it 'survives a store that cannot be used, and says so once' do
        run_node('web1')
        keeper.start
        eventually { keeper.progress.age }
        FileUtils.mv(root, "#{root}.away")
        eventually { keeper.progress.failures > 1 }
        expect(keeper.progress.error).to match(/there is no store in the folder|marker|cannot/i)
        FileUtils.mv("#{root}.away", root)
        run_node('web2')
        eventually { certnames == %w[web1 web2] }
        eventually { keeper.progress.error.nil? }

        keeper.stop
        said = Array.new(lines.size) { lines.pop }
        expect(said.grep(/cannot be refreshed/).size).to be_between(1, 2)
        expect(said.grep(/is refreshed again/).size).to eq 1
      end

      it 'stops between two refreshes, and starts again' do
        2.times do
          before = keeper.progress.refreshes
          keeper.start
          eventually { keeper.progress.refreshes > before }
          keeper.stop
        end
        stopped = keeper.progress.refreshes
        sleep 1.2

        expect(keeper.progress.refreshes).to eq stopped
        expect(Thread.list.length).to be < 20
      end

      it 'goes on after a defect, and shows no message of it' do
        builders = [-> { raise SystemStackError, 's3cret' }, -> { Simpkv::Query::Builder.new(estate, index) }]
        keeper = described_class.new(log: lines.method(:<<)) { builders.shift.call }
        keeper.start
        eventually { keeper.progress.refreshes.positive? }
        keeper.stop

        expect(keeper.progress).to have_attributes(failures: 1, error: nil)
        expect(lines.pop).to match(/internal error: SystemStackError, at (?!.*s3cret)/)
      end
    end
  end
end
