# frozen_string_literal: true

require 'forwardable'
require 'tmpdir'
require_relative '../../../../spec/support/certificates'
require_relative '../../../../spec/support/ports'
require_relative 'postgresql'
require_relative 'puppetdb_client'
require_relative '../../../../spec/support/server_process'

# A PuppetDB of Debian's package with a PostgreSQL of its own, in a temporary folder, on free ports of the loopback
# address: one for HTTP, and one for HTTPS, where clients need a certificate. It takes half a minute to start.
#
#   PuppetDB.run do |puppetdb|
#     puppetdb.replace_facts('web1', { 'kernel' => 'Linux' })
#     puppetdb.replace_catalog('web1', [PuppetDB.exported('Host', 'web1', 'ip' => '192.0.2.1')])
#     puppetdb.query('resources', ['=', 'exported', true])
#   end
class PuppetDB
  extend Forwardable
  include ServerProcess

  HOME = '/usr/share/puppetdb'
  CONFIGURATION = '/etc/puppetdb'

  # Seconds. A start takes about 30 s, and several times that on a busy machine.
  START_SECONDS = 600

  # These options of Java halve the processor time of a start and a few queries.
  QUICK_START = %w[-Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1].freeze

  # @param parameters [Hash{String => Object}]
  # @return [Hash] an exported resource of a catalog
  def self.exported(type, title, parameters, tags = [])
    { 'type' => type, 'title' => title, 'exported' => true, 'file' => '/etc/puppet/code/site.pp', 'line' => 1,
      'tags' => [type.downcase, *tags], 'aliases' => [], 'parameters' => parameters }
  end

  def_delegators :client, :replace_facts, :replace_catalog, :deactivate, :query

  # @return [Certificates] the authority of the certificates of the server and of its clients
  attr_reader :certificates

  # @param java [Array<String>] options of Java
  def initialize(java: QUICK_START)
    @folder = Dir.mktmpdir('puppetdb')
    @java = java
    @certificates = Certificates.new(@folder)
    @port, @tls_port = Ports.free(2)
    @database = PostgreSQL.new('puppetdb', extensions: ['pg_trgm'])
  end

  def start
    @database.start
    configure
    run_process(*command, output: log, chdir: '/') { answers? }
  end

  def stop
    @client&.close
    super
    @database.stop
  end

  # Makes PostgreSQL flush its writes to the disk from now on, as by default.
  def make_durable
    @database.make_durable
  end

  # @return [String] http://127.0.0.1:PORT
  def uri
    "http://127.0.0.1:#{@port}"
  end

  # @return [String] https://127.0.0.1:PORT
  def tls_uri
    "https://127.0.0.1:#{@tls_port}"
  end

  # @return [Hash{Symbol => Integer}] the process IDs of the JVM and of PostgreSQL's first process
  def pids
    { jvm: @pid, postgresql: @database.pid }
  end

  # @return [Client]
  def client
    @client ||= Client.new(uri)
  end

  # @return [Array<String>] the last lines of the logs
  def tail
    [*end_of(log, 30), *@database.tail]
  end

  private

  def log
    File.join(@folder, 'output')
  end

  def command
    ['java', *@java, '-cp', "#{HOME}/*", 'clojure.main', '-m', 'puppetlabs.puppetdb.core', 'services',
     '-c', configuration, '-b', "#{CONFIGURATION}/bootstrap.cfg"]
  end

  def configuration
    File.join(@folder, 'conf.d')
  end

  def configure
    [configuration, File.join(@folder, 'var')].each { |folder| FileUtils.mkdir(folder) }
    FileUtils.cp("#{CONFIGURATION}/conf.d/auth.conf", configuration)
    File.write(File.join(configuration, 'puppetdb.ini'), [settings, jetty].join)
    File.write(log_configuration, <<~XML)
      <configuration>
        <appender name="output" class="ch.qos.logback.core.ConsoleAppender">
          <encoder><pattern>%d %-5p [%c{2}] %m%n</pattern></encoder>
        </appender>
        <root level="warn"><appender-ref ref="output"/></root>
      </configuration>
    XML
  end

  def log_configuration
    File.join(@folder, 'logback.xml')
  end

  def settings
    <<~INI
      [global]
      vardir = #{File.join(@folder, 'var')}
      logging-config = #{log_configuration}
      [database]
      subname = //127.0.0.1:#{@database.port}/puppetdb
      username = puppetdb
      password = unused
      gc-interval = 0
      report-ttl = 20000d
      resource-events-ttl = 20000d
      [puppetdb]
      disable-update-checking = true
    INI
  end

  def jetty
    certificate, key = @certificates.issue
    <<~INI
      [jetty]
      host = 127.0.0.1
      port = #{@port}
      ssl-host = 127.0.0.1
      ssl-port = #{@tls_port}
      ssl-cert = #{certificate}
      ssl-key = #{key}
      ssl-ca-cert = #{@certificates.cacert}
    INI
  end

  def answers?
    Net::HTTP.new('127.0.0.1', @port, nil).get('/pdb/meta/v1/version').is_a?(Net::HTTPOK)
  rescue SystemCallError, EOFError
    false
  end
end
