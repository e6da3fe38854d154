# frozen_string_literal: true

require_relative 'slapd'

# An OpenLDAP server as Debian's package sets it up: with cn=config from the package's own template. The user who runs
# it is its administrator, over ldapi.
class DebianSlapd < Slapd
  TEMPLATE = '/usr/share/slapd/slapd.init.ldif'

  def initialize(**options)
    super(layout: nil, **options)
  end

  private

  def prepare
    %w[data slapd.d].each { |name| FileUtils.mkdir(File.join(@folder, name)) }
    execute('slapadd', '-n', '0', '-F', File.join(@folder, 'slapd.d'), stdin_data: configuration)
  end

  def command
    ['slapd', '-F', File.join(@folder, 'slapd.d'), '-h', [uri, tcp_uri].join(' '), '-d', 'stats']
  end

  def configuration
    user = "gidNumber=#{Process.gid}+uidNumber=#{Process.uid}"
    names = { '@SUFFIX@' => SUFFIX, '@PASSWORD@' => PASSWORD, '/var/lib/ldap' => File.join(@folder, 'data'),
              '/var/run/slapd' => @folder, 'gidNumber=0+uidNumber=0' => user }
    File.read(TEMPLATE).gsub(Regexp.union(names.keys), names)
  end

  def tree
    without_base
  end
end
