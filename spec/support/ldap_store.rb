# frozen_string_literal: true

require_relative 'ds389'
require_relative 'slapd'

# The servers and layouts of examples that run over several of them. `--tag ~ds389` starts no 389-DS.
module Directories
  # Each as [server, layout, tags]. The core hides their differences from the bindings: the extension runs all of them,
  # the other bindings run one. `bin/test all` has each server and each layout once, and `bin/test long` the other
  # pairs: both servers get the DNs and entries of a layout from the same code.
  ALL = [Slapd, Ds389].product(%w[plain hex]).map do |server, layout|
    [server, layout, { heavy: [server, layout] != [Slapd, 'plain'], ds389: server == Ds389,
                       long: ![[Slapd, 'plain'], [Ds389, 'hex']].include?([server, layout]) }]
  end

  # @yieldparam server [Class]
  # @yieldparam tags [Hash] of its examples
  def self.each_server
    [Slapd, Ds389].each { |server| yield server, { ds389: server == Ds389 } }
  end
end

# Starts one server for a group of examples, and opens stores on it, each with its own id.
#
#   include_context 'with a directory', Ds389, layout: 'hex'
RSpec.shared_context 'with a directory' do |server, **server_options|
  attr_reader :directory

  before(:context) do
    @directory = server.new(**server_options)
    @directory.start
  end

  after(:context) { @directory&.stop }

  let(:id) { "i#{LdapIds.next}" }
  # Threads open stores, too.
  let(:stores) { Queue.new }
  let(:store) { open_store }

  after { stores.pop.close until stores.empty? }

  # @param more [Hash{String => Object}] options that differ from those of the server
  # @return [Simpkv::Store]
  def open_store(more = {})
    Simpkv::Store.open('ldap', directory.options({ 'id' => id }.merge(more))).tap { |store| stores << store }
  end

  # @return [Simpkv::Store] a store with its own connections
  def open_apart(more = {})
    open_store({ 'admin_dn' => DirectoryServer::USER_DN.sub(',', ",#{' ' * LdapIds.next}") }.merge(more))
  end

  # @return [String] the DN of a key, or of a folder
  def dn(path, kind = :key)
    Simpkv::Native.dn_from_path(directory.layout.to_sym, kind, DirectoryServer::BASE_DN, id, path)
  end

  # @return [Array<String>] the connections that this process has open
  def sockets
    Dir['/proc/self/fd/*'].map { |file| File.symlink?(file) && File.readlink(file) }.grep(/socket/)
  rescue Errno::ENOENT # A connection was closed meanwhile.
    retry
  end

  # @return [Float] the seconds that the block took
  def seconds
    before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
  end
end

# The same, with an OpenLDAP server.
RSpec.shared_context 'with slapd' do |**server_options|
  include_context 'with a directory', Slapd, **server_options

  def slapd
    directory
  end
end

# Each example has its own instance, or one for each of its threads.
module LdapIds
  @last = 0
  @lock = Mutex.new

  def self.next
    @lock.synchronize { @last += 1 }
  end
end
