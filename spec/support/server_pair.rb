# frozen_string_literal: true

require_relative 'cuttable_proxy'
require_relative 'directory_server'
require_relative 'eventually'
require_relative 'page'

# Two directory servers that replicate each other as docs/high-availability.md has it, over a network that can be cut. A
# subclass has `new_server(options)`, which makes one, `uri_of(server)`, under which the other one reaches it, and
# `configure`, which has the started servers replicate.
class ServerPair
  include Enumerable
  include Eventually

  PAGE = Page.new('high-availability.md')

  # A change has not arrived at the other server yet.
  class Missing < StandardError; end

  # Starts both servers, yields, and stops them. When the block raises, prints their logs.
  def self.run(**options)
    pair = new(**options)
    pair.start
    yield pair
  rescue Exception # rubocop:disable Lint/RescueException -- prints the logs for any exception, and re-raises
    pair&.each { |server| warn server.tail }
    raise
  ensure
    pair&.stop
  end

  # @param options [Hash] of each server
  def initialize(**options)
    @servers = Array.new(2) { new_server(**options) }
    @network = @servers.map { |server| CuttableProxy.new(uri_of(server)) }
    @markers = 0
  end

  def each(&block)
    @servers.each(&block)
  end

  # @return [DirectoryServer] the other server
  def last
    @servers.last
  end

  def start
    each(&:start)
    configure
    settle
  end

  def stop
    each(&:stop)
    @network.each(&:stop)
  end

  # Cuts the network between the servers while the block runs. Returns when each server has the changes of the other.
  def apart
    cut
    yield
  ensure
    heal
    settle
  end

  # Starts a server that was killed.
  def relaunch(server)
    server.launch
  end

  # Cuts the network between the servers.
  def cut
    @network.each(&:cut)
  end

  def heal
    @network.each(&:heal)
  end

  # Waits until each server has the changes that others have taken so far: changes arrive in their order.
  #
  # @param writable [Array<DirectoryServer>] the servers that take changes
  def settle(writable = @servers)
    markers = writable.map { "cn=marker#{@markers += 1}" }
    writable.zip(markers) do |server, name|
      server.add("dn: #{name},#{DirectoryServer::SUFFIX}\nobjectClass: organizationalRole\n")
    end
    each { |server| markers.each { |name| wait_for(server, name) } }
  end

  private

  # @return [String] the URI of the network's end at a server, behind which the other one is
  def other_of(server)
    @network.reverse[@servers.index(server)].uri
  end

  def wait_for(server, name)
    eventually(errors: Missing, within: 60) { server.search(DirectoryServer::SUFFIX, "(#{name})").any? }
  end
end
