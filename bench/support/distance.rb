# frozen_string_literal: true

# A distance from a directory server: the proxy c/delay.c delays requests and responses.
module Distance
  # Yields the URI of the proxy.
  #
  # @param server [DirectoryServer]
  # @param milliseconds [Numeric] the additional time of a round trip
  def self.before(server, milliseconds)
    program = File.join(__dir__, '..', 'c', 'build', 'delay')
    one_way = (milliseconds * 500).round # microseconds
    IO.popen([program, server.tcp_uri[/\d+\z/], one_way.to_s], 'r+') do |proxy|
      yield "ldap://127.0.0.1:#{Integer(proxy.gets)}"
    end
  end
end
