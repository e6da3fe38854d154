# frozen_string_literal: true

require 'fileutils'
require 'open3'
require 'socket'
require 'tmpdir'
require_relative 'certificates'

# A directory server of one's own, in a temporary folder, with this project's schema and the base tree. It listens on an
# ldapi socket there, on a free port of the loopback address, and, with a certificate, on another one for ldaps.
#
#   Slapd.run(layout: 'hex') { |server| Simpkv::Store.open('ldap', server.options('id' => 'x')) }
#
# What differs between the servers is in the subclasses: ROOT_DN, SUBSCHEMA (where the schema is published), `accepted`,
# `idled`, `lift_limits`, and the methods at the end.
class DirectoryServer
  SUFFIX = 'dc=simp'
  BASE_DN = 'ou=simpkv,o=puppet,dc=simp'

  # An ordinary identity: it may read and write below the base DN, and nothing else.
  USER_DN = 'cn=simpkv,dc=simp'

  # One that may bind, and nothing else.
  STRANGER_DN = 'cn=stranger,dc=simp'

  SCHEMAS = File.expand_path('../../schema', __dir__)
  PASSWORD = 'it is a secret'

  # Those that were started and not stopped.
  RUNNING = [] # rubocop:disable Style/MutableConstant -- that is what it is for

  # Starts a server, yields it, stops it. When the block raises, prints the server's log.
  def self.run(**options)
    server = new(**options)
    server.start
    yield server
  rescue Exception # rubocop:disable Lint/RescueException -- whatever it is, the log helps; it goes on
    warn server.tail if server
    raise
  ensure
    server&.stop
  end

  # @return [String] the folder of everything
  attr_reader :folder

  # @return [String, nil] that of the schema
  attr_reader :layout

  # @return [Integer, nil] the process; nil while it is down
  attr_reader :pid

  # @return [Certificates] what the server's certificate comes from
  attr_reader :certificates

  # @param layout [String, nil] the schema: plain or hex; nil for none
  # @param tls [Boolean, Array(String, String)] whether to offer StartTLS and ldaps; or files of certificate and key
  # @param authority [Certificates, nil] where these come from
  # @param access [String] what the ordinary identity may do below the base DN: read or write
  # @param reader [String, nil] another identity, which may read there
  # @param limits [Boolean] whether the limits and indexes that simpkv ships are applied
  # @param durable [Boolean] whether what it writes reaches the disk, as far as its settings say; slow
  # @param idle [Integer, nil] seconds after which it closes a connection that is not used
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
    @port, @tls_port = free_ports
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

  # @return [Integer] how many lines of that have the text, however large it is
  def count_in_log(text)
    File.foreach(log_file).count { |line| line.include?(text) }
  end

  # @return [Array<String>] its last lines
  def tail
    ["The end of the log of #{self.class.name}:", *log.lines.last(40)]
  end

  def start
    prepare
    launch
    fill
  end

  # Begins again after {#stop_serving} or {#kill}, with the same data.
  def launch
    @pid = Process.spawn(*('eatmydata' unless @durable), *command, %i[out err] => [output_file, 'a'])
    RUNNING << self
    wait_until_it_answers
  end

  def restart
    stop_serving
    launch
  end

  # Ends the server without warning.
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

  # Nobody needs the data any more.
  def stop
    kill
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

  # Adds the entries of an LDIF text while the server is down: many in little time.
  def import(ldif)
    stop_serving
    import_offline(ldif)
    launch
  end

  # Deletes an entry with all below it.
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

  # Where the server's output goes.
  def output_file
    File.join(@folder, 'output')
  end

  # As the root DN.
  def tool(name, *arguments, **input)
    execute(name, *as_root, *arguments, **input)
  end

  # @return [String] what the program wrote; it must succeed
  def execute(name, *arguments, **input)
    output, status = Open3.capture2e(name, *arguments, **input)
    raise "#{name}: #{output.lines.last(5).join}" unless status.success?

    output
  end

  def as_root
    ['-x', '-D', self.class::ROOT_DN, '-w', PASSWORD, '-H', uri]
  end

  def finish(signal)
    return unless @pid

    Process.kill(signal, @pid)
    # Ruby 3.1 now and then misses the end of a child for which it waits while it has other threads.
    sleep 0.002 until Process.wait(@pid, Process::WNOHANG)
    @pid = nil
    RUNNING.delete(self)
  end

  # Both at once, so that they differ. Linux gives them out at random: that somebody else has one before the server does
  # is possible, and very unlikely.
  def free_ports
    servers = Array.new(2) { TCPServer.new('127.0.0.1', 0) }
    servers.map { |server| server.addr[1] }
  ensure
    servers&.each(&:close)
  end

  def wait_until_it_answers
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 30
    until system('ldapwhoami', *as_root, %i[out err] => File::NULL)
      late = Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      raise ["#{self.class.name} does not start:", File.read(output_file), *tail].join("\n") if late || ended?

      sleep 0.02
    end
  end

  def ended?
    return false unless Process.wait(@pid, Process::WNOHANG)

    @pid = nil
    RUNNING.delete(self)
    true
  end

  # The suffix, the identities and the base tree.
  def tree
    [without_base, schema_file('base.ldif')].join("\n")
  end

  # The suffix and the identities.
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

  # @return [String] what is in a file of schema/
  def schema_file(*path)
    File.read(File.join(SCHEMAS, *path))
  end

  # What each subclass says:
  #
  # prepare:: writes into the folder what the server needs before it starts
  # command:: answers the command that runs the server, in the foreground
  # fill:: puts into the running server what belongs there
  # import_offline:: adds the entries of an LDIF text to the data of the server, which is down
  # log_file:: answers the file of {#log}
end

# The log of the servers that run says most about what went wrong.
RSpec.configure do |config|
  config.after do |example|
    DirectoryServer::RUNNING.each { |server| warn server.tail } if example.exception
  end
end
