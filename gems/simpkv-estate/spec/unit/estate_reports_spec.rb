# frozen_string_literal: true

require 'spec_helper'
require 'simpkv/estate'
require_relative '../support/estate_files'
require_relative '../../../../spec/support/key_file'

RSpec.describe Simpkv::Estate::Reports do
  include_context 'with an estate in files'
  include KeyFile

  def report(number, **more)
    { 'time' => "2026-11-23T01:00:0#{number}Z", 'environment' => 'production', 'status' => 'unchanged',
      'noop' => false, 'resources' => { 'changed' => number }, 'number' => number }.merge(more.transform_keys(&:to_s))
  end

  def numbers
    estate.reports.all('web1').map { |stored| stored['number'] }
  end

  it 'stores a report and the status of the node' do
    estate.reports.save('web1', report(3, status: 'failed', resources: { 'changed' => 3, 'failed' => 1,
                                                                         'failed_to_restart' => 2 }))
    expect(estate.statuses.get('web1')).to include('environment' => 'production', 'status' => 'failed', 'changes' => 3,
                                                   'failures' => 3, 'noop' => false, 'runs' => 1)
    expect(estate.reports.latest('web1')).to include('number' => 3, 'run' => 1)
    expect(Time.now - Time.parse(estate.reports.latest('web1')['received'])).to be_between(0, 600)
  end

  # The time was lost, so that an older catalog of the node counted as the newest one.
  it 'loses no time of a catalog that another process enters meanwhile' do
    enter = -> { estate.statuses.put('web1', 'catalog_timestamp' => '2026-11-23T01:00:00.000Z') }
    open_estate({}, 2 => enter).reports.save('web1', report(1))
    expect(estate.statuses.get('web1')).to include('catalog_timestamp' => '2026-11-23T01:00:00.000Z', 'runs' => 1)
  end

  it 'stores a report that arrives again once' do
    3.times { estate.reports.save_once('web1', report(1)) }
    expect([numbers, estate.statuses.get('web1')['runs']]).to eq([[1], 1])
  end

  # An import of an archive into the service that had written it stored each report twice.
  describe 'that comes back from an archive' do
    let(:options) { { 'reports' => 20 } }
    let(:sent) do
      report(1, time: '2026-11-23T01:00:01.1234567Z', producer_timestamp: '2026-11-23T01:00:02.9999Z',
                configuration_version: 1, times: { 'total' => 1.5 },
                events: [{ 'resource' => 'File[/b]', 'status' => 'success' },
                         { 'resource' => 'File[/a]', 'status' => 'success', 'message' => 's3cret' }])
    end
    let(:archived) do
      times = %w[time producer_timestamp].to_h { |name| [name, Time.parse(sent[name]).iso8601(3)] }
      events = sent['events'].reverse.map { |event| event.slice('resource', 'status') }
      sent.reject { |name, _| name == 'number' }
          .merge(times, 'end_time' => times['time'], 'configuration_version' => '1', 'events' => events)
    end

    def runs_after(*reports)
      reports.each { |report| estate.reports.save_once('web1', report) }
      estate.statuses.get('web1')['runs']
    end

    it 'is stored once, with the UUID of a run or without one' do
      expect(runs_after(sent, archived, sent)).to eq 1
      uuid = { 'transaction_uuid' => 'a' }
      expect(runs_after(sent.merge(uuid), archived.merge(uuid, 'status' => 'changed'))).to eq 2
      expect(estate.reports.missing('web1', [[archived, 'x'], [archived.merge('status' => 'failed'), 'x']]).length)
        .to eq 1
    end

    it 'is stored once if its time is that of its receipt' do
      estate.reports.save('web1', sent.reject { |name, _| name == 'producer_timestamp' })
      received = estate.reports.latest('web1')['received']
      expect(runs_after(archived.merge('producer_timestamp' => received.sub('Z', '.000Z')))).to eq 1
    end

    it 'is another run if anything of a run differs' do
      others = [{ 'time' => '2026-11-23T01:00:01.124Z' }, { 'producer_timestamp' => '2026-11-23T01:00:02.998Z' },
                { 'transaction_uuid' => 'b' }, { 'status' => 'changed' }, { 'resources' => { 'changed' => 2 } },
                { 'times' => { 'total' => 1.501 } }, { 'events' => [] }, { 'configuration_version' => '2' }]
      expect(runs_after(sent, *others.map { |other| archived.merge(other) })).to eq(1 + others.length)
      # Two runs of an agent in one millisecond.
      expect(runs_after(sent.merge('time' => '2026-11-23T01:00:01.1234568Z'))).to eq(2 + others.length)
    end
  end

  it 'counts a run twice if it arrives again because its report could not be stored after its status' do
    site = open_estate
    allow(site.store).to receive(:put_many).and_raise(Simpkv::UnavailableError, 'away')
    expect { site.reports.save_once('web1', report(1)) }.to raise_error(Simpkv::UnavailableError)
    expect([numbers, estate.statuses.get('web1')['runs']]).to eq([[], 1])
    2.times { estate.reports.save_once('web1', report(1)) }
    expect([numbers, estate.statuses.get('web1')['runs']]).to eq([[1], 2])
  end

  # @return [Hash] a report that its server sent so many minutes ago
  def sent(minutes, number, **more)
    report(number, producer_timestamp: (Time.now.utc - (minutes * 60)).iso8601(3), **more)
  end

  # The last report to arrive decided the status of the node, and was the newest one.
  describe 'that arrives late' do
    let(:options) { { 'reports' => 3 } }
    let(:status) { estate.statuses.get('web1') }

    before { [[90, 1], [60, 2], [30, 3]].each { |minutes, number| estate.reports.save('web1', sent(minutes, number)) } }

    it 'is stored in its order, and changes no status' do
      before = estate.statuses.get('web1')
      estate.reports.save('web1', sent(45, 4, status: 'failed'))
      estate.reports.save('web1', sent(50, 5, status: 'failed'))
      expect(numbers).to eq([3, 4, 5])
      expect(estate.reports.latest('web1')).to include('number' => 3, 'run' => 3)
      expect(status).to eq(before.merge('runs' => 5, 'run' => 3, 'received' => status['received']))
      expect(status['received']).to be > status['last_seen']
    end

    it 'replaces no newer one, sent once or again' do
      before = estate.statuses.get('web1')
      2.times { estate.reports.save_once('web1', sent(100, 4)) }
      expect([numbers, status]).to eq([[3, 2, 1], before])
    end

    it 'replaces one that must not be plain, and is' do
      FileUtils.rm_rf(File.join(root, 'globals/estate'))
      site['backends']['default'].update('encryption_keys' => write_keys('a'), 'encrypted_only' => true)
      encrypting = Simpkv::Estate.new(site.merge('estate' => options)).tap(&:make)
      [[90, 1], [30, 2], [20, 3]].each { |minutes, number| encrypting.reports.save('web1', sent(minutes, number)) }
      File.write(File.join(root, 'globals/estate/reports/web1/1'), Simpkv::Codec.encode({}))
      encrypting.reports.save('web1', sent(45, 4))
      expect(encrypting.reports.all('web1').map { |stored| stored['number'] }).to eq([3, 2, 4])
    end

    it 'does not keep the next run from being the last one' do
      estate.reports.save('web1', sent(45, 4, status: 'failed'))
      estate.reports.save('web1', sent(20, 5))
      expect(numbers).to eq([5, 3, 4])
      expect(status).to include('status' => 'unchanged', 'changes' => 5, 'runs' => 5)
      expect(status).not_to include('run')
    end

    it 'says when the node was seen, and not when it came, if it is the first one' do
      estate.reports.save('web2', sent(180, 1))
      stored = estate.reports.latest('web2')
      expect(estate.statuses.get('web2')['last_seen']).to eq("#{stored['producer_timestamp'][0, 19]}Z")
      expect(Time.now - Time.iso8601(stored['received'])).to be_between(0, 600)
    end

    it 'comes after one of the same moment' do
      time = '2026-11-23T01:00:00.5Z'
      %w[2026-11-23T01:00:00.500Z 2026-11-23T01:00:00Z].each_with_index do |other, number|
        estate.reports.save('web2', report(number, producer_timestamp: time))
        estate.reports.save('web2', report(number + 5, producer_timestamp: other))
      end
      expect(estate.reports.all('web2').map { |stored| stored['number'] }).to eq([1, 5, 0])
    end
  end

  it 'stores a report again whose status was lost' do
    estate.reports.save_once('web1', report(1))
    status = estate.statuses.get('web1')
    estate.reports.save_once('web1', report(2))
    estate.statuses.put('web1', status)
    2.times { estate.reports.save_once('web1', report(2)) }
    expect([numbers, estate.statuses.get('web1')]).to match([[2, 1], include('runs' => 2, 'changes' => 2)])
  end

  context 'with reports: 3' do
    let(:options) { { 'reports' => 3 } }

    it 'keeps the last three, newest first, whatever the clock of the node says' do
      (1..8).each { |number| estate.reports.save('web1', report(number, time: "20#{30 - number}-01-01T00:00:00Z")) }
      expect(numbers).to eq([8, 7, 6])
      expect(estate.statuses.get('web1')['runs']).to eq(8)
      expect(Dir.children(File.join(root, 'globals/estate/reports/web1')).sort).to eq(%w[0 1 2])
    end

    it 'returns the last three of more that were stored with a larger option' do
      more = open_estate('reports' => 9)
      (1..8).each { |number| more.reports.save('web1', report(number)) }
      estate.reports.save('web1', report(9))
      expect(numbers).to eq([9, 8, 7])
    end

    it 'leaves out a report that cannot be read, and names its key' do
      (1..3).each { |number| estate.reports.save('web1', report(number)) }
      File.write(File.join(root, 'globals/estate/reports/web1/2'), 's3cret')
      unreadable = {}
      stored = estate.reports.all('web1') { |key, why| unreadable[key] = why }
      expect(stored.map { |each| each['number'] }).to eq([3, 1])
      expect(unreadable.keys).to eq(%w[globals/estate/reports/web1/2])
      expect(unreadable.values.join).not_to include('s3cret')
    end
  end

  context 'with report_ttl: 1h' do
    let(:options) { { 'reports' => 5, 'report_ttl' => '1h' } }

    # Stores reports that came so many minutes ago.
    def save_ago(*minutes)
      minutes.each_with_index do |number, index|
        allow(Time).to receive(:now).and_return(Time.at(1_790_000_000 - (number * 60)))
        estate.reports.save('web1', report(index))
      end
      allow(Time).to receive(:now).and_return(Time.at(1_790_000_000))
    end

    it 'leaves out those that are too old' do
      save_ago(120, 61, 60, 1)
      expect(numbers).to eq([3, 2])
      expect(estate.reports.of_runs('web1' => 1..4)['web1'].map { |stored| stored['number'] }).to eq([3, 2])
    end

    it 'deletes those that are too old, and the status stays' do
      save_ago(120, 61, 60, 1)
      File.write(File.join(root, 'globals/estate/reports/web1/1'), 's3cret')

      expect([estate.reports.expire, estate.reports.expire]).to eq([1, 0])
      expect(Dir.children(File.join(root, 'globals/estate/reports/web1')).sort).to eq(%w[1 3 4])
      expect(estate.statuses.get('web1')).to include('runs' => 4)
    end

    it 'does not delete a report that replaces an old one meanwhile' do
      save_ago(120)
      old = []
      estate.reports.each_old { |names, document| old << [names, document] }
      expect(old.map(&:first)).to eq([%w[web1 1]])
      5.times { |number| estate.reports.save('web1', report(number)) }

      allow(estate.reports).to receive(:each_old).and_yield(*old.first)
      expect(estate.reports.expire).to eq(0)
      expect(numbers.length).to eq(5)
    end
  end

  it 'returns the reports of some runs' do
    3.times { |number| estate.reports.save('web1', report(number)) }
    found = estate.reports.of_runs('none' => 1..1, 'web1' => 2..4)

    expect(found.transform_values { |list| list.map { |stored| stored['run'] } }).to eq('none' => [], 'web1' => [3, 2])
  end

  it 'deletes none without report_ttl' do
    estate.reports.save('web1', report(1))
    expect([estate.reports.expire, estate.reports.limit, numbers]).to eq([0, nil, [1]])
  end

  context 'with reports: 0' do
    let(:options) { { 'reports' => 0 } }

    it 'stores the status only' do
      2.times { estate.reports.save('web1', report(1)) }
      expect(estate.statuses.get('web1')['runs']).to eq(2)
      expect(estate.reports.all('web1')).to eq([])
      expect(Dir.children(File.join(root, 'globals/estate/reports'))).to eq(['.estate'])
    end
  end

  it 'replaces a status that cannot be read' do
    estate.store.put('globals/estate/status/web1', 'nothing')
    estate.reports.save('web1', report(1))
    expect(estate.statuses.get('web1')['runs']).to eq(1)
  end

  it 'deletes the reports of one node' do
    %w[web1 web2].each { |name| estate.reports.save(name, report(1)) }
    expect(estate.reports.delete('web1')).to be(true)
    expect(estate.reports.delete('web1')).to be(false)
    expect(estate.reports.latest('web1')).to be_nil
    expect(estate.reports.latest('web2')).to include('number' => 1)
  end
end
