# frozen_string_literal: true

require 'simpkv/server/tokens'
require_relative '../../../../spec/support/certificates'
require_relative '../support/described_requests'
require_relative '../support/people'
require_relative '../support/tls_visitor'
require_relative 'server_helper'

# ServiceClient compares each response with the description.
RSpec.describe 'Random requests that the description of the API allows, or nearly' do
  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--bind', 'ssl://127.0.0.1:0'

  before(:context) do
    @people = People.new.tap(&:start)
    @people.add_person('alice')
    @people.add_group('operators', %w[alice])
  end

  after(:context) { @people&.stop }

  let(:all) { { 'methods' => %w[GET POST PUT PATCH DELETE], 'paths' => ['/**'] } }
  let(:narrow) { [{ 'methods' => ['GET'], 'paths' => ['/v1/keys/app1/**', '/v1/nodes/**', '/pdb/query/v4/nodes'] }] }
  let(:certificates) { Certificates.new(Dir.mktmpdir('certificates', File.dirname(@root))) }
  let(:backends) do
    { 'default' => { 'type' => 'file', 'id' => 'spec', 'root_path' => @root }, 'people' => @people.backend }
  end
  let(:section) do
    certificate, key = certificates.issue
    { 'tls_cert' => certificate, 'tls_key' => key, 'tls_ca' => certificates.cacert, 'tokens' => 'default',
      'sign_in' => @people.section,
      'rights' => [{ 'group' => 'operators' }.merge(all), { 'certname' => 'ci.example.com' }.merge(all)] }
  end
  let(:tokens) { Simpkv::Server::Tokens.new({ 'type' => 'file' }) { store } }
  let(:visitor) { TlsVisitor.new(service, certificates.cacert) }
  let(:session) { visitor.sign_in('alice', People::PASSWORD).merge('Origin' => visitor.address) }
  let(:revoked) { token([all]).tap { |text| tokens.revoke(text[/_(\h+)_/, 1]) } }
  # By the kind of the caller: a client, and headers.
  let(:callers) do
    { root: [client, {}], local: [service.client('tcp'), {}], certificate: [certified, {}],
      session: [visitor.client, session], token: [visitor.client, { 'Authorization' => "Bearer #{token(narrow)}" }],
      revoked: [visitor.client, { 'X-Auth-Token' => revoked }], nobody: [visitor.client, {}] }
  end

  # @return [String] of root
  def token(rights)
    tokens.create(rights, maker: [:user, 'root'], expires: Time.now + 86_400).first
  end

  # @return [ServiceClient] with a certificate
  def certified
    cert, key = certificates.issue(subject: 'ci.example.com', names: nil)
    service.client('ssl', ca: certificates.cacert, cert: cert, key: key)
  end

  # Sends requests, of each kind of caller in turn.
  #
  # @return [Array<Array>] the kind of the caller, the status, and what was asked
  def answers(requests, seed)
    make_estate
    store.put('environments/production/app1/token', '{"value":"pl4nted","metadata":{}}')
    eventually(errors: RuntimeError) { client.get('/readyz').status == 200 }
    random = DescribedRequests.new(Random.new(seed))
    callers.cycle.first(requests).map { |kind, caller| [kind, *answer(random.next, *caller)] }
  end

  # @return [Array] the status, or 599 for a response that is not valid, and what was asked
  def answer(request, client, headers)
    [client.request(*request.first(3), request.last.merge(headers)).status, request]
  rescue ServiceClient::Undescribed, ServiceClient::Closed => e
    [599, request, e.message]
  end

  def expect_answers(requests, seed)
    found = answers(requests, seed)
    statuses = found.group_by(&:first).transform_values { |some| some.map { |each| each[1] }.tally.sort.to_h }
    RSpec.configuration.reporter.message("seed #{seed}: #{statuses}")
    expect(found.select { |_, status,| status >= 500 }).to eq([])
    expect(service.log).not_to match(/internal error|pl4nted|#{People::PASSWORD}/)
    expect_kinds(statuses, be > requests / 70)
  end

  # @param some [Object] matches the number of usual responses
  def expect_kinds(statuses, some)
    usual = { root: 400, certificate: 400, session: 400, local: 403, token: 403 }
    usual.each { |kind, status| expect(statuses[kind]).to include(200 => be_positive, status => some) }
    expect(statuses[:revoked].keys - [400, 401, 413, 429]).to eq([])
    expect(statuses[:nobody].keys - [400, 403, 413]).to eq([])
  end

  it 'are answered as it says to each kind of caller, and never with an error of the service' do
    expect_answers(1500, 46)
  end

  # FUZZ=100000 FUZZ_SEED=2 sends others.
  it 'are answered as it says to each kind of caller, 20,000 of them', :long do
    expect_answers(Integer(ENV.fetch('FUZZ', '20000')), Integer(ENV.fetch('FUZZ_SEED', '1')))
  end
end
