# frozen_string_literal: true

require 'uri'
require_relative 'ds389'
require_relative 'server_pair'

# Two 389 Directory Servers that docs/high-availability.md makes a pair: each takes writes, and sends them to the other.
#
#   Suppliers.run { |suppliers| suppliers.each { |server| Simpkv::Store.open('ldap', server.options('id' => 'x')) } }
class Suppliers < ServerPair
  HEADING = 'How to make a pair of 389 Directory Server'

  # A server whose data can be lost, or saved and restored.
  class Server < Ds389
    # Loses the data, as with a broken disk. The server is down.
    def lose_data
      FileUtils.rm_r(Dir[File.join(@folder, 'db', '*')])
    end

    # Saves all entries with the state of replication. The server is down.
    #
    # @return [String] the file
    def save
      File.join(@folder, 'ldif', 'backup.ldif').tap do |file|
        execute(PROGRAM, 'db2ldif', '-D', @folder, '-r', '-n', BACKEND, '-a', file)
      end
    end

    # The server is down.
    #
    # @param file [String]
    def restore(file)
      execute(PROGRAM, 'ldif2db', '-D', @folder, '-n', BACKEND, '-i', file)
    end
  end

  # @return [Array<Array<String>>] for each server, the DNs of the entries that lost a conflict
  def conflicts
    map do |server|
      server.search(DirectoryServer::SUFFIX, '(&(nsds5ReplConflict=*)(|(objectClass=*)(objectClass=ldapsubentry)))')
    end
  end

  # Starts a server that was killed, as the page says: not in the second of its last change. 389-DS would number later
  # changes like those before, and its peer would take them for the changes that it has.
  def relaunch(server)
    killed = Time.now.to_i
    eventually(errors: Missing) { Time.now.to_i > killed + 1 }
    super
  end

  # Has a server refuse the writes of clients, or take them again, as the page does.
  def read_only(server, state)
    block = PAGE.blocks('How to move writes back', 'ldif').last
    server.modify(block.sub('userRoot', Ds389::BACKEND).sub(/on$/, state ? 'on' : 'off'))
  end

  # Starts a server that has lost its data, and has the other one send all of them, as the page does.
  def recover(server)
    relaunch(server)
    send_all(find { |each| each != server }, 'If the disk of a server is lost')
  end

  private

  def new_server(**options)
    Server.new(**options)
  end

  def uri_of(server)
    server.tcp_uri
  end

  def configure
    supplier, = PAGE.blocks(HEADING, 'ldif')
    each.with_index(1) do |server, number|
      server.add(with_names(supplier, server).sub('nsDS5ReplicaId: 1', "nsDS5ReplicaId: #{number}"))
    end
    send_all(first, HEADING)
  end

  def with_names(block, server)
    names = { 'nsDS5ReplicaHost: ldap2.example.com' => 'nsDS5ReplicaHost: 127.0.0.1',
              'nsDS5ReplicaPort: 636' => "nsDS5ReplicaPort: #{URI(other_of(server)).port}",
              'nsDS5ReplicaTransportInfo: LDAPS' => 'nsDS5ReplicaTransportInfo: LDAP',
              'REPLICATION_PASSWORD' => DirectoryServer::PASSWORD }
    block.gsub(Regexp.union(names.keys), names)
  end

  # Replaces the data of the other server by those of this one.
  def send_all(server, heading)
    refresh = PAGE.blocks(heading, 'ldif').last
    agreement = refresh[/^dn: (.*)/, 1]
    server.modify(refresh)
    eventually(errors: Missing, within: 60) do
      state = server.entry(agreement, 'nsds5BeginReplicaRefresh', 'nsds5replicaLastInitStatus')
      status = state.fetch('nsds5replicaLastInitStatus', []).first
      raise "the other server was not initialized: #{status}" if status && !status.start_with?('Error (0)')

      status && !state.key?('nsds5BeginReplicaRefresh')
    end
  end
end
