# frozen_string_literal: true

require_relative '../support/ldap_store'
require_relative '../support/replica'

# Hides a folder from the identity of the store.
HIDDEN_FOLDER = <<~RULE
  access to dn.regex="ou=hidden,ou=w,ou=globals,.*" by dn.exact="cn=admin,dc=simp" write by * none
RULE

# OpenLDAP with content synchronization; 389-DS with persistent search, as it is installed.
[[Slapd, { more: Replica::SUPPLIER, rules: HIDDEN_FOLDER, limits: true }, { heavy: false }],
 [Ds389, { layout: 'hex', limits: true }, { heavy: true, ds389: true }]].each do |server, options, tags|
  RSpec.describe "Simpkv::Store#watch, in a directory, #{server}", **tags do
    include_context 'with a directory', server, **options

    before { store.put('globals/w/old', 'd') }

    # Watches in a thread with a store of its own, and calls the block with a queue of its changes.
    #
    # @return [Simpkv::Change] the first one
    def watching(folder, since: nil)
      seen = Queue.new
      own = open_apart
      watcher = Thread.new { own.watch(folder, since: since) { |change| seen << change } }
      watcher.report_on_exception = false
      first = seen.pop
      yield seen, watcher
      first
    ensure
      watcher&.kill&.join rescue nil # rubocop:disable Style/RescueModifier -- it may have ended with its error
    end

    # Waits until these changes have come, in any order; some may come again.
    def expect_changes(seen, *expected)
      changes = []
      changes << seen.pop.to_a.first(2) until (expected - changes).empty?
      expect(changes - expected).to eq([])
    end

    it 'yields each change, and none of another folder or environment' do
      first = watching('globals/w') do |seen|
        store.put('globals/w/new', 'd')
        store.put('globals/outside', 'd')
        store.put('environments/dev/w/k', 'd')
        store.put('globals/w/a/b', 'd')
        store.delete('globals/w/old')
        expect_changes(seen, [:put, 'new'], [:folder, 'a/'], [:put, 'a/b'], [:delete, 'old'])
      end
      expect([first.kind, first.key, first.complete]).to eq([:ready, '', true])
    end

    it 'yields what has changed while the server restarted, and ends with the folder' do
      store.put('globals/w/same', 'd')
      watching('globals/w') do |seen, watcher|
        directory.restart
        store.put('globals/w/new', 'd')
        store.delete('globals/w/old')
        # Nobody was told before that changes came late.
        expect(seen.pop.to_a.first(2)).to eq([:lost, ''])
        expect_changes(seen, [:delete, 'old'], [:put, 'new'], [:back, ''])
        store.put('globals/w/same', 'e')
        expect_changes(seen, [:put, 'same'])
        store.deletetree('globals/w')
        expect_changes(seen, [:delete, 'new'], [:delete, 'same'])
        expect { watcher.value }.to raise_error(Simpkv::NotFoundError)
      end
    end

    if server == Slapd
      it 'yields nothing of a folder that the identity may not see' do
        root = open_store('admin_dn' => Slapd::ROOT_DN)
        root.put('globals/w/hidden/before', 'd')
        watching('globals/w') do |seen|
          root.put('globals/w/hidden/k', 'd')
          root.delete('globals/w/hidden/before')
          store.put('globals/w/shown', 'd')
          expect_changes(seen, [:put, 'shown'])
        end
      end

      it 'continues from a cookie, and says that deletions are unknown' do
        cookie = watching('globals/w') { nil }.cookie
        expect(cookie).to start_with('ldap:')
        store.put('globals/w/new', 'd')
        store.delete('globals/w/old')
        seen = []
        store.watch('globals/w', since: cookie) do |change|
          seen << [change.kind, change.key, change.complete]
          break if change.kind == :ready
        end
        expect(seen).to eq([[:put, 'new', nil], [:ready, '', false]])
      end
    else
      it 'refuses a cookie' do
        cookie = 'ldap:20261126010203.000004Z#000000#000#000000'
        expect { store.watch('globals/w', since: cookie) { nil } }
          .to raise_error(Simpkv::InvalidError, /gives no cookies: that needs the overlay syncprov of OpenLDAP/)
      end
    end
  end
end

RSpec.describe 'Simpkv::Store#watch, in a directory, 389-DS with its plug-in', :ds389, :long do
  include_context 'with a directory', Ds389, limits: true

  before do
    directory.modify(<<~LDIF)
      dn: cn=Retro Changelog Plugin,cn=plugins,cn=config
      changetype: modify
      replace: nsslapd-pluginEnabled
      nsslapd-pluginEnabled: on
      -
      add: nsslapd-attribute
      nsslapd-attribute: nsuniqueid:targetUniqueId

      dn: cn=Content Synchronization,cn=plugins,cn=config
      changetype: modify
      replace: nsslapd-pluginEnabled
      nsslapd-pluginEnabled: on
    LDIF
    directory.restart
  end

  it 'yields changes by content synchronization' do
    expect(store.directory.read_entry('', %w[supportedControl]).values.flatten).to include('1.3.6.1.4.1.4203.1.9.1.1')
    store.put('globals/w/old', 'd')
    seen = []
    store.watch('globals/w') do |change|
      seen << [change.kind, change.key, change.cookie]
      store.put('globals/w/a/new', 'd') if change.kind == :ready
      store.delete('globals/w/old') if change.kind == :put
      break if change.kind == :delete
    end
    expect(seen).to eq([[:ready, '', ''], [:folder, 'a/', ''], [:put, 'a/new', ''], [:delete, 'old', '']])
  end
end
