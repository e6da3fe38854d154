# frozen_string_literal: true

require 'yaml'
require_relative '../support/compilers'
require_relative '../support/ldap_store'
require_relative '../support/mirror_mode'
require_relative '../support/suppliers'

# The pairs of docs/high-availability.md.
module Pairs
  ALL = { 'OpenLDAP' => [MirrorMode, {}], '389-DS' => [Suppliers, { ds389: true }] }.freeze

  # @yieldparam name [String]
  # @yieldparam pair [Class]
  # @yieldparam tags [Hash] of its examples
  def self.each
    ALL.each { |name, (pair, tags)| yield name, pair, { once: true, needs: :fork, **tags } }
  end
end

# Starts one pair for a group of examples, each of which has an id of its own.
RSpec.shared_context 'with a pair' do |kind|
  include Eventually

  attr_reader :pair

  before(:context) { @pair = kind.new.tap(&:start) }

  after(:context) { pair&.stop }

  let(:id) { "i#{LdapIds.next}" }
  let(:stores) { Queue.new }
  let(:first) { pair.first }
  let(:second) { pair.last }
  # A store at each server, which does not fail over.
  let(:each_store) { pair.map { |server| open_store('ldap_uri' => server.tcp_uri, 'write_uri' => server.tcp_uri) } }

  after { stores.pop.close until stores.empty? }

  # The backend of the page, with the names of this pair.
  #
  # @param more [Hash{String => Object}] options that differ
  # @return [Hash{String => Object}]
  def backend(more = {})
    options = YAML.safe_load(ServerPair::PAGE.blocks('How to configure simpkv', 'yaml').first)
    page = options.dig('simpkv::options', 'backends', 'default')
    names = { 'ldap_uri' => pair.map(&:tcp_uri), 'write_uri' => first.tcp_uri, 'admin_pw_file' => first.password_file,
              'id' => id }
    raise 'the page has no such option' unless (names.keys - page.keys).empty?

    page.merge(names, 'admin_dn' => unique_dn).merge(more)
  end

  # @return [String] the bind DN of the page, in a spelling of its own, so that each example has connections of its own
  def unique_dn
    @unique_dn ||= DirectoryServer::USER_DN.sub(',', ",#{' ' * LdapIds.next}")
  end

  # @return [Simpkv::Store]
  def open_store(more = {})
    options = Simpkv::Config.typed(backend(more), 'default')
    Simpkv::Store.open('ldap', Simpkv::LdapAccess.store_options(options)).tap { |store| stores << store }
  end

  def document(value)
    JSON.generate('value' => value)
  end

  # @return [Hash{String => Object}] the values of all keys of the environment, which both servers have
  def replicated
    trees = nil
    eventually(errors: ServerPair::Missing) do
      trees = each_store.map { |store| store.tree('environments/production')[:keys] }
      trees.uniq.one?
    end
    trees.first.transform_values { |document| JSON.parse(document)['value'] }
  end
end

# Compilers that work while servers fail.
RSpec.shared_context 'with compilers' do
  let(:folder) { Dir.mktmpdir('compilers') }
  let(:compilers) { Compilers.new(folder) }

  before { Compilers.prepare(each_store.first) && pair.settle }

  after do
    compilers.stop
    FileUtils.remove_entry(folder)
  end

  # Starts two reading compilers, one of which prefers the second server, and two writing ones.
  #
  # @param more [Hash{String => Object}] options that differ from those of the page
  # @return [void]
  def compile(more = {})
    [pair.map(&:tcp_uri), pair.map(&:tcp_uri).reverse].each do |uris|
      compilers.start(:reading, backend({ 'ldap_uri' => uris }.merge(more)))
    end
    2.times { compilers.start(:writing, backend(more)) }
    compilers.wait(reading: 5, writing: 5)
  end

  # Expects that no reading catalog failed, that both servers have what writing catalogs have stored, and that all
  # catalogs which wanted a key got the value that both servers have.
  def expect_nothing_lost
    compilers.stop
    expect(compilers.errors(:reading)).to eq([])
    written = compilers.all(:writing).flatten.reject(&:error)
    expect(written.length).to be > 10
    expect_stored(written, replicated)
  end

  # @param there [Hash{String => Object}] the values of both servers
  def expect_stored(written, there)
    expect(written.reject { |catalog| there[catalog.stored] == catalog.number }).to eq([])
    expect(written.reject { |catalog| there["shared/k#{catalog.number}"] == catalog.chosen }).to eq([])
  end
end
