# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/silent_proxy'

RSpec.describe 'A function call to a directory that does not respond', :once do
  include_context 'with slapd'

  let(:timeout) { 5 }
  let(:slow) { SilentProxy.new(slapd) }
  let(:silent) { SilentProxy.new(slapd) }
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:backend) do
    slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slow.uri, 'write_uri' => silent.uri,
                  'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}"),
                  'operation_timeout_seconds' => timeout, 'connect_timeout_seconds' => 60)
  end

  after do
    world.close
    [slow, silent].each(&:stop)
  end

  # It used to take up to twice as long, because the check of the base entry had a timeout of its own. Here the two
  # searches of the check take 4.8 s.
  it 'ends at its operation timeout, including the configuration of its backend in a new catalog' do
    took = seconds do
      slow.hold(:search, seconds: 2.4) do
        silent.hold(:bind) do
          expect { world.call('simpkv::put', 'k', 1) }.to raise_error(RuntimeError, /timed out while binding/)
        end
      end
    end
    expect(took).to be < 9.5
  end

  # After the timeout of the write, another search for the key used to take as long again.
  it 'sends nothing after its operation timeout when it stores a key unless it exists' do
    backend.update('operation_timeout_seconds' => 1.5)
    world.call('simpkv::put', 'other', 1)
    world.fresh_catalog
    expect(world.call('simpkv::exists', 'k')).to be(false)
    before = silent.count(:search)
    silent.hold(:search) do
      expect { world.call('simpkv::get_or_create', 'k', 1) }.to raise_error(RuntimeError, /no answer in time/)
    end
    expect(silent.count(:search) - before).to eq(1)
  end

  it 'has the whole timeout again in the next call of the catalog' do
    slow.hold(:search, seconds: 1) { 4.times { expect(world.call('simpkv::exists', 'k')).to be(false) } }
  end
end
