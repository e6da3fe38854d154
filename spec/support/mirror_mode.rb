# frozen_string_literal: true

require_relative 'debian_slapd'
require_relative 'server_pair'

# Two OpenLDAP servers as Debian's package sets them up, which docs/high-availability.md makes a pair: each has the
# changes of the other, and one takes writes.
#
#   MirrorMode.run { |pair| pair.each { |server| Simpkv::Store.open('ldap', server.options('id' => 'x')) } }
class MirrorMode < ServerPair
  HEADING = 'How to make a pair of OpenLDAP'
  # A server whose database is empty when it starts: the first one is filled later, and the second one by replication.
  class Server < DebianSlapd
    def initialize(**options)
      super
      @layout = 'plain'
    end

    # Changes the configuration, as an administrator on the machine of the server.
    def change(ldif)
      execute('ldapmodify', '-Q', '-Y', 'EXTERNAL', '-H', uri, stdin_data: ldif)
    end

    # @param commands [String] of a page
    # @return [String] the same, with the data of this server and its user, and the tools that read and write there
    def offline(commands)
      names = { '/var/lib/ldap' => File.join(@folder, 'data'), '-g openldap' => "-g #{Process.gid}",
                ':openldap' => ":#{Process.gid}", 'openldap' => Process.uid.to_s }
      commands.gsub(/\bslapcat |\bslapadd (?!.*-F )/) { |tool| "#{tool}-F #{File.join(@folder, 'slapd.d')} " }
              .gsub(Regexp.union(names.keys), names)
    end

    # Saves all entries with the state of replication, as docs/backup.md does.
    #
    # @return [String] the file
    def save
      run_page("With OpenLDAP's own tools")
      File.join(@folder, 'data.ldif')
    end

    # Replaces all entries, as docs/backup.md does. The server is down.
    #
    # @param file [String]
    def restore(file)
      run_page('Its data', 'BACKUP' => File.dirname(file))
    end

    # @return [String] LDIF of the suffix, the identities and the base tree
    def contents
      [without_base, schema_file('base.ldif')].join("\n")
    end

    private

    # Runs the commands of a section of docs/backup.md, except those for the unit of the server.
    def run_page(heading, names = {})
      commands = Page.new('backup.md').blocks(heading, 'sh').join
      Page.shell(offline(commands.gsub(/^ *systemctl .*\n/, '')), { 'BACKUP' => @folder }.merge(names))
    end

    def command
      super.tap { |words| words[words.index('-h') + 1] += " #{tls_uri}" }
    end

    def fill
      change("dn: cn=config\nchangetype: modify\n" \
             "replace: olcTLSCACertificateFile\nolcTLSCACertificateFile: #{certificates.cacert}\n-\n" \
             "replace: olcTLSCertificateFile\nolcTLSCertificateFile: #{@tls.first}\n-\n" \
             "replace: olcTLSCertificateKeyFile\nolcTLSCertificateKeyFile: #{@tls.last}\n")
    end
  end

  # Has a server refuse the writes of clients, or take them again, as the page does.
  def read_only(server, state)
    block, = PAGE.blocks('How to move writes back', 'ldif')
    server.change(block.sub('TRUE', state.to_s.upcase))
  end

  # Starts a server that is down, with the data of the other one in place of its own, as the page does.
  def recover(server)
    other = find { |each| each != server }
    steps, = PAGE.blocks('If the disk of a server is lost', 'sh')
    steps = steps.sub(/^ *systemctl start slapd\n/, '')
    save = other.offline(PAGE.command('(umask 077; slapcat -n 1'))
    # Everybody could read the file.
    Page.shell([save, 'test "$(stat -c %a data.ldif)" = 600', server.offline(steps)].join("\n"))
    relaunch(server)
  end

  private

  def new_server(**options)
    server = Server.new(tls: true, authority: @authority, **options)
    @authority = server.certificates
    server
  end

  def uri_of(server)
    server.tls_uri
  end

  def configure
    commands, = PAGE.blocks(HEADING, 'sh')
    replication, identity = PAGE.blocks(HEADING, 'ldif').map { |block| with_names(block) }
    each.with_index(1) do |server, number|
      Page.shell(commands.gsub('ldapi:///', server.uri))
      server.change(replication.sub('olcServerID: 1', "olcServerID: #{number}")
                               .sub('ldaps://ldap2.example.com', other_of(server)))
    end
    first.add([first.contents, identity].join("\n"))
    eventually(errors: RuntimeError) { last.entry(DirectoryServer::SUFFIX, '1.1') }
  end

  def with_names(block)
    block.sub('REPLICATOR_PASSWORD', DirectoryServer::PASSWORD).sub('/etc/pki/tls/certs/ca.pem', @authority.cacert)
  end
end
