# frozen_string_literal: true

require 'open3'
require 'socket'
require 'tmpdir'
require_relative 'certificates'
require_relative 'ports'
require_relative 'server_process'

# A private directory server in a temporary folder, with this project's schema and the base tree. It listens on an ldapi
# socket there, on a free port of the loopback address, and, with a certificate, on another port for ldaps.
#
#   Slapd.run(layout: 'hex') { |server| Simpkv::Store.open('ldap', server.options('id' => 'x')) }
#
# A subclass for each kind of server defines ROOT_DN, SUBSCHEMA (the DN of the published schema), `accepted`, `idled`,
# `lift_limits`, and the methods at the end.
class DirectoryServer
  include ServerProcess

  START_SECONDS = 120

  SUFFIX = 'dc=simp'
  BASE_DN = 'ou=simpkv,o=puppet,dc=simp'

  # An ordinary identity, which may only read and write below the base DN.
  USER_DN = 'cn=simpkv,dc=simp'

  # An identity that may only bind.
  STRANGER_DN = 'cn=stranger,dc=simp'

  SCHEMAS = File.expand_path('../../schema', __dir__)
  PASSWORD = 'it is a secret'

  # The servers that were started and not stopped.
  RUNNING = [] # rubocop:disable Style/MutableConstant -- servers add and remove themselves

  # @return [String, nil] the layout of the schema
  attr_reader :layout

  # @return [Certificates] the authority of the server's certificate
  attr_reader :certificates

  # @param layout [String, nil] the schema: plain or hex; nil for none
  # @param tls [Boolean, Array(String, String)] whether to offer StartTLS and ldaps; or files of certificate and key
  # @param authority [Certificates, nil] the authority of the certificate
  # @param access [String] the rights of the ordinary identity below the base DN: read or write
  # @param reader [String, nil] another identity, which may read below the base DN
  # @param limits [Boolean] whether the limits and indexes that simpkv ships are applied
  # @param durable [Boolean] whether the server's settings make it flush its writes to the disk; slow
  # @param idle [Integer, nil] seconds after which the server closes an idle connection
  def initialize(layout: 'plain', tls: false, authority: nil, access: 'write', reader: nil, limits: false,
                 durable: false, idle: nil)
    @folder = Dir.mktmpdir(self.class.name.downcase)
    @layout = layout
    @access = access
    @reader = reader
    @limits = limits
    @durable = durable
    @idle = idle
    @certificates = authority || (Certificates.new(@folder) if tls)
    @tls = tls == true ? @certificates.issue : tls
    @port, @tls_port = Ports.free(2)
    [[PASSWORD, password_file], ['not the password', wrong_password_file]].each do |text, file|
      File.write(file, text, perm: 0o600)
    end
  end

  # @return [String] ldapi://..., the socket
  def uri
    "ldapi://#{socket.gsub('/', '%2F')}"
  end

  # @return [String] ldap://127.0.0.1:PORT
  def tcp_uri
    "ldap://127.0.0.1:#{@port}"
  end

  # @return [String] ldaps://127.0.0.1:PORT
  def tls_uri
    "ldaps://127.0.0.1:#{@tls_port}"
  end

  # @return [String] the file with the server's certificate
  def certificate
    @tls.first
  end

  # @return [String] the file with the password of all identities
  def password_file
    File.join(@folder, 'password')
  end

  def wrong_password_file
    File.join(@folder, 'wrong-password')
  end

  # Options of a store or backend that connects to the socket and binds as the ordinary identity.
  #
  # @param more [Hash] further ones
  # @return [Hash]
  def options(more = {})
    { 'ldap_uri' => uri, 'admin_dn' => USER_DN, 'admin_pw_file' => password_file, 'base_dn' => BASE_DN,
      'layout' => @layout, 'id' => 'spec' }.merge(more)
  end

  # @return [String] the log of the server: each connection and operation, without values
  def log
    File.exist?(log_file) ? File.read(log_file) : ''
  end

  # @return [Integer] the number of lines in the log that contain the text; the log may be large
  def count_in_log(text)
    File.foreach(log_file).count { |line| line.include?(text) }
  end

  # @return [Array<String>] the last lines of the log
  def tail
    end_of(log_file, 40)
  end

  def start
    prepare
    launch
    fill
  end

  # Starts the server again after {#stop_serving} or {#kill}, with the same data.
  def launch
    RUNNING << self unless RUNNING.include?(self)
    run_process(*('eatmydata' unless @durable), *command, output: output_file) do
      listens? && system('ldapwhoami', *as_root, %i[out err] => File::NULL)
    end
  end

  def restart
    stop_serving
    launch
  end

  # Kills the server.
  def kill
    finish(:KILL)
  end

  def stop_serving
    finish(:TERM)
  end

  # Suspends the server while the block runs, with its sockets open.
  def freeze_process
    Process.kill('STOP', @pid)
    Process.wait(@pid, Process::WUNTRACED)
    yield
  ensure
    Process.kill('CONT', @pid)
  end

  def stop
    RUNNING.delete(self)
    super
  end

  # Adds the entries of an LDIF text. Raises with the server's message if the server refuses one.
  def add(ldif)
    tool('ldapadd', stdin_data: ldif)
  end

  # Applies the changes of an LDIF text.
  def modify(ldif)
    tool('ldapmodify', stdin_data: ldif)
  end

  # Adds the entries of an LDIF text while the server is down, which is fast for many entries.
  def import(ldif)
    stop_serving
    import_offline(ldif)
    launch
  end

  # Deletes an entry and all entries below it.
  def delete_tree(dn)
    tool('ldapdelete', '-r', dn)
  end

  # @return [Array<String>] the DNs of the entries below base_dn that match the filter
  def search(base_dn, filter)
    entries(base_dn, filter, '1.1').flat_map { |entry| entry['dn'] }
  end

  # @return [Hash{String => Array<String>}] attributes of one entry, with the server's spelling of their names
  def entry(dn, *attributes)
    entries(dn, '(objectClass=*)', *attributes, scope: 'base').first
  end

  # @return [Array<Hash{String => Array<String>}>] the entries that match the filter, each as {#entry} returns it
  def entries(base_dn, filter, *attributes, scope: 'sub')
    output = tool('ldapsearch', '-LLL', '-o', 'ldif_wrap=no', '-s', scope, '-b', base_dn, filter, *attributes)
    output.split(/\n{2,}/).map do |entry|
      entry.scan(/^([^:\n]+):(:?) (.*)/).each_with_object({}) do |(name, encoded, value), found|
        (found[name] ||= []) << (encoded == ':' ? value.unpack1('m').force_encoding('UTF-8') : value)
      end
    end
  end

  private

  def socket
    File.join(@folder, 'ldapi')
  end

  # Starting a program from RSpec, which is large, takes longer than this.
  #
  # @return [Boolean] whether the server accepts connections, before it may answer
  def listens?
    UNIXSocket.open(socket) { true }
  rescue SystemCallError, IOError # JRuby raises an IOError if the connection is refused.
    false
  end

  # The file that receives the server's output.
  def output_file
    File.join(@folder, 'output')
  end

  # Runs an LDAP tool as the root DN.
  def tool(name, *arguments, **input)
    execute(name, *as_root, *arguments, **input)
  end

  # @return [String] the output of the program, which must succeed
  def execute(name, *arguments, **input)
    output, status = Open3.capture2e(name, *arguments, **input)
    raise "#{name}: #{output.lines.last(5).join}" unless status.success?

    output
  end

  def as_root
    ['-x', '-D', self.class::ROOT_DN, '-w', PASSWORD, '-H', uri]
  end

  # LDIF of the suffix, the identities and the base tree.
  def tree
    [without_base, schema_file('base.ldif')].join("\n")
  end

  # LDIF of the suffix and the identities.
  def without_base
    identities = [USER_DN, STRANGER_DN].map do |dn|
      <<~LDIF
        dn: #{dn}
        objectClass: organizationalRole
        objectClass: simpleSecurityObject
        userPassword: #{PASSWORD}
      LDIF
    end
    ["dn: #{SUFFIX}\nobjectClass: domain\n", *identities].join("\n")
  end

  # @return [String] the content of a file of schema/
  def schema_file(*path)
    File.read(File.join(SCHEMAS, *path))
  end

  # Each subclass defines:
  #
  # prepare:: writes the files that the server needs before it starts
  # command:: returns the command that runs the server in the foreground
  # fill:: adds the initial entries to the running server
  # import_offline:: adds the entries of an LDIF text to the data of the stopped server
  # log_file:: returns the file of {#log}
end

# Prints the logs of the running servers after an example that fails.
RSpec.configure do |config|
  config.after do |example|
    DirectoryServer::RUNNING.each { |server| warn server.tail } if example.exception
  end
end
