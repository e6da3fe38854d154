# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/silent_proxy'

RSpec.describe 'The advice on a missing key of a directory', :once do
  include_context 'with slapd'

  let(:proxy) { SilentProxy.new(slapd) }
  let(:options) { { 'backends' => { 'default' => backend } } }
  let(:backend) do
    slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => proxy.uri, 'operation_timeout_seconds' => 60)
  end
  let!(:world) { PuppetWorld.new(hiera: options) }

  before { world.call('simpkv::put', 'app1/password', 'x') }

  after do
    world.close
    proxy.stop
  end

  def failure(key)
    world.call('simpkv::get', key)
    raise 'there is no error'
  rescue RuntimeError => e
    e.message
  end

  # @return [Integer] the number of searches that the block causes
  def searches
    before = proxy.count(:search)
    yield
    proxy.count(:search) - before
  end

  it 'has the similar name, and costs no request of a call that succeeds' do
    expect(failure('app1/passwort')).to match(
      %r{Key not found: '.*' \(ldap:.*\)\. There is no 'app1/passwort', but 'app1/password'\. To get a value}
    )
    expect(searches { world.call('simpkv::get', 'app1/password') }).to eq(1)
    missing = searches { world.call('simpkv::get', 'app1/passwort', 'default' => 1) }
    10.times { failure('app1/passwort') }
    # The catalog looks for no more names.
    expect(searches { failure('app1/passwort') }).to eq(missing)
  end

  # The advice must not wait for the time of an operation, nor hide the error.
  it 'is left out if the server stops to answer, and so is that of the next calls' do
    missing = searches { world.call('simpkv::get', 'app1/passwort', 'default' => 1) }
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    proxy.hold(:search, after: missing) do
      expect(failure('app1/passwort')).to match(/Key not found: .*\)\. To get a value/)
    end
    expect(Process.clock_gettime(Process::CLOCK_MONOTONIC) - began).to be < 30
    expect(failure('app1/passwort')).to match(/Key not found: .*\)\. To get a value/)
  end
end
