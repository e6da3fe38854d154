# frozen_string_literal: true

require 'time'
require 'simpkv/estate'

# The counters that compilers have stored: see {Simpkv::Estate::Counters}. One of them was not upgraded yet, and has
# another file of keys.
module SampleCompilers
  SERVERS = %w[ldaps://ldap1.example.org ldaps://ldap2.example.org].freeze
  # Name, version, fingerprint of the file of keys, connections, failures, minutes since they were stored.
  COMPILERS = [['compiler1.brn.example.org', Simpkv::VERSION, '9f86d081884c7d65', 412, 0, 1],
               ['compiler2.zrh.example.org', Simpkv::VERSION, '9f86d081884c7d65', 398, 3, 2],
               ['compiler3.zrh.example.org', '1.0.0', '60303ae22b998861', 371, 0, 4]].freeze
  private_constant :SERVERS, :COMPILERS

  # @param now [Time]
  # @return [Hash{String => Hash}] the counters by the name of the compiler
  def self.counters(now)
    COMPILERS.to_h do |name, version, print, connects, failures, minutes|
      servers = [server(SERVERS.first, connects, 0), server(SERVERS.last, failures, failures)]
      pool = { 'identity' => 'cn=compiler,dc=example,dc=org', 'waiting' => 0, 'waits' => 0, 'wait_timeouts' => 0,
               'servers' => servers }
      [name, { 'time' => (now - (minutes * 60)).iso8601, 'pid' => 700 + connects, 'version' => version,
               'pools' => [pool], 'keys' => { 'default' => print } }]
    end
  end

  def self.server(uri, connects, failures)
    { 'uri' => uri, 'idle' => 1, 'in_use' => 0, 'connects' => connects, 'binds' => connects, 'failures' => failures,
      'timeouts' => failures / 3, 'blames' => 0, 'retries' => {}, 'operations' => {} }
  end
  private_class_method :server
end
