# frozen_string_literal: true

require 'simpkv/cli/directory/directory_setup'
require_relative 'directory_server'

# An OpenLDAP server.
class Slapd < DirectoryServer
  ROOT_DN = 'cn=admin,dc=simp'
  SUBSCHEMA = 'cn=Subschema'

  # @return [String] the limits and indexes that simpkv ships
  def self.limits(layout)
    Simpkv::Cli::DirectorySetup.new('openldap', layout || 'plain').text('limits')
  end

  # @param more [String] further lines for the database section of slapd.conf
  # @param rules [String] rules of access that come before the others
  def initialize(more: '', rules: '', **options)
    super(**options)
    @more = more
    @rules = rules
  end

  # @return [Integer] the number of connections opened so far, without those of this fixture's own tools
  def connections
    log.scan(/BIND dn="#{Regexp.escape(USER_DN)}" mech/).length
  end

  # @return [Integer] the number of connections that all clients have opened so far
  def accepted
    count_in_log(' ACCEPT ')
  end

  # @return [Integer] the number of idle connections that the server has closed so far
  def idled
    count_in_log('closed (idletimeout)')
  end

  # Applies the limits and indexes that simpkv ships.
  def lift_limits
    @limits = true
    stop_serving
    File.write(configuration_file, configuration)
    execute('slapindex', '-q', '-f', configuration_file)
    launch
  end

  private

  def prepare
    FileUtils.mkdir(File.join(@folder, 'data'))
    File.write(configuration_file, configuration)
  end

  def command
    ['slapd', '-f', configuration_file, '-h', [uri, tcp_uri, *(tls_uri if @tls)].join(' '), '-d', 'stats']
  end

  def fill
    add(tree)
  end

  def import_offline(ldif)
    execute('slapadd', '-q', '-f', configuration_file, stdin_data: ldif)
  end

  def log_file
    output_file
  end

  def configuration_file
    File.join(@folder, 'slapd.conf')
  end

  def configuration
    [schema_section, tls_section, database_section, *(Slapd.limits(@layout) if @limits), @more].join("\n")
  end

  def schema_section
    schema = { 'plain' => 'simpkv.schema', 'hex' => 'simpkv-hex.schema' }[@layout]
    <<~CONFIGURATION
      loglevel 0
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
    reader = %( by dn.exact="#{@reader}" read) if @reader
    <<~CONFIGURATION
      database mdb
      suffix "#{SUFFIX}"
      rootdn "#{ROOT_DN}"
      rootpw "#{PASSWORD}"
      directory #{File.join(@folder, 'data')}
      maxsize 1073741824
      #{'dbnosync' unless @durable}
      #{"idletimeout #{@idle}" if @idle}
      #{@rules.chomp}
      access to dn.subtree="#{BASE_DN}" by dn.exact="#{USER_DN}" #{@access}#{reader} by * none
      access to attrs=userPassword by anonymous auth by * none
      access to * by * none
    CONFIGURATION
  end
end
