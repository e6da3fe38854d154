# frozen_string_literal: true

require 'spec_helper'
require_relative '../support/estate_files'

RSpec.describe Simpkv::Estate::Statuses do
  include_context 'with an estate in files'

  let(:options) { { 'node_ttl' => '10d' } }

  def ago(days)
    (Time.now.utc - (days * 86_400)).iso8601
  end

  def status(certname, days, estate = self.estate)
    estate.statuses.put(certname, { 'last_seen' => ago(days) })
  end

  def seen(certname, days)
    estate.inventory.update(certname) { |record| (record || {}).merge('seen' => ago(days)) }
  end

  def let_a_minute_pass
    allow(Process).to(receive(:clock_gettime).and_wrap_original { |method, *clock| method.call(*clock) + 61 })
  end

  # Counts the looks.
  def watched(statuses)
    calls = Queue.new
    statuses.define_singleton_method(:find_expired) do
      calls << true
      super()
    end
    calls
  end

  describe '#expired' do
    it 'has the nodes whose last run is older than node_ttl' do
      { 'old' => 11, 'new' => 9 }.each { |name, days| status(name, days) }
      expect(estate.statuses.expired).to eq(Set['old'])
    end

    it 'counts the later time of status and inventory' do
      { 'a' => 20, 'b' => 1, 'c' => 20 }.each { |name, days| status(name, days) }
      { 'a' => 1, 'b' => 20, 'c' => 20, 'imported' => 11, 'imported-2' => 1 }.each { |name, days| seen(name, days) }
      expect(estate.statuses.expired).to eq(Set['c', 'imported'])
    end

    it 'has no node of which no time is known' do
      estate.inventory.update('a') { { 'environment' => 'production' } }
      estate.statuses.put('b', { 'status' => 'changed' })
      expect(estate.statuses.expired).to eq(Set[])
    end

    it 'ignores documents that cannot be read, and names that cannot be keys' do
      status('old', 11)
      %w[status inventory].each { |folder| estate.store.put("globals/estate/#{folder}/broken", 's3cret') }
      estate.store.put('globals/estate/status/list', '{"value":[1],"metadata":{}}')
      seen('x', 1)
      FileUtils.cp(File.join(root, 'globals/estate/inventory/x'), File.join(root, 'globals/estate/inventory/Not A Key'))
      expect(estate.statuses.expired).to eq(Set['old'])
    end

    it 'reads few records of the inventory: those of nodes without a recent status' do
      (1..5).each do |number|
        status("web#{number}", number == 3 ? 11 : 1)
        seen("web#{number}", 12)
      end
      read = nil
      inventory = estate.inventory
      inventory.define_singleton_method(:many) { |names| super(read = names) }
      expect(estate.statuses.expired).to eq(Set['web3'])
      expect(read).to eq(%w[web3])
    end

    it 'reads at most once a minute' do
      status('old', 11)
      looks = watched(estate.statuses)
      3.times { expect(estate.statuses.expired).to eq(Set['old']) }
      status('old', 0, open_estate(options))
      expect(estate.statuses.expired).to eq(Set['old'])
      expect(looks.length).to eq(1)
      let_a_minute_pass
      expect(estate.statuses.expired).to eq(Set[])
      expect(looks.length).to eq(2)
    end

    it 'looks again after a failure' do
      statuses = estate.statuses
      statuses.define_singleton_method(:all) { raise Simpkv::UnavailableError, 'down' }
      2.times { expect { statuses.expired }.to raise_error(Simpkv::UnavailableError) }
      statuses.singleton_class.send(:remove_method, :all)
      expect(statuses.expired).to eq(Set[])
    end

    it 'returns what was found last while another thread looks' do
      status('old', 11)
      statuses = estate.statuses
      statuses.expired
      started = Queue.new
      go_on = Queue.new
      statuses.define_singleton_method(:find_expired) { (started << true) && go_on.pop && super() }
      let_a_minute_pass
      other = Thread.new { statuses.expired }
      started.pop
      expect(statuses.expired).to eq(Set['old'])
      go_on << true
      expect(other.value).to eq(Set['old'])
    end

    it 'reads nothing without node_ttl' do
      forever = open_estate
      status('old', 1000, forever)
      looks = watched(forever.statuses)
      expect(forever.statuses.expired).to eq(Set[])
      expect(looks).to be_empty
    end
  end

  # Their members had reached the caller, which failed with an error that quoted them.
  ['["s3cret"]', '"s3cret"', '{"runs":{"s3cret":1}}', '{"changes":"s3cret"}', '{"failures":["s3cret"]}',
   '{"last_seen":{"s3cret":1}}', '{"last_seen":"s3cret"}', '{"environment":["s3cret"]}',
   '{"status":["s3cret"]}'].each do |value|
    it "of the form #{value} are named and left out, and replaced by the next report" do
      estate.store.put('globals/estate/status/web1', "{\"value\":#{value},\"metadata\":{}}")
      estate.statuses.put('web2', { 'last_seen' => ago(1) })
      reason = 'it has another form than simpkv writes'
      expect { estate.statuses.get('web1') }
        .to raise_error(Simpkv::MalformedError, "'globals/estate/status/web1' cannot be read: #{reason}")
      expect { |block| estate.statuses.all(&block) }.to yield_with_args('globals/estate/status/web1', reason)
      expect(estate.statuses.all { nil }.keys).to eq(%w[web2])
      estate.reports.save('web1', 'status' => 'changed')
      expect(estate.statuses.get('web1')).to include('status' => 'changed', 'runs' => 1)
    end
  end

  # A text that was no time was shown as the time of the last run, and the node expired early, late or never.
  ['', '2026-11-23', '2026-11-23T01:02:03', '2026-11-23 01:02:03Z', "2026-11-23T01:02:03Z\n", '2026-11-23T24:02:03Z',
   '2026-13-01T01:02:03Z', '2026-02-29T01:02:03Z', '2026-11-23T01:02:03+01:00'].each do |text|
    it "with the time #{text.inspect} are named and left out, and so are records of the inventory" do
      [[estate.statuses, 'last_seen'], [estate.inventory, 'seen']].each do |documents, member|
        documents.put('web1', member => text)
        expect { |block| documents.all(&block) }
          .to yield_with_args(documents.path('web1'), 'it has another form than simpkv writes')
        expect(documents.all { nil }).to be_empty
      end
    end
  end

  it 'may have times of RFC 3339 in UTC' do
    %w[2026-11-23T01:02:03Z 2024-02-29T23:59:60Z 2026-11-23T01:02:03.456Z].each do |time|
      estate.statuses.put('web1', 'last_seen' => time)
      expect(estate.statuses.get('web1')).to eq('last_seen' => time)
    end
  end

  it 'leave an expired node out of searches until its next run' do
    estate.facts.save('web1', { 'cores' => 8 })
    estate.exports.save('web1', { 'host' => [{ 'title' => 'a' }] }, 'production')
    expect([estate.exports.all('host').keys, estate.inventory.current.keys]).to eq([%w[web1], %w[web1]])
    seen('web1', 11)
    later = open_estate(options)
    expect([later.exports.all('host'), later.inventory.current, later.facts.select(nil) { true }]).to eq([{}, {}, []])
    later.facts.save('web1', { 'cores' => 8 })
    expect(open_estate(options).exports.all('host').keys).to eq(%w[web1])
  end

  it 'are not needed for a node that saves facts only: each quarter of its lifetime renews its time' do
    seen_at = -> { estate.inventory.get('web1')['seen'] }
    estate.facts.save('web1', { 'cores' => 8 })
    expect(seen_at.call).to be > ago(0.1)
    seen('web1', 2)
    estate.facts.save('web1', { 'cores' => 8 })
    expect(seen_at.call).to be < ago(1)
    seen('web1', 3)
    estate.facts.save('web1', { 'cores' => 8 })
    expect(seen_at.call).to be > ago(0.1)
  end
end
