# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/silent_proxy'

RSpec.describe 'A function call to a directory that does not answer' do
  include_context 'with slapd'

  let(:slow) { SilentProxy.new(slapd) }
  let(:silent) { SilentProxy.new(slapd) }
  let(:world) { PuppetWorld.new(hiera: { 'backends' => { 'default' => backend } }) }
  let(:backend) do
    slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slow.uri, 'write_uri' => silent.uri,
                  'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}"),
                  'operation_timeout_seconds' => 5, 'connect_timeout_seconds' => 20)
  end

  after do
    world.close
    [slow, silent].each(&:stop)
  end

  # It took up to twice as long: the look at the base entry had a time of its own. Its two searches take 4 s here.
  it 'ends in its operation timeout with the configuration of its backend, when it is the first of a catalog' do
    took = seconds do
      slow.hold(:search, seconds: 2) do
        silent.hold(:bind) do
          expect { world.call('simpkv::put', 'k', 1) }.to raise_error(RuntimeError, /timed out while binding/)
        end
      end
    end
    expect(took).to be < 8
  end

  # After the timeout of the write, another search for the key took as long again: 40 s in all with the defaults.
  it 'ends in its operation timeout when it stores a key unless it is there' do
    world.call('simpkv::put', 'other', 1)
    world.fresh_catalog
    expect(world.call('simpkv::exists', 'k')).to be(false)
    took = seconds do
      silent.hold(:search) do
        expect { world.call('simpkv::get_or_create', 'k', 1) }.to raise_error(RuntimeError, /no answer in time/)
      end
    end
    expect(took).to be < 8
  end

  it 'has the whole time again in the next call of the catalog' do
    slow.hold(:search, seconds: 1) { 4.times { expect(world.call('simpkv::exists', 'k')).to be(false) } }
  end
end
