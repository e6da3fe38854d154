# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'
require_relative '../support/silent_proxy'
require_relative '../support/sleeper'

RSpec.describe 'A function call to a directory that does not respond', :once do
  include_context 'with slapd'

  let(:slow) { SilentProxy.new(slapd) }
  let(:silent) { SilentProxy.new(slapd) }

  after { [slow, silent].each(&:stop) }

  def backend(timeout)
    slapd.options('type' => 'ldap', 'id' => id, 'ldap_uri' => slow.uri, 'write_uri' => silent.uri,
                  'admin_dn' => Slapd::USER_DN.sub(',', ",#{' ' * LdapIds.next}"),
                  'operation_timeout_seconds' => timeout, 'connect_timeout_seconds' => 60)
  end

  # Calls the block, which has more than a second to spare, and again if it fails while the machine stalls.
  #
  # @yieldparam world [PuppetWorld] a new one, with connections of its own
  def with_timeout(timeout)
    Sleeper.repeat_if_stalled(RuntimeError, RSpec::Expectations::ExpectationNotMetError) do
      world = PuppetWorld.new(hiera: { 'backends' => { 'default' => backend(timeout) } })
      yield world
    ensure
      world.close
    end
  end

  # It used to take up to twice as long, because the check of the base entry had a timeout of its own. Here the two
  # searches of the check take 3.6 s.
  it 'ends at its operation timeout, including the configuration of its backend in a new catalog' do
    with_timeout(5) do |world|
      took = seconds do
        slow.hold(:search, seconds: 1.8) do
          silent.hold(:bind) do
            expect { world.call('simpkv::put', 'k', 1) }.to raise_error(RuntimeError, /timed out while binding/)
          end
        end
      end
      expect(took).to be < 8
    end
  end

  # After the timeout of the write, another search for the key used to take as long again.
  it 'sends nothing after its operation timeout when it stores a key unless it exists' do
    with_timeout(1.5) do |world|
      world.call('simpkv::put', 'other', 1)
      world.fresh_catalog
      expect(world.call('simpkv::exists', 'k')).to be(false)
      before = silent.count(:search)
      silent.hold(:search) do
        expect { world.call('simpkv::get_or_create', 'k', 1) }.to raise_error(RuntimeError, /no answer in time/)
      end
      expect(silent.count(:search) - before).to eq(1)
    end
  end

  # The calls take 8 s together.
  it 'has the whole timeout again in the next call of the catalog' do
    with_timeout(5) do |world|
      slow.hold(:search, seconds: 0.8) { 4.times { expect(world.call('simpkv::exists', 'k')).to be(false) } }
    end
  end

  # The two searches take 1.8 s, and the deletion waits for 1.5 s.
  it 'has the whole timeout for each round trip of a deletetree, and ends with that of the first silent one' do
    with_timeout(1.5) do |world|
      world.call('simpkv::put', 'folder/k', 1)
      took = seconds do
        silent.hold(:search, seconds: 0.9) do
          silent.hold(:delete) do
            expect { world.call('simpkv::deletetree', 'folder') }.to raise_error(RuntimeError, /no answer in time/)
          end
        end
      end
      expect(took).to be_between(3, 20)
      expect(world.call('simpkv::deletetree', 'folder')).to be(true)
    end
  end
end
