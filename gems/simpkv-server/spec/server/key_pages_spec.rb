# frozen_string_literal: true

require 'simpkv/server'
require_relative '../../../../spec/support/faulty_proxy'
require_relative '../../../../spec/support/file_store'
require_relative 'server_helper'

# A page of 50 names in a folder of 100,000 keys took 7 s: the service read all of them.
RSpec.describe Simpkv::Server::Api::KeyList do
  keys = 400

  # @return [Hash] a page of names
  def page(store)
    list = described_class.new({ 'limit' => '5', 'offset' => '100' }, errors: false)
    folder = Simpkv::Server::Api::StoredKey.new(nil, store, 'globals/big', 'big')
    folder.list(list, false, recurse: false, expired: false)
  end

  define_method(:fill) do |store, size|
    names = Array.new(keys) { |number| format('globals/big/k%04d', number) }
    store.put_many(names.to_h { |name| [name, JSON.generate('value' => 'x' * size, 'metadata' => {})] })
  end

  five = { 'keys' => (100..104).to_h { |number| [format('k%04d', number), {}] }, 'folders' => [], 'next' => 'k0104',
           'total' => { 'keys' => keys, 'folders' => 0 } }

  # The calls of the system that read from files.
  def reads
    Integer(File.read('/proc/self/io')[/^syscr: (\d+)/, 1])
  end

  it 'reads the documents of its page only, of files' do
    Scratch.make('pages') do |folder|
      store = Simpkv::Store.open('file', 'root_path' => folder)
      fill(store, 10)
      before = reads
      expect(page(store)).to eq(five)
      expect(reads - before).to be < 50
      before = reads
      store.list('globals/big')
      expect(reads - before).to be >= keys # The measure sees what it has to.
    end
  end

  context 'in a directory' do
    include_context 'with slapd'

    it 'asks for names, and for the documents of its page' do
      fill(open_store, 2000)
      proxy = FaultyProxy.new(slapd.tcp_uri)
      store = open_store('ldap_uri' => proxy.uri)
      store.get('globals/big/k0000')
      all = proxy.traffic { store.list('globals/big') }
      expect(proxy.traffic { expect(page(store)).to eq(five) }.values.sum * 4).to be < all.values.sum
    ensure
      proxy&.stop
    end
  end
end
