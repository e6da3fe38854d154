# frozen_string_literal: true

require 'simpkv/server/rights'
require_relative 'server_helper'

RSpec.describe 'The work of clients' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  # Seconds: /healthz took ten.
  healthy = 5

  let(:section) { { 'query_seconds' => 2 } }
  let(:estate) { Simpkv::Estate.new(options) }

  before do
    make_estate
    estate.statuses.put("#{'a' * 60}b", 'status' => 'failed', 'last_seen' => '2026-11-25T10:00:00Z')
  end

  # Sends 20 requests at once, and /healthz meanwhile.
  #
  # @return [Array(Array<Integer>, Float)] their statuses, and the longest time of a response of /healthz
  def beside(&request)
    service.client
    requests = Array.new(20) { Thread.new { request.call.status } }
    times = []
    times << seconds { expect(service.client('tcp').get('/healthz').status).to eq(200) } while requests.any?(&:alive?)
    [requests.map(&:value), times.max]
  end

  def seconds
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  end

  # Ruby's lock was theirs, and all threads.
  it 'with regular expressions of filters keeps nobody waiting' do
    statuses, longest = beside { client.get('/v1/nodes?filter=name~%5E(a%7Ca%7Caa)*%24') }
    expect([statuses.uniq.sort, longest]).to match([[400, 503], be < healthy])
    expect(client.get('/v1/nodes?filter=name~%5Ea').data['nodes'].length).to eq(1)
  end

  it 'with regular expressions of rules keeps nobody waiting' do
    slow = { 'op' => 'contains', 'args' => ['x', '(?i)[^\x{{100}}-\x{{10ffff}}]' * 100] }
    rules = Array.new(14) { { 'conditions' => [slow] * 10, 'actions' => [refuse] } }
    body = JSON.generate('facts' => {}, 'name' => 'web1', 'rules' => rules)
    statuses, longest = beside { client.post('/v1/inspection_rules/test', body) }
    expect([statuses - [400, 503], longest]).to match([[], be < healthy])
  end

  it 'with rules and filters is not done in the process of the service' do
    expect(workers).to eq([])
    client.get('/v1/nodes')
    client.get('/healthz')
    expect(workers).to eq([])
    client.get('/v1/nodes?filter=status%3Dfailed')
    expect(workers.length).to eq(1)
    workers.each { |pid| Process.kill(:STOP, pid) }
    expect(client.post('/v1/inspection_rules', 'actions' => [refuse]))
      .to have_attributes(status: 400, detail: include('query_seconds'))
  end

  # @return [Hash] an action
  def refuse
    { 'op' => 'fail', 'args' => ['no'] }
  end

  # @return [Array<Integer>] the process IDs of the workers
  def workers
    Dir.glob("/proc/#{service.pid}/task/*/children").flat_map { |file| File.read(file).split.map(&:to_i) }
  end

  context 'without queries' do
    let(:section) { { 'query_workers' => 0 } }

    it 'is done all the same' do
      expect(client.get('/v1/nodes?filter=name~%5Ea').data['nodes'].length).to eq(1)
      expect(client.get('/v1/nodes?filter=name~(').status).to eq(400)
      body = { 'facts' => {}, 'name' => 'w', 'rules' => [{ 'actions' => [refuse] }] }
      tested = client.post('/v1/inspection_rules/test', body)
      expect(tested.data['failed']).to include('msg' => 'no')
      expect(service.terminate).to eq(0)
    end
  end

  # Each copy doubled the rule: 40 operations needed more memory than there is.
  it 'with a patch that copies a rule into itself is refused' do
    uuid = client.post('/v1/inspection_rules', 'actions' => [refuse]).data['uuid']
    patch = Array.new(60) { { 'op' => 'copy', 'from' => '/actions', 'path' => '/actions/-' } }
    expect(client.patch("/v1/inspection_rules/#{uuid}", patch))
      .to have_attributes(status: 400, detail: include('copies more than 1 MiB'))
  end
end

RSpec.describe Simpkv::Server::Rights do
  it 'needs no longer for a path that nearly fits several stars' do
    require 'simpkv/server'
    rights = described_class.new([{ 'user' => 'x', 'methods' => ['GET'], 'paths' => ["/v1/keys/#{'*a' * 8}*b"] }])
    caller = Simpkv::Server::Caller.new(:user, 'x', 99_999)
    Timeout.timeout(20) { expect(rights.allow?(caller, 'GET', "/v1/keys/#{'a' * 8000}")).to be(false) }
    expect(rights.allow?(caller, 'GET', "/v1/keys/#{'a' * 8}b")).to be(true)
  end
end
