# frozen_string_literal: true

require 'set'
require_relative 'faulty_proxy'

# A proxy that stands for the network between two machines, and can be cut for as long as an example wants.
class CuttableProxy < FaultyProxy
  def initialize(uri)
    @links = Set.new
    @cut = false
    super
  end

  # Closes all connections, and each new one at once.
  def cut
    @lock.synchronize do
      @cut = true
      @links.each { |link| link.each { |socket| shut(socket) } }
    end
  end

  # Passes connections again.
  def heal
    super
    @lock.synchronize { @cut = false }
  end

  private

  def serve(client)
    @lock.synchronize { @cut } ? client.close : super
  end

  def pass(link, direction)
    @lock.synchronize do
      raise IOError, 'it is cut' if @cut

      @links << link
    end
    super
  rescue IOError, SystemCallError
    # Child processes have these sockets, too: closing them here would close no connection.
    link.each { |socket| shut(socket) }
    raise
  end

  def shut(socket)
    socket.shutdown
  rescue IOError, SystemCallError
    # It is closed already.
  end
end
