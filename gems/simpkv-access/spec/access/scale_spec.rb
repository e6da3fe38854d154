# frozen_string_literal: true

require_relative '../support/access_site'
require_relative '../../../../spec/support/ldap_store'

RSpec.describe 'Access control of a large site', needs: :cext, once: true, heavy: true do
  before(:context) do
    @access = AccessDirectory.new(Slapd, 'hex')
    @access.start
    @site = AccessSite.new(@access, users: 1000, roles: 200, bindings: 2000)
    @site.apply
  end

  after(:context) { @access&.stop }

  # @return [Array] the result of the block, the seconds that it takes, and the requests of each kind meanwhile
  def measured(*requests)
    before = requests.map { |request| @access.server.count_in_log(request) }
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    result = yield
    seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
    [result, seconds, *requests.zip(before).map { |request, count| @access.server.count_in_log(request) - count }]
  end

  it 'is planned without a request for each user' do
    plan, seconds, searches, binds = measured(' SRCH base=', ' BIND dn=') { @site.plan }
    expect([plan.steps, plan.conflicts]).to eq([[], []])
    expect([plan.state.users.length, plan.state.bindings.length]).to eq([1000, 2000])
    # One for the folder of each role; the lists have pages of 500 entries.
    expect(searches).to be_between(200, 260)
    expect([binds, seconds]).to match([0, a_value < 60])
  end

  it 'is compared object by object, as a catalog does, without a request for each' do
    steps, seconds, searches, binds = measured(' SRCH base=', ' BIND dn=') do
      reconciler = @site.reconciler
      %w[users roles bindings].sum do |section|
        names = @site.declarations.public_send(section).keys
        names.sum { |name| reconciler.plan(only: [section, name]).steps.length }
      end
    end
    expect(searches).to be_between(200, 260)
    expect([steps, binds, seconds]).to match([0, 0, a_value < 60])
  end

  it 'is mended in a few requests' do
    @access.root.directory.modify_entry(@access.role_dn('r7'), [[:delete, 'member', [@access.user_dn('u7')]]])
    @access.root.directory.delete_entry(@access.user_dn('u8'))
    plan, seconds, changes = measured(' MOD dn=') { @site.apply }
    expect([plan.steps, changes < 20, seconds]).to match([[], true, a_value < 60])
    expect(@access.store('u7').put('environments/e7/key', '{"value":1}')).to be(true)
    expect(@access.store('u8').list('environments/e8')).to eq(keys: {}, folders: [], errors: {})
  end
end
