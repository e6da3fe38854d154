# frozen_string_literal: true

require_relative '../support/command'
require_relative '../support/debian_slapd'
require_relative '../support/page'

# docs/high-availability.md prepares servers that docs/directories.md has prepared already.
RSpec.describe 'simpkv schema --missing-from', :heavy do
  include_context 'with the command'

  around do |example|
    DebianSlapd.run do |server|
      @server = server
      backends['default'] = { 'type' => 'ldap' }.merge(
        server.options('base_dn' => 'ou=KV,ou=é,o=site,dc=simp', 'admin_dn' => 'cn=kv\, é,dc=simp')
      )
      example.run
    end
  end

  def printed(*arguments)
    simpkv!('schema', '--form', 'config', *arguments)
  end

  # Loads a file, as root on the machine of the server.
  def load(ldif)
    File.write(file = File.join(folder, 'simpkv.ldif'), ldif)
    output, status = Open3.capture2e('ldapmodify', '-Q', '-Y', 'EXTERNAL', '-H', @server.uri, '-f', file)
    status.success? ? output : raise(output)
  end

  # @return [Hash{String => Array<String>}] what simpkv has in the configuration of the database
  def settings
    text, = Open3.capture2('ldapsearch', '-Q', '-LLL', '-Y', 'EXTERNAL', '-H', @server.uri, '-o', 'ldif_wrap=no', '-b',
                           'olcDatabase={1}mdb,cn=config', '-s', 'base', 'olcAccess', 'olcLimits', 'olcDbIndex')
    pairs = text.scan(/^(olc\w+):(?:: (\S+)| (.*))$/).map do |name, encoded, plain|
      [name, encoded ? encoded.unpack1('m').force_encoding('UTF-8') : plain]
    end
    pairs.group_by(&:first).transform_values { |same| same.map(&:last) }
  end

  let(:missing) { ['--missing-from', @server.uri] }
  let(:replicator) { ['--replicator', 'cn=replica\, é, dc=simp'] }

  # The page had the server load all a second time: it refused the schema, and took the rules twice with -c.
  it 'prints what a prepared server lacks, which makes it as one that got all at once, and then nothing' do
    expect(printed(*missing)).to eq(printed)
    load(printed(*missing))
    ldif = printed(*replicator, *missing)
    expect(ldif).not_to match(/olcAttributeTypes|olcDbIndex/)
    expect(load(ldif).scan(/^modifying/).length).to eq(2)
    after = settings
    expect(after['olcAccess'].length).to eq(6)
    expect(after['olcAccess'].first).to start_with('{0}to * by dn.exact="cn=replica')
    expect(after['olcLimits'].map { |limit| limit[/cn=\w+/] }).to eq(%w[cn=kv cn=replica])
    expect(load(printed(*replicator, *missing))).to eq('')
    expect([settings, printed(*replicator, *missing)]).to eq([after, "# The server has all of it.\n"])
  end

  it 'prints all other parts for a server that has only the schema' do
    load(printed[/\A.*?(?=^# Access rules)/m])
    expect(load(printed(*replicator, *missing)).scan(/^modifying/).length).to eq(3)
    both = settings
    expect(both['olcDbIndex']).to include('simpkvKey eq,sub')
    expect(printed(*replicator, *missing)).to eq("# The server has all of it.\n")
  end

  # Runs a script with another /run, so that no other server of the machine is there. A process that is forked from one
  # outside would not see it.
  def in_empty_run(script)
    command = "simpkv() { #{Unbundled::COMMAND.join(' ')} \"$@\"; }"
    Page.shell("unshare --mount sh -eu << 'END'\nmount -t tmpfs none /run\n#{command}\n#{script}\nEND\n",
               'SIMPKV_CONFIG' => config)
  end

  # Runs a script where the socket of the server is the one that ldapi:/// stands for.
  def at_default_socket(script)
    socket = @server.uri.delete_prefix('ldapi://').gsub('%2F', '/')
    in_empty_run("mkdir /run/slapd\nln -s '#{socket}' /run/slapd/ldapi\n#{script}")
  end

  # It refused ldapi:///, which the tools of OpenLDAP take for the default socket.
  it 'asks the server of the machine as the pages say' do
    page = Page.new('high-availability.md').blocks_of('sh').find { |block| block.include?('--missing-from') }
    commands = page.lines.grep(%r{ldapi:///}).join
    expect(commands.lines.length).to eq(2)
    expect(at_default_socket(commands)).to include('modifying entry')
    expect(at_default_socket('simpkv schema --form config --missing-from ldapi:///'))
      .to eq("# The server has all of it.\n")
  end

  it 'tells where the server of the machine should be' do
    expect { in_empty_run('simpkv schema --form config --missing-from ldapi:///') }
      .to raise_error(%r{there is none at /run/slapd/ldapi, /run/ldapi, .* as in ldapi://%2Frun%2Fslapd%2Fldapi$})
  end

  it 'names a database that the server does not have, and refuses other forms' do
    expect(simpkv('schema', '--form', 'config', '--database', '{7}mdb', *missing))
      .to have_attributes(code: 78, out: '', err: /no 'olcDatabase=\{7\}mdb,cn=config': --database names the one/)
    expect(simpkv('schema', '--form', 'access', *missing))
      .to have_attributes(code: 64, err: /--missing-from is for the form config/)
  end
end
