# frozen_string_literal: true

require_relative 'support/contest'

# The adapter, decoding included, beside what else a Ruby program has: gems for LDAP, which answer the document, and a
# process for each call.
PEERS = { 'ruby-ldap' => 1.0, 'net-ldap' => 3.0, 'ldapsearch, a process a call' => 100 }.freeze

report = Report.new('Peers')
versions = [Contest::OpenLDAP, Contest::DS389].map do |server|
  Contest.at(server) do |contest|
    # The gems speak TCP.
    title = "get, #{contest.server_name}, ldap"
    rows = report.add(contest.run(title, 'get', ['adapter', *PEERS.keys], contest.folder('small'),
                                  uri: contest.server.tcp_uri))
    PEERS.each do |name, bar|
      report.at_least("adapter / #{name}: #{title}", bar, Report.ratio(rows, 'adapter', name))
    end
    contest.versions
  end
end
report.print('peers', versions.inject(:merge).merge(Versions.of('ruby-ldap', 'net-ldap', 'ldap-utils')))
