# frozen_string_literal: true

require_relative 'ds389'
require_relative 'eventually'

# Two 389 Directory Servers that replicate each other: each takes writes, and sends them to the other.
#
#   Suppliers.run { |suppliers| suppliers.each { |server| Simpkv::Store.open('ldap', server.options('id' => 'x')) } }
class Suppliers
  include Enumerable
  include Eventually

  MANAGER = 'cn=replication manager,cn=config'
  REPLICA = "cn=replica,cn=#{DirectoryServer::SUFFIX.sub('=', '\\\\3D')},cn=mapping tree,cn=config"
  AGREEMENT = "cn=other,#{REPLICA}"

  # A change has not arrived at the other server yet.
  class Missing < StandardError; end

  # Starts both servers, yields, and stops them. When the block raises, prints their logs.
  def self.run(**options)
    suppliers = new(**options)
    suppliers.start
    yield suppliers
  rescue Exception # rubocop:disable Lint/RescueException -- prints the logs for any exception, and re-raises
    suppliers&.each { |server| warn server.tail }
    raise
  ensure
    suppliers&.stop
  end

  # @param options [Hash] as for Ds389
  def initialize(**options)
    @servers = Array.new(2) { Ds389.new(**options) }
    @markers = 0
  end

  def each(&block)
    @servers.each(&block)
  end

  def start
    each(&:start)
    each.with_index(1) { |server, number| make_supplier(server, number) }
    @servers.permutation { |server, other| connect(server, other) }
    send_all(*@servers)
  end

  def stop
    each(&:stop)
  end

  # Stops replication while the block runs. Returns when each server has the changes of the other.
  def apart
    replicate('off')
    yield
  ensure
    replicate('on')
    settle
  end

  # Waits until each server has the changes that the other has taken so far: changes arrive in their order.
  def settle
    name = "cn=marker#{@markers += 1}"
    each.with_index do |server, from|
      server.add("dn: #{name}-#{from},#{DirectoryServer::SUFFIX}\nobjectClass: organizationalRole\n")
    end
    each do |server|
      @servers.each_index { |from| wait_for(server, "#{name}-#{from},#{DirectoryServer::SUFFIX}") }
    end
  end

  # @return [Array<Array<String>>] for each server, the DNs of the entries that lost a conflict
  def conflicts
    map do |server|
      server.search(DirectoryServer::SUFFIX, '(&(nsds5ReplConflict=*)(|(objectClass=*)(objectClass=ldapsubentry)))')
    end
  end

  private

  def make_supplier(server, number)
    server.add(<<~LDIF)
      dn: #{MANAGER}
      objectClass: person
      sn: manager
      userPassword: #{DirectoryServer::PASSWORD}

      dn: #{REPLICA}
      objectClass: nsDS5Replica
      objectClass: extensibleObject
      nsDS5ReplicaRoot: #{DirectoryServer::SUFFIX}
      nsDS5ReplicaId: #{number}
      nsDS5ReplicaType: 3
      nsDS5Flags: 1
      nsDS5ReplicaBindDN: #{MANAGER}
      nsDS5ReplicaBackoffMin: 1
      nsDS5ReplicaBackoffMax: 1
    LDIF
  end

  def connect(server, other)
    server.add(<<~LDIF)
      dn: #{AGREEMENT}
      objectClass: nsDS5ReplicationAgreement
      nsDS5ReplicaRoot: #{DirectoryServer::SUFFIX}
      nsDS5ReplicaHost: 127.0.0.1
      nsDS5ReplicaPort: #{URI(other.tcp_uri).port}
      nsDS5ReplicaTransportInfo: LDAP
      nsDS5ReplicaBindMethod: SIMPLE
      nsDS5ReplicaBindDN: #{MANAGER}
      nsDS5ReplicaCredentials: #{DirectoryServer::PASSWORD}
    LDIF
  end

  # Replaces the data of the other server by those of the first.
  def send_all(server, _other)
    server.modify("dn: #{AGREEMENT}\nchangetype: modify\nreplace: nsds5BeginReplicaRefresh\n" \
                  "nsds5BeginReplicaRefresh: start\n")
    eventually(errors: Missing, within: 60) do
      agreement = server.entry(AGREEMENT, 'nsds5BeginReplicaRefresh', 'nsds5replicaLastInitStatus')
      status = agreement.fetch('nsds5replicaLastInitStatus', []).first
      raise "the other server was not initialized: #{status}" if status && !status.start_with?('Error (0)')

      status && !agreement.key?('nsds5BeginReplicaRefresh')
    end
    settle
  end

  def replicate(state)
    each do |server|
      server.modify("dn: #{AGREEMENT}\nchangetype: modify\nreplace: nsds5ReplicaEnabled\n" \
                    "nsds5ReplicaEnabled: #{state}\n")
    end
  end

  def wait_for(server, dn)
    eventually(errors: Missing, within: 60) do
      server.search(DirectoryServer::SUFFIX, "(#{dn[/[^,]+/]})").any?
    end
  end
end
