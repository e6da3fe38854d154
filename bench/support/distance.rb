# frozen_string_literal: true

# A directory server that is farther away than loopback: c/delay.c before it.
module Distance
  # Yields the URI of the server, whose answers take so much longer.
  #
  # @param server [DirectoryServer]
  # @param milliseconds [Numeric] what a round trip takes more
  def self.before(server, milliseconds)
    program = File.join(__dir__, '..', 'c', 'build', 'delay')
    one_way = (milliseconds * 500).round # microseconds
    IO.popen([program, server.tcp_uri[/\d+\z/], one_way.to_s], 'r+') do |proxy|
      yield "ldap://127.0.0.1:#{Integer(proxy.gets)}"
    end
  end
end
