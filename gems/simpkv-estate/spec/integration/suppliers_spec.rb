# frozen_string_literal: true

require_relative '../estate/exports_helper'
require_relative '../../../../spec/support/command'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/page'
require_relative '../../../../spec/support/suppliers'

# Each server takes the writes of one compiler, and sends them to the other.
%w[plain hex].each do |layout|
  RSpec.describe "Two suppliers of 389-DS that replicate each other, with the #{layout} layout",
                 :once, ds389: true, long: layout == 'hex' do
    include Eventually

    include_context 'with the command'

    attr_reader :suppliers

    before(:context) { @suppliers = Suppliers.new(layout: layout).tap(&:start) }

    after(:context) { suppliers&.stop }

    let(:id) { "i#{LdapIds.next}" }
    let(:sites) { suppliers.map { |server| { 'type' => 'ldap', **server.options('id' => id) } } }
    let(:backends) { { 'default' => sites.first } }
    let(:stores) { sites.map { |site| Simpkv::Store.open('ldap', site.reject { |name, _| name == 'type' }) } }
    let(:estates) { sites.map { |site| Simpkv::Estate.new({ 'backends' => { 'default' => site } }) } }

    after { stores.each(&:close) }

    def make_estate
      estates.first.make
      suppliers.settle
    end

    # A compiler at each server.
    describe 'for compilers' do
      include EstateSite

      # @return [Hash] the site that {EstateSite} configures
      def backend
        sites[@compiler || 0]
      end

      def compile_at(number, certname)
        @compiler = number
        configure
        titles(run_node(certname, "@@notify { 'of #{certname}': } Notify <<| |>>"), 'Notify').sort
      end

      it 'have what one node exports at one server for a node at the other' do
        make_estate
        expect(compile_at(0, 'web1')).to eq(['of web1'])
        suppliers.settle
        expect(compile_at(1, 'web2')).to eq(['of web1', 'of web2'])
        suppliers.settle
        expect(compile_at(0, 'web1')).to eq(['of web1', 'of web2'])
      end
    end

    def document(value)
      "{\"value\":\"#{value}\"}"
    end

    # Has both servers create a key while neither knows of the other's.
    def create_at_once(*keys)
      suppliers.apart do
        keys.each { |key| stores.each_with_index { |store, number| store.put(key, document(number)) } }
      end
    end

    # @return [Array] what the block returns for each store, once each has the other's changes
    def at_each(stores = self.stores, &block)
      suppliers.settle
      stores.map(&block)
    end

    # @return [Object] what the block returns for both stores, which has to be the same
    def at_both(stores = self.stores, &block)
      results = at_each(stores, &block)
      expect(results.uniq.length).to eq(1)
      results.first
    end

    # @return [Array<Hash>] what `simpkv status` knows of each server
    def states
      found = JSON.parse(simpkv('status', '-o', 'json', '--parts', 'servers').out)['servers']['servers']
      suppliers.map { |server| found.find { |each| each['uri'] == server.uri } }
    end

    describe 'for simpkv status' do
      let(:backends) do
        { 'default' => sites.first.merge('ldap_uri' => suppliers.map(&:uri).join(' '),
                                         'write_uri' => suppliers.first.uri) }
      end
      let(:right) { Page.new('status.md').blocks('How to let simpkv read the lag', 'ldif').first }

      it 'show a lag to an identity that may read it, which lasts while a change does not arrive' do
        expect(states.map { |state| state['lag_unknown'] }).to all(match(/nsds50ruv of 'cn=replica.* is not readable/))
        suppliers.each { |server| server.modify(right) }
        expect(states.map { |state| state['lag_seconds'] }).to eq([0, 0])
        suppliers.apart do
          sleep(1.2)
          stores.first.put('globals/lag', document(1))
          # The other one may have changed an entry of its own replication, which the first one lacks then.
          expect(states.last['lag_seconds']).to be >= 1
        end
        # It is nil while a server does not tell its state.
        lags = -> { states.map { |state| state['lag_seconds'] } }
        expect(eventually(errors: RuntimeError) { lags.call == [0, 0] }).to be(true)
      end
    end

    it 'have the exports of a node at one server for a compiler at the other' do
      make_estate
      here, there = estates
      here.exports.save('web1', { 'host' => [{ 'title' => 'web1' }] }, 'production')
      there.exports.save('web2', { 'host' => [{ 'title' => 'web2' }] }, 'production')
      hosts = at_both(estates) { |estate| estate.exports.all('host') }
      expect(hosts).to eq('web1' => [{ 'title' => 'web1' }], 'web2' => [{ 'title' => 'web2' }])
      there.exports.save('web1', {}, 'production')
      expect(at_both(estates) { |estate| estate.exports.all('host').keys }).to eq(['web2'])
    end

    # The folders are in conflict, too.
    it 'have all exports of two nodes that were the first ones at each server at once' do
      make_estate
      suppliers.apart do
        estates.each.with_index(1) do |estate, number|
          estate.exports.save("web#{number}", { 'host' => [{ 'title' => "web#{number}" }] }, 'production')
        end
      end
      expect(at_both(estates) { |estate| estate.exports.all('host').keys.sort }).to eq(%w[web1 web2])
    end

    it 'have one key, with the same document at both, after both have created it at once' do
      stores.first.put('globals/a/other', document('kept'))
      suppliers.settle
      create_at_once('globals/a/k')
      expect(suppliers.conflicts.map(&:length)).to all(be >= 1)
      kept = at_both { |store| store.get('globals/a/k') }
      expect([document(0), document(1)]).to include(kept)
      expect(at_both { |store| store.list('globals/a') })
        .to eq(keys: { 'k' => kept, 'other' => document('kept') }, folders: [], errors: {})
      expect(at_both { |store| store.tree('globals') })
        .to eq(keys: { 'a/k' => kept, 'a/other' => document('kept') }, folders: ['a'], errors: {})
      expect(simpkv!('ls', '--global', 'a')).to eq("k\nother\n")
      expect(simpkv!('find', '--global')).to eq("a/k\na/other\n")
    end

    it 'have one key for each name, and no other folder, after both have created folders and keys at once' do
      create_at_once('globals/f/g/k', 'globals/f/other')
      # Their order in a folder is the one in which a server got them.
      expect(at_both { |store| store.tree('globals')[:keys].keys.sort }).to eq(%w[f/g/k f/other])
      expect(at_both { |store| store.list('globals/f')[:folders] }).to eq(['g'])
      expect(at_both { |store| %w[f f/g f/g/k none].map { |path| store.kind("globals/#{path}") } })
        .to eq([:folder, :folder, :key, nil])
    end

    it 'have the same document for a key that both have changed at once' do
      stores.first.put('globals/a/k', document('old'))
      suppliers.settle
      create_at_once('globals/a/k')
      expect([document(0), document(1)]).to include(at_both { |store| store.get('globals/a/k') })
    end

    it 'do not show the losing document after the key is deleted' do
      create_at_once('globals/a/k')
      stores.first.delete('globals/a/k')
      expect(at_both { |store| [store.exist?('globals/a/k'), store.list('globals/a')[:keys]] }).to eq([false, {}])
      stores.last.put('globals/a/k', document('new'))
      expect(at_both { |store| store.list('globals/a')[:keys] }).to eq('k' => document('new'))
    end

    # The entries of the conflict made the folder one that could not be deleted: "others keep adding to it".
    it 'delete a folder with entries that lost a conflict' do
      folder = Simpkv::Native.dn_from_path(layout.to_sym, :folder, Ds389::BASE_DN, id, 'globals/f')
      create_at_once('globals/f/g/k', 'globals/f/k')
      expect(suppliers.conflicts.map { |names| names.grep(/,#{Regexp.escape(folder)}\z/).length }).to all(be > 1)
      expect(stores.first.deletetree('globals/f')).to be(true)
      expect(at_both { |store| [store.exist?('globals/f'), store.deletetree('globals/f')] }).to eq([false, false])
      expect(suppliers.conflicts.flatten.grep(/,#{Regexp.escape(folder)}\z/)).to eq([])
    end
  end
end
