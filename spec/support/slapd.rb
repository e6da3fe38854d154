# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'tmpdir'

# An OpenLDAP server of one's own, on an ldapi socket in a temporary folder, with this project's schema and the base
# tree.
class Slapd
  SUFFIX = 'dc=simp'
  BASE_DN = 'ou=simpkv,o=puppet,dc=simp'
  ROOT_DN = 'cn=admin,dc=simp'
  SCHEMA = File.expand_path('../../schema/openldap/simpkv.schema', __dir__)

  # Starts a server, yields it, stops it. When the block raises, prints the server's log.
  def self.run
    server = new
    server.start
    yield server
  rescue Exception # rubocop:disable Lint/RescueException -- whatever it is, the log helps; it goes on
    warn server.log
    raise
  ensure
    server.stop
  end

  def initialize
    @folder = Dir.mktmpdir('slapd')
  end

  def uri
    "ldapi://#{File.join(@folder, 'ldapi').gsub('/', '%2F')}"
  end

  def log
    File.exist?(log_file) ? File.read(log_file) : ''
  end

  def start
    FileUtils.mkdir(File.join(@folder, 'data'))
    File.write(File.join(@folder, 'slapd.conf'), configuration)
    @pid = Process.spawn('slapd', '-f', File.join(@folder, 'slapd.conf'), '-h', uri, '-d', 'none',
                         %i[out err] => log_file)
    wait_until_it_answers
    add(base_tree)
  end

  def stop
    if @pid
      Process.kill('TERM', @pid)
      Process.wait(@pid)
    end
    FileUtils.rm_rf(@folder)
  end

  # Adds the entries of an LDIF text; raises with what the server said if it takes not all.
  def add(ldif)
    output, status = Open3.capture2e('ldapadd', '-Q', '-Y', 'EXTERNAL', '-H', uri, stdin_data: ldif)
    raise "ldapadd: #{output.lines.last(5).join}" unless status.success?
  end

  # @return [Array<String>] the DNs of the entries below base_dn that the filter finds
  def search(base_dn, filter)
    output, status = Open3.capture2('ldapsearch', '-Q', '-Y', 'EXTERNAL', '-H', uri, '-LLL', '-o', 'ldif_wrap=no',
                                    '-b', base_dn, filter, '1.1')
    raise 'ldapsearch failed' unless status.success?

    output.lines(chomp: true).map { |line| dn_of(line) }.compact
  end

  private

  def log_file
    File.join(@folder, 'log')
  end

  def dn_of(line)
    return line[4..] if line.start_with?('dn: ')

    line[5..].unpack1('m').force_encoding(Encoding::UTF_8) if line.start_with?('dn:: ')
  end

  def wait_until_it_answers
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    until system('ldapwhoami', '-Q', '-Y', 'EXTERNAL', '-H', uri, %i[out err] => File::NULL)
      raise 'slapd does not start' if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline || ended?

      sleep 0.05
    end
  end

  def ended?
    ended = Process.wait(@pid, Process::WNOHANG)
    @pid = nil if ended
    ended
  end

  def configuration
    <<~CONFIGURATION
      include /etc/ldap/schema/core.schema
      include /etc/ldap/schema/cosine.schema
      include #{SCHEMA}
      modulepath /usr/lib/ldap
      moduleload back_mdb
      authz-regexp gidNumber=.*\\+uidNumber=#{Process.uid},cn=peercred,cn=external,cn=auth #{ROOT_DN}
      database mdb
      suffix "#{SUFFIX}"
      rootdn "#{ROOT_DN}"
      directory #{File.join(@folder, 'data')}
      maxsize 1073741824
      dbnosync
    CONFIGURATION
  end

  def base_tree
    <<~LDIF
      dn: dc=simp
      objectClass: domain
      dc: simp

      dn: o=puppet,dc=simp
      objectClass: organization
      o: puppet

      dn: #{BASE_DN}
      objectClass: organizationalUnit
      ou: simpkv
    LDIF
  end
end
