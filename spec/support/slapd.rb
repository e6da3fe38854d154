# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'socket'
require 'tmpdir'
require_relative 'certificates'

# An OpenLDAP server of one's own, in a temporary folder, with this project's schema and the base tree. It listens on an
# ldapi socket there, on a free port of the loopback address, and, with a certificate, on another one for ldaps.
#
#   Slapd.run(layout: 'hex') { |slapd| Simpkv::Store.open('ldap', slapd.options('id' => 'x')) }
class Slapd # rubocop:disable Metrics/ClassLength -- one server, with all that tests do to it
  SUFFIX = 'dc=simp'
  BASE_DN = 'ou=simpkv,o=puppet,dc=simp'
  ROOT_DN = 'cn=admin,dc=simp'

  # An ordinary identity: it may read and write below the base DN, and nothing else.
  USER_DN = 'cn=simpkv,dc=simp'

  # One that may bind, and nothing else.
  STRANGER_DN = 'cn=stranger,dc=simp'

  SCHEMAS = File.expand_path('../../schema', __dir__)
  PASSWORD = 'it is a secret'

  @running = []

  class << self
    # @return [Array<Slapd>] those that were started and not stopped
    attr_reader :running

    # @return [String] the limits and indexes that simpkv ships, for the layout
    def limits(layout)
      limits = File.read(File.join(SCHEMAS, 'openldap', 'limits.conf'))
      layout == 'hex' ? limits.sub(/^index simpkvKey/, 'index simpkvHexId,simpkvId') : limits
    end

    # Starts a server, yields it, stops it. When the block raises, prints the server's log.
    def run(**options)
      server = new(**options)
      server.start
      yield server
    rescue Exception # rubocop:disable Lint/RescueException -- whatever it is, the log helps; it goes on
      warn server.tail if server
      raise
    ensure
      server&.stop
    end
  end

  # @return [String] the folder of everything
  attr_reader :folder

  # @return [String, nil] that of the schema
  attr_reader :layout

  # @return [Certificates] what the server's certificate comes from
  attr_reader :certificates

  # @param layout [String, nil] the schema: plain or hex; nil for none
  # @param tls [Boolean, Array(String, String)] whether to offer StartTLS and ldaps; or files of certificate and key
  # @param authority [Certificates, nil] where these come from
  # @param access [String] what the ordinary identity may do below the base DN
  # @param more [String] further lines for the database section of slapd.conf
  def initialize(layout: 'plain', tls: false, authority: nil, access: 'write', more: '')
    @folder = Dir.mktmpdir('slapd')
    @layout = layout
    @access = access
    @more = more
    @certificates = authority || (Certificates.new(@folder) if tls)
    @tls = tls == true ? @certificates.issue : tls
    @port, @tls_port = free_ports
    [[PASSWORD, password_file], ['not the password', wrong_password_file]].each do |text, file|
      File.write(file, text, perm: 0o600)
    end
  end

  # @return [String] ldapi://..., the socket
  def uri
    "ldapi://#{File.join(@folder, 'ldapi').gsub('/', '%2F')}"
  end

  # @return [String] ldap://127.0.0.1:PORT
  def tcp_uri
    "ldap://127.0.0.1:#{@port}"
  end

  # @return [String] ldaps://127.0.0.1:PORT
  def tls_uri
    "ldaps://127.0.0.1:#{@tls_port}"
  end

  # @return [String] the file with the password of all identities
  def password_file
    File.join(@folder, 'password')
  end

  def wrong_password_file
    File.join(@folder, 'wrong-password')
  end

  # Options of a store or backend here: on the socket, as the ordinary identity.
  #
  # @param more [Hash] further ones
  # @return [Hash]
  def options(more = {})
    { 'ldap_uri' => uri, 'admin_dn' => USER_DN, 'admin_pw_file' => password_file, 'base_dn' => BASE_DN,
      'layout' => @layout, 'id' => 'spec' }.merge(more)
  end

  # @return [String] what the server wrote: each connection and operation, without values
  def log
    File.exist?(log_file) ? File.read(log_file) : ''
  end

  # @return [Array<String>] its last lines
  def tail
    ["The end of slapd's log:", *log.lines.last(40)]
  end

  # @return [Integer] how many connections were made so far, those of this fixture's own tools not counted
  def connections
    log.scan(/BIND dn="#{Regexp.escape(USER_DN)}" mech/).length
  end

  def start
    FileUtils.mkdir(File.join(@folder, 'data'))
    File.write(File.join(@folder, 'slapd.conf'), configuration)
    launch
    add(tree)
  end

  # Begins again after {#stop_serving} or {#kill}, with the same data.
  def launch
    uris = [uri, tcp_uri, *(tls_uri if @tls)].join(' ')
    @pid = Process.spawn('slapd', '-f', File.join(@folder, 'slapd.conf'), '-h', uris, '-d', 'stats',
                         %i[out err] => [log_file, 'a'])
    Slapd.running << self
    wait_until_it_answers
  end

  def restart
    stop_serving
    launch
  end

  # Ends the server as if the machine had lost power.
  def kill
    finish('KILL')
  end

  def stop_serving
    finish('TERM')
  end

  # Lets the server be silent, with its sockets open.
  def freeze_process
    Process.kill('STOP', @pid)
    Process.wait(@pid, Process::WUNTRACED)
    yield
  ensure
    Process.kill('CONT', @pid)
  end

  def stop
    stop_serving
    FileUtils.rm_rf(@folder)
  end

  # Adds the entries of an LDIF text; raises with what the server said if it takes not all.
  def add(ldif)
    tool('ldapadd', stdin_data: ldif)
  end

  # Applies the changes of an LDIF text.
  def modify(ldif)
    tool('ldapmodify', stdin_data: ldif)
  end

  # Deletes an entry with all below it.
  def delete_tree(dn)
    tool('ldapdelete', '-r', dn)
  end

  # @return [Array<String>] the DNs of the entries below base_dn that the filter finds
  def search(base_dn, filter)
    tool('ldapsearch', '-LLL', '-o', 'ldif_wrap=no', '-b', base_dn, filter, '1.1')
      .lines(chomp: true).map { |line| dn_of(line) }.compact
  end

  # @return [Hash{String => Array<String>}] attributes of one entry, as the server spells them
  def entry(dn, *attributes)
    output = tool('ldapsearch', '-LLL', '-o', 'ldif_wrap=no', '-s', 'base', '-b', dn, '(objectClass=*)', *attributes)
    output.lines(chomp: true).each_with_object({}) do |line, found|
      name, encoded, value = line.match(/\A([^:]+):(:?) (.*)/)&.captures
      (found[name] ||= []) << (encoded == ':' ? value.unpack1('m').force_encoding('UTF-8') : value) if name
    end
  end

  private

  def log_file
    File.join(@folder, 'log')
  end

  # As the root DN.
  def tool(name, *arguments, **input)
    output, status = Open3.capture2e(name, '-x', '-D', ROOT_DN, '-w', PASSWORD, '-H', uri, *arguments, **input)
    raise "#{name}: #{output.lines.last(5).join}" unless status.success?

    output
  end

  def finish(signal)
    return unless @pid

    Process.kill(signal, @pid)
    Process.wait(@pid)
    @pid = nil
    Slapd.running.delete(self)
  end

  # Both at once, so that they differ. Linux gives them out at random: that somebody else has one before slapd does is
  # possible, and very unlikely.
  def free_ports
    servers = Array.new(2) { TCPServer.new('127.0.0.1', 0) }
    servers.map { |server| server.addr[1] }
  ensure
    servers&.each(&:close)
  end

  def dn_of(line)
    return line[4..] if line.start_with?('dn: ')

    line[5..].unpack1('m').force_encoding(Encoding::UTF_8) if line.start_with?('dn:: ')
  end

  def wait_until_it_answers
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    until system('ldapwhoami', '-x', '-D', ROOT_DN, '-w', PASSWORD, '-H', uri, %i[out err] => File::NULL)
      raise "slapd does not start: #{log}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline || ended?

      sleep 0.02
    end
  end

  def ended?
    ended = Process.wait(@pid, Process::WNOHANG)
    @pid = nil if ended
    ended
  end

  def configuration
    [schema_section, tls_section, database_section, @more].join("\n")
  end

  def schema_section
    schema = { 'plain' => 'simpkv.schema', 'hex' => 'simpkv-hex.schema' }[@layout]
    <<~CONFIGURATION
      include /etc/ldap/schema/core.schema
      include /etc/ldap/schema/cosine.schema
      #{"include #{File.join(SCHEMAS, 'openldap', schema)}" if schema}
      modulepath /usr/lib/ldap
      moduleload back_mdb
      authz-regexp gidNumber=.*\\+uidNumber=#{Process.uid},cn=peercred,cn=external,cn=auth #{USER_DN}
    CONFIGURATION
  end

  def tls_section
    return '' unless @tls

    <<~CONFIGURATION
      TLSCACertificateFile #{@certificates.cacert}
      TLSCertificateFile #{@tls.first}
      TLSCertificateKeyFile #{@tls.last}
      TLSVerifyClient try
    CONFIGURATION
  end

  def database_section
    <<~CONFIGURATION
      database mdb
      suffix "#{SUFFIX}"
      rootdn "#{ROOT_DN}"
      rootpw "#{PASSWORD}"
      directory #{File.join(@folder, 'data')}
      maxsize 1073741824
      dbnosync
      access to dn.subtree="#{BASE_DN}" by dn.exact="#{USER_DN}" #{@access} by * none
      access to attrs=userPassword by anonymous auth by * none
      access to * by * none
    CONFIGURATION
  end

  def tree
    identities = [USER_DN, STRANGER_DN].map do |dn|
      <<~LDIF
        dn: #{dn}
        objectClass: organizationalRole
        objectClass: simpleSecurityObject
        userPassword: #{PASSWORD}
      LDIF
    end
    ["dn: dc=simp\nobjectClass: domain\n", *identities, File.read(File.join(SCHEMAS, 'base.ldif'))].join("\n")
  end
end

# The log of the servers that run says most about what went wrong.
RSpec.configure do |config|
  config.after do |example|
    next unless example.exception

    Slapd.running.each { |slapd| warn slapd.tail }
  end
end
