# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'openssl'
require 'tmpdir'
require_relative '../../../../spec/support/certificates'
require_relative 'server_helper'

RSpec.describe 'The metrics of the service' do
  include_context 'with slapd'
  include_context 'with a service'

  let(:backends) { { 'default' => directory.options('type' => 'ldap', 'id' => id) } }
  let(:store) { open_store }

  # @return [Hash{String => Float}] by name with labels
  def metrics
    client.get('/metrics').body.lines.grep_v(/^#/).to_h do |line|
      name, value = line.chomp.rpartition(' ').values_at(0, 2)
      [name, Float(value)]
    end
  end

  before { make_estate }

  it 'count requests, errors and connections' do
    client.put('/v1/keys/a', 'value' => 1)
    client.get('/v1/keys/b')
    client.get('/v1/keys/%2e')
    client.request('BREW', '/')
    expect(metrics).to include(
      'simpkv_http_requests_total{route="/v1/keys/{path}",method="PUT",status="201"}' => 1,
      'simpkv_http_requests_total{route="/v1/keys/{path}",method="GET",status="404"}' => 1,
      'simpkv_http_requests_total{route="other",method="GET",status="400"}' => 1
    )
    expect(metrics.keys).to include(match(/\Asimpkv_operations_total\{.*operation="put"/),
                                    match(/\Asimpkv_pool_connections\{.*state="idle"/),
                                    match(/\Asimpkv_server_up\{/))
  end

  it 'count nodes by status, and keys that expire soon' do
    Simpkv::Estate.new(options).statuses.put('web1', 'last_seen' => '2026-11-25T10:00:00Z', 'status' => 'failed',
                                                     'changes' => 0, 'failures' => 1)
    client.put('/v1/keys/a', 'value' => 1, 'expires_after' => '1d')
    expect(metrics).to include('simpkv_nodes{status="failed"}' => 1, 'simpkv_keys_expiring{backend="default"}' => 1,
                               'simpkv_site_readable' => 1,
                               'simpkv_last_run_timestamp_seconds{status="failed"}' => Time.utc(2026, 11, 25, 10).to_i)
  end

  it 'count nodes by the outcome of their inspection, and say when it was new' do
    estate = Simpkv::Estate.new(options)
    estate.inspections.put('old', 'rules' => [], 'record' => {})
    client.post('/v1/nodes/web1/inspection', 'hostname' => 'web1')
    client.post('/v1/inspection_rules', 'actions' => [{ 'op' => 'fail', 'args' => ['unknown'] }])
    began = Time.now.to_i
    %w[web2 web3].each { |name| client.post("/v1/nodes/#{name}/inspection", 'hostname' => name) }
    found = metrics
    expect(found).to include('simpkv_inspections{outcome="accepted"}' => 2, 'simpkv_site_readable' => 1,
                             'simpkv_inspections{outcome="refused"}' => 2, 'simpkv_inspections{outcome="error"}' => 0)
    expect(found['simpkv_inspection_changed_timestamp_seconds{outcome="refused"}']).to be_between(began, Time.now.to_i)
    expect(found).not_to include('simpkv_inspection_changed_timestamp_seconds{outcome="error"}')
  end

  it 'have the counters of compilers, which they store with a report' do
    with = options.merge('estate' => { 'compiler_counters' => true })
    2.times { Simpkv::Estate.new(with).reports.save('web1', 'status' => 'changed') }
    host = Socket.gethostname.downcase
    expect(metrics.keys).to include(match(/\Asimpkv_operations_total\{compiler="#{host}",.*operation="put"/),
                                    match(/\Asimpkv_operations_total\{compiler="",.*operation="put"/),
                                    %(simpkv_compiler_counters_timestamp_seconds{compiler="#{host}"}))
  end

  it 'follow the conventions of Prometheus' do
    client.get('/v1/keys/b')
    out, status = Open3.capture2e('promtool', 'check', 'metrics', stdin_data: client.get('/metrics').body)
    expect([out, status.exitstatus]).to eq(['', 0])
  end

  context 'with TLS' do
    include_context 'with a service', '--bind', 'ssl://127.0.0.1:0'
    let(:certificates) { @certificates ||= Certificates.new(Dir.mktmpdir('ca')) }
    let(:section) do
      cert, key = certificates.issue('127.0.0.1', days: 30)
      { 'tls_cert' => cert, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'tls_crl' => certificates.revoke }
    end

    after { FileUtils.rm_rf(File.dirname(certificates.cacert)) }

    it 'say when the certificate, its CA and the revocation list are not valid any more' do
      ends = 'simpkv_service_certificate_expiry_timestamp_seconds'
      own, authority = [section['tls_cert'], section['tls_ca']].map do |file|
        OpenSSL::X509::Certificate.new(File.read(file)).not_after.to_i
      end
      list = OpenSSL::X509::CRL.new(File.read(section['tls_crl'])).next_update.to_i
      expect(metrics).to include(
        %(#{ends}{option="tls_cert",subject="CN=simpkv test 127.0.0.1"}) => own,
        %(#{ends}{option="tls_ca",subject="CN=simpkv test CA"}) => authority,
        'simpkv_service_crl_next_update_timestamp_seconds{issuer="CN=simpkv test CA"}' => list
      )
    end
  end

  describe 'about the site' do
    let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } } }
    let(:store) { Simpkv::Store.open('file', 'root_path' => @root) }
    let(:metrics) { Simpkv::Server::SiteMetrics.new }
    let(:caller) { Simpkv::Server::Caller.new(:user, 'root', 0) }
    # A thread that reads the store says so, and waits.
    let(:reads) { Queue.new }
    let(:answers) { Queue.new }
    let(:site) do
      require 'simpkv/server'
      allow(Simpkv::Status::Metrics).to receive(:new).and_wrap_original do |original, *arguments|
        reads << true
        answers.pop
        original.call(*arguments)
      end
      Simpkv::Server::Site.new(options, nil, ->(_) {})
    end

    # @return [Thread] its value is the page, or the status of a problem
    def asked
      Thread.new do
        metrics.text(site, caller)
      rescue Simpkv::Server::Problem => e
        e.status
      end
    end

    # @return [String, Integer] what a thread gets while another one reads
    def meanwhile
      first = asked
      reads.pop
      second = asked
      waits = second.join(10).nil?
      answers << true
      first.join
      waits ? raise('it waits') : second.value
    ensure
      answers << true if waits
    end

    # A directory that did not answer held all threads, so that /healthz waited, too.
    it 'are read by one thread, while others get the last ones, or an error if there are none' do
      site
      expect(meanwhile).to eq(503)
      page = metrics.text(site, caller)
      expect(page).to include('simpkv_site_readable 1.0')
      later = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 61
      allow(Process).to receive(:clock_gettime).and_return(later)
      expect(meanwhile).to eq(page)
      expect(reads).to be_empty
    end
  end

  context 'with a store in files' do
    let(:backends) { { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root } } }
    let(:store) { Simpkv::Store.open('file', 'root_path' => @root) }

    it 'do not count a part of the keys if one cannot be read' do
      client.put('/v1/keys/a', 'value' => 1, 'expires_after' => '1d')
      File.mkfifo(File.join(@root, 'environments/production/pipe'))
      expect(metrics).to include('simpkv_site_readable' => 0)
      expect(metrics.keys.grep(/keys_expiring/)).to eq([])
    end

    # The answer was 500, without any metric.
    it 'leave out counters of compilers that are none' do
      make_estate
      Simpkv::Estate.new(options).counters.put('web1', 'time' => Time.now.utc.iso8601,
                                                       'pools' => [{ 'servers' => [7] }])
      expect(metrics).to include('simpkv_site_readable' => 0, 'simpkv_nodes_unseen' => 0)
    end

    # The answer was 500, without any metric.
    it 'leave out an outcome of an inspection whose time is none' do
      ['soon', 7].each_with_index do |time, number|
        Simpkv::Estate.new(options).inspections.put("web#{number}", 'rules' => [], 'record' => {}, 'changed_at' => time)
      end
      expect(metrics).to include('simpkv_site_readable' => 0, 'simpkv_inspections{outcome="accepted"}' => 0)
    end
  end
end
