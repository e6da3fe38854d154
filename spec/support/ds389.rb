# frozen_string_literal: true

require 'etc'
require 'openssl'
require 'simpkv/cli/directory/directory_setup'
require_relative 'directory_server'

# A 389 Directory Server, made from the templates of its package. dscreate would take 15 s, need systemd and write to
# many folders of the system. This server starts in a second and keeps all files in its own folder. It needs root to
# read the package's settings.
class Ds389 < DirectoryServer
  ROOT_DN = 'cn=Directory Manager'
  SUBSCHEMA = 'cn=schema'

  # The name that `dscreate` gives to a backend.
  BACKEND = 'userroot'

  # The size of each cache in bytes.
  CACHE = 16 << 20

  TEMPLATES = '/usr/share/dirsrv/data'
  SETTINGS = '/etc/dirsrv'
  PROGRAM = '/usr/sbin/ns-slapd'

  # Lets nobody use virtual list views, as docs/directories.md says.
  NARROW = Simpkv::Cli::DirectorySetup.new('389ds', 'plain').text('access')[/^dn: oid=.*/m]

  # @param user [String] who runs the server and its tools, which root starts; `dscreate` takes dirsrv
  # @param views [Boolean] whether everybody may use virtual list views, as in a server that was just installed
  # @param options [Hash] of any server
  def initialize(user: Etc.getpwuid.name, views: false, **options)
    super(**options)
    @user = user
    @views = views
  end

  # @return [String] the limits and indexes that simpkv ships
  def self.limits(layout)
    Simpkv::Cli::DirectorySetup.new('389ds', layout || 'plain').text('limits')
  end

  # @return [Integer] the number of connections that all clients have opened so far
  def accepted
    count_in_log(' connection from ')
  end

  # Turns on the audit log, which has each change with all values.
  def audit
    modify("dn: cn=config\nchangetype: modify\nreplace: nsslapd-auditlog\nnsslapd-auditlog: #{audit_file}\n-\n" \
           "replace: nsslapd-auditlog-maxlogsperdir\nnsslapd-auditlog-maxlogsperdir: 1\n-\n" \
           "replace: nsslapd-auditlog-logging-enabled\nnsslapd-auditlog-logging-enabled: on\n")
  end

  # Counts conditional changes that should have failed: "delete this value, add that one" succeeded for two clients that
  # deleted the same value (docs/adr/0013).
  #
  # @return [Hash{String => Integer}] by the entry's DN, the number of changes since {#audit} minus the number of
  #   different values that they replaced
  def replaced_twice
    replaced = Hash.new { |all, dn| all[dn] = [] }
    conditional = /^dn: (.*?)$.*^delete: simpkvJsonValue\nsimpkvJsonValue: (.*?)$/m
    File.foreach(audit_file, '') do |change|
      dn, old = change.gsub("\n ", '').match(conditional)&.captures
      replaced[dn] << old if old
    end
    replaced.transform_values { |values| values.length - values.uniq.length }
  end

  # @return [Integer] the number of idle connections that the server has closed so far; it closes them when another
  #   client sends a request
  def idled
    entry('cn=config', '1.1')
    count_in_log(' Idle Timeout ')
  end

  # @return [Array<String>] the last lines as of any server, its errors, and its output
  def tail
    [*super, *end_of(File.join(@folder, 'log', 'errors'), 20), *end_of(output_file, 20)]
  end

  # Applies the limits and indexes that simpkv ships.
  def lift_limits
    modify(Ds389.limits(@layout))
    # Open connections keep their limits.
    restart
  end

  private

  def prepare
    %w[schema lock tmp cert ldif bak run log db].each { |name| FileUtils.mkdir(File.join(@folder, name)) }
    FileUtils.cp(File.join(SETTINGS, 'schema', '99user.ldif'), File.join(@folder, 'schema'))
    FileUtils.cp(Dir[File.join(SETTINGS, 'config', '{certmap,slapd-collations}.conf')], @folder)
    File.write(File.join(@folder, 'dse.ldif'), configuration, perm: 0o600)
    add_certificates if @tls
    FileUtils.chown_R(@user, nil, [@folder, *Dir[File.join(@folder, '*')]] - [password_file, wrong_password_file])
  end

  def command
    [PROGRAM, '-D', @folder, '-i', File.join(@folder, 'pid'), '-d', '0']
  end

  def fill
    modify(schema_file('389ds', "#{@layout}.ldif")) if @layout
    add(tree)
    modify([rights, *(NARROW unless @views)].join("\n"))
    modify(Ds389.limits(@layout)) if @limits
  end

  # An import replaces everything, so everything is exported first.
  def import_offline(ldif)
    file = File.join(@folder, 'ldif', 'all.ldif')
    execute(PROGRAM, 'db2ldif', '-D', @folder, '-n', BACKEND, '-a', file)
    File.write(file, ldif, mode: 'a')
    execute(PROGRAM, 'ldif2db', '-D', @folder, '-n', BACKEND, '-i', file)
  end

  def log_file
    File.join(@folder, 'log', 'access')
  end

  def audit_file
    File.join(@folder, 'log', 'audit')
  end

  # Also removes the semaphore that a killed server leaves in /dev/shm.
  def finish(signal)
    super
    FileUtils.rm_f("/dev/shm/sem.#{File.basename(@folder)}.stats")
  end

  # ---- Configuration ----

  # Exactly one empty line separates two entries: the server would read a second empty line as an entry.
  def configuration
    entries = %w[template-dse.ldif template-suffix-db.ldif].flat_map do |name|
      text = File.read(File.join(TEMPLATES, name)).gsub(/^#.*\n/, '').sub(/(?<=ldapimaprootdn: ).*/, USER_DN)
      text.gsub(/%(\w+)%/) { variables.fetch(Regexp.last_match(1)) }.strip.split(/\n{2,}/)
    end
    settings.each { |dn, lines| entries.find { |entry| entry.start_with?("dn: #{dn}\n") } << "\n" << lines.join("\n") }
    "#{entries.join("\n\n")}\n"
  end

  # The settings beyond the templates. Without sizes, the caches would take a share of the machine's memory. By default,
  # the server hashes a password 10000 times at each bind, which takes longer than all else that a store does.
  def settings
    database = 'cn=ldbm database,cn=plugins,cn=config'
    {
      'cn=config' =>
        ['nsslapd-accesslog-logbuffering: off', 'nsslapd-accesslog-maxlogsperdir: 1',
         'passwordStorageScheme: SSHA512', 'nsslapd-listenhost: 127.0.0.1', 'nsslapd-securelistenhost: 127.0.0.1',
         *("nsslapd-idletimeout: #{@idle}" if @idle),
         *(["nsslapd-securePort: #{@tls_port}", 'nsslapd-security: on'] if @tls)],
      "cn=config,#{database}" => ['nsslapd-cache-autosize: 0', "nsslapd-dbcachesize: #{self.class::CACHE}"],
      "cn=#{BACKEND},#{database}" => %w[nsslapd-cachememsize nsslapd-dncachememsize].map do |name|
        "#{name}: #{self.class::CACHE}"
      end
    }
  end

  # The values of the variables in the templates.
  def variables
    folders = %w[schema lock tmp ldif bak run log db].to_h { |name| ["#{name}_dir", File.join(@folder, name)] }
    @variables ||= folders.merge(
      'cert_dir' => @folder, 'config_dir' => @folder, 'inst_dir' => @folder, 'db_home_dir' => folders['db_dir'],
      'fqdn' => 'localhost', 'ds_port' => @port.to_s, 'ds_user' => @user, 'rootdn' => ROOT_DN,
      'ds_passwd' => hashed(PASSWORD), 'ldapi_enabled' => 'on', 'ldapi' => socket, 'ldapi_autobind' => 'on',
      'ds_suffix' => SUFFIX, 'ds_bename' => BACKEND, 'db_lib' => 'bdb'
    )
  end

  def hashed(password)
    salt = 'salt'
    "{SSHA}#{[OpenSSL::Digest.digest('SHA1', password + salt) + salt].pack('m0')}"
  end

  # Imports the certificates into the database of NSS, the TLS library of 389-DS, which reads no PEM files.
  def add_certificates
    certificate = OpenSSL::X509::Certificate.new(File.read(@tls.first))
    key = OpenSSL::PKey.read(File.read(@tls.last))
    bundle = File.join(@folder, 'server.p12')
    File.binwrite(bundle, OpenSSL::PKCS12.create('', 'Server-Cert', key, certificate).to_der)
    nss('certutil', '-N', '--empty-password')
    nss('pk12util', '-i', bundle, '-W', '')
    nss('certutil', '-A', '-n', 'CA', '-t', 'CT,,', '-i', @certificates.cacert)
  end

  def nss(name, *arguments)
    execute(name, '-d', "sql:#{@folder}", *arguments)
  end

  # ---- Contents ----

  def rights
    allowed = { 'read' => 'read, search, compare', 'write' => 'all' }
    values = [[USER_DN, @access], *([[@reader, 'read']] if @reader)].map do |dn, access|
      %(aci: (targetattr = "*")(version 3.0; acl "#{dn}"; allow (#{allowed.fetch(access)}) userdn = "ldap:///#{dn}";))
    end
    "dn: #{BASE_DN}\nchangetype: modify\nadd: aci\n#{values.join("\n")}\n"
  end
end
