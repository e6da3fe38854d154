# frozen_string_literal: true

require 'simpkv/server/history'

RSpec.describe Simpkv::Server::History do
  let(:history) { described_class.new }
  let(:now) { Time.utc(2026, 11, 29, 12, 5) }

  def server(latency, lag = nil, **more)
    { 'backend' => 'default', 'uri' => 'ldap://a', 'state' => 'up', 'latency_ms' => latency, 'lag_seconds' => lag }
      .merge(more.transform_keys(&:to_s))
  end

  def samples(at = now)
    history.report(at) { true }.fetch('servers').first&.fetch('samples')
  end

  it 'has the highest values of each quarter of an hour within a day, and whether a server did not answer' do
    history.note([server(1, 5)], 2, now - 900)
    history.note([server(3, 1)], 7, now - 880)
    history.note([server(nil, nil, state: 'down')], nil, now)
    expect(samples.last(3)).to eq([nil, { 'latency_ms' => 3, 'lag_seconds' => 5, 'down' => false },
                                   { 'latency_ms' => nil, 'lag_seconds' => nil, 'down' => true }])
    expect(history.report(now) { true }).to include('begin' => '2026-11-28T12:15:00Z', 'seconds' => 900,
                                                    'index' => [*[nil] * 94, 7, nil])
    expect(samples.length).to eq(96)
  end

  it 'forgets what is older than a day, and servers that are gone' do
    history.note([server(1)], 1, now)
    history.note([], nil, now + 86_399)
    expect(samples(now + 86_399)).to be_nil
  end

  it 'has only the backends that the caller may know' do
    history.note([server(1), server(2, backend: 'other')], 1, now)
    found = history.report(now) { |backend| backend == 'other' }['servers']
    expect(found.map { |each| each['backend'] }).to eq(%w[other])
  end
end
