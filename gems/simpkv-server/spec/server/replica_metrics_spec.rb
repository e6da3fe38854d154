# frozen_string_literal: true

require 'stringio'
require_relative '../../../../spec/support/replica'
require_relative 'server_helper'

RSpec.describe 'The metrics of replicas' do
  include_context 'with slapd', more: Replica::SUPPLIER
  include_context 'with a service'

  let(:supplier) { open_store }
  let(:store) { supplier }
  let(:section) { { 'compare_replicas_seconds' => 1 } }
  let(:backends) do
    { 'default' => directory.options('type' => 'ldap', 'id' => id, 'write_uri' => directory.uri,
                                     'ldap_uri' => "#{@replica.uri} #{directory.uri}") }
  end

  around do |example|
    Replica.run(directory, follows: false) do |server|
      @replica = server
      example.run
    end
  end

  # @return [Hash{String => String}] the metrics of the replica, by the end of the name and the last label
  def metrics
    found = client.get('/metrics').body.scan(/^simpkv_replica_(\w+)\{(.*)\} (.*)$/)
    found.to_h do |name, labels, value|
      expect(labels).to start_with(%(backend="default",server="#{@replica.uri}"))
      [[name, labels[/kind="(\w+)"/, 1]].compact.join(' '), value]
    end
  end

  def replicated(key)
    copy = Simpkv::Store.open('ldap', @replica.options('id' => id))
    @replica.restart
    eventually { copy.get(key) }
  ensure
    copy&.close
  end

  it 'count the keys that differ, and say so when a server cannot be compared' do
    %w[changed deleted same].each { |name| supplier.put("globals/#{name}", '{"value":1}') }
    replicated('globals/same')
    none = { 'comparison_success' => '1.0', 'differing_keys missing' => '0.0', 'differing_keys different' => '0.0',
             'differing_keys surplus' => '0.0' }
    eventually(errors: RuntimeError) { metrics > none }
    supplier.put('globals/changed', '{"value":2}')
    supplier.put('globals/added1', '{"value":2}')
    supplier.put('globals/added2', '{"value":2}')
    supplier.delete('globals/deleted')
    eventually(errors: RuntimeError) do
      metrics > { 'differing_keys missing' => '2.0', 'differing_keys different' => '1.0',
                  'differing_keys surplus' => '1.0' }
    end
    time = Integer(metrics['comparison_timestamp_seconds'].to_f)
    expect(time).to be_within(60).of(Time.now.to_i)
    @replica.stop_serving
    eventually(errors: RuntimeError) { metrics['comparison_success'] == '0.0' }
    expect(metrics).to include('differing_keys missing' => '2.0', 'comparison_timestamp_seconds' => a_kind_of(String))
    eventually(errors: RuntimeError) { service.log.include?('the servers cannot be compared') }
  end
end

RSpec.describe 'The comparison of replicas' do
  before { require 'simpkv/server' }

  it 'goes on after an error, counts it, and shows no message of an unexpected one' do
    log = StringIO.new
    site = instance_double(Simpkv::Server::Site)
    names = [-> { raise 'pl4nted' }, -> { raise Simpkv::ConfigError, 'wrong' }, -> { ['default'] }]
    allow(site).to receive(:backend_names) { names.length > 1 ? names.shift.call : names.first.call }
    allow(site).to receive(:backend).and_raise(KeyError, 'pl4nted')
    lines = Simpkv::Server::Log.new(log)
    watch = Simpkv::Server::ReplicaWatch.new(site, 0.01, lines)
    thread = watch.start
    thread.report_on_exception = false
    eventually(errors: RuntimeError) { watch.text[/^simpkv_replica_errors_total (.*)/, 1].to_f > 3 }
    expect(thread).to be_alive
    lines.close
    expect(log.string.lines.first(3)).to match([/backends: .*RuntimeError/, /backends: .*wrong/, /default: .*KeyError/])
    expect(log.string).not_to include('pl4nted')
  ensure
    thread&.kill&.join
  end
end
