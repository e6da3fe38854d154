# frozen_string_literal: true

require_relative '../support/command'
require_relative '../support/configured_slapd'
require_relative '../support/debian_slapd'
require_relative '../support/ds389'
require_relative '../support/eventually'
require_relative '../support/foreign_ldif'
require_relative '../support/replica'

# From a server that knows nothing of simpkv to the first key, with what `simpkv schema` prints.
RSpec.describe 'A directory with the files of simpkv schema', :heavy do
  include Eventually

  include_context 'with the command'

  # Names that differ from those in the files, one of them with characters that slapd's rules, ACIs and LDIF escape.
  names = { 'plain' => ['ou=kv,o=site,dc=simp', 'cn=kv,dc=simp'],
            'hex' => ['ou=kv,ou=é,o=site,dc=simp', 'cn=kv\, é,dc=simp'] }

  # @return [String] a file of the printed form
  def printed(form, *arguments)
    File.join(folder, form).tap { |file| File.write(file, simpkv!('schema', '--form', form, *arguments)) }
  end

  # Runs the commands in the comments of a file, as an administrator does, but on the server's socket, without TLS.
  #
  # @return [Array<Array(Integer, String)>] of each, the exit code and what it printed
  def apply(server, file)
    File.read(file).scan(/^#   (ldap(?:add|modify) .+|dsconf .+)$/).map do |(command)|
      command = command.sub('-ZZ ', '').sub(%r{ldap://HOST|ldapi:///}, server.uri).sub(/-f \S+/, "-f #{file}")
                       .sub('-W', "-y #{server.password_file}").sub('ADMIN_DN', "'#{server.class::ROOT_DN}'")
                       .sub('INSTANCE', "-D '#{server.class::ROOT_DN}' -y #{server.password_file} #{server.tcp_uri}")
      output, status = Open3.capture2e(command, chdir: folder)
      [status.exitstatus, output]
    end
  end

  def apply!(server, file)
    failed = apply(server, file).reject { |code, _| code.zero? }
    expect(failed).to eq([])
  end

  # Adds the identity, and points the command at the server.
  def prepare(server, layout, base_dn, identity)
    server.add("dn: #{identity}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n" \
               "userPassword: #{DirectoryServer::PASSWORD}\n")
    backends['default'] = { 'type' => 'ldap' }.merge(
      server.options('base_dn' => base_dn, 'admin_dn' => identity, 'layout' => layout)
    )
  end

  # Stores, reads and lists as the ordinary identity, more than a server lists for anybody.
  def expect_it_to_work(list_size, *options)
    simpkv!('put', 'app1/key', 'value')
    expect([simpkv!('get', 'app1/key'), simpkv!('ls')]).to eq(%W[value app1/\n])
    outcome = simpkv('doctor', '--user', 'root', *options)
    expect(outcome.out).not_to match(/^(PROBLEM|warning)/)
    expect(outcome.out).to include("a folder of #{list_size} keys is listed", 'anonymous access: none')
    expect(outcome.code).to eq(0)
  end

  names.each do |layout, (base_dn, identity)|
    it "holds keys: OpenLDAP with Debian's cn=config, layout #{layout}" do
      DebianSlapd.run do |server|
        prepare(server, layout, base_dn, identity)
        %w[config base].each { |form| apply!(server, printed(form)) }
        expect_it_to_work(501)
      end
    end

    it "holds keys: OpenLDAP with slapd.conf, layout #{layout}" do
      ConfiguredSlapd.run(layout: nil) do |server|
        prepare(server, layout, base_dn, identity)
        server.configure(%w[schema access limits].to_h { |form| [form, printed(form)] })
        apply!(server, printed('base'))
        expect_it_to_work(501)
      end
    end

    # schema_spec.rb has each file for each layout, and lists beyond the default limit of 389-DS. Doctor fills a folder
    # with as many keys, which takes a quarter of a minute of processor time.
    it "holds keys: 389 Directory Server, layout #{layout}", :ds389, long: layout == 'plain' do
      Ds389.run(layout: nil) do |server|
        prepare(server, layout, base_dn, identity)
        %w[ldif base access limits].each do |form|
          apply!(server, printed(form, '--server', '389ds', '--database', Ds389::BACKEND))
        end
        layout == 'plain' ? expect_it_to_work(5001) : expect_it_to_work(501, '--list-size', '501')
      end
    end
  end

  # Where {ForeignLdif} puts its entries.
  place = Struct.new(:layout, :base_dn) do
    def dn(path, kind = :folder)
      Simpkv::Native.dn_from_path(layout.to_sym, kind, base_dn, 'spec', path)
    end

    def slapd?
      false
    end
  end

  # Attributes that mean nothing to the server in an entry that cannot bind.
  harmless = /description|name of another|policy|limits|conflict|is a folder/

  # A class of service showed the bind DN, and so every compiler, the password hash of the Directory Manager. Passwords,
  # rights and classes with an option, such as `;lang-en`, were accepted.
  names.each do |layout, (base_dn, identity)|
    it "lets the bind DN of 389 Directory Server add no accounts and the like, layout #{layout}", :ds389 do
      Ds389.run(layout: nil) do |server|
        prepare(server, layout, base_dn, identity)
        %w[ldif base access].each { |form| apply!(server, printed(form, '--server', '389ds')) }
        simpkv!('put', '-g', 'shared/k', 'value')
        target = place.new(layout, base_dn)
        attempts = ForeignLdif.new(target, target.dn('globals/shared/k', :key)).additions
        codes = attempts.reject { |what, _| what.match?(harmless) }.transform_values do |ldif|
          Open3.capture2e('ldapmodify', '-x', '-D', identity, '-w', DirectoryServer::PASSWORD, '-H', server.uri,
                          stdin_data: "#{ldif}\n").last.exitstatus
        end
        expect([codes.length, codes.values.uniq]).to match([a_value > 24, [50]])
      end
    end
  end

  describe 'for OpenLDAP that has a replica with an identity of its own' do
    attr_reader :supplier

    let(:replicator) { 'cn=replica\, é,dc=simp' }
    let(:quoted) { replicator.sub('\\') { '\\\\' } }
    # The site's own rules, which follow those of simpkv.
    let(:own_rules) { %(access to * by dn.exact="#{quoted}" read by anonymous auth\n) }

    around do |example|
      ConfiguredSlapd.run(layout: nil, more: own_rules + Replica::SUPPLIER) do |server|
        @supplier = server
        example.run
      end
    end

    before do
      backends['default'] = { 'type' => 'ldap' }.merge(supplier.options('layout' => 'plain'))
      supplier.add("dn: #{replicator}\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\n" \
                   "userPassword: #{DirectoryServer::PASSWORD}\n")
    end

    # Prepares the supplier, stores one key, and adds more folders than a server lists for anybody.
    def configure(*arguments)
      forms = { 'schema' => [], 'access' => arguments, 'limits' => arguments }
      supplier.configure(forms.to_h { |form, more| [form, printed(form, *more)] })
      apply!(supplier, printed('base'))
      simpkv!('put', '-g', 'app1/key', 'value')
      supplier.add((1..600).map { |number| <<~LDIF }.join("\n"))
        dn: ou=f#{number},#{DirectoryServer::BASE_DN}
        objectClass: organizationalUnit
      LDIF
    end

    # @yieldparam replica [Replica] that has replicated all that it may read
    def with_replica
      Replica.run(supplier, as: quoted) do |replica|
        supplier.add("dn: cn=marker,dc=simp\nobjectClass: organizationalRole\n")
        eventually(errors: RuntimeError) { replica.search(DirectoryServer::SUFFIX, '(cn=marker)').any? }
        backends['default'].merge!('ldap_uri' => "#{supplier.uri} #{replica.uri}", 'write_uri' => supplier.uri)
        File.write(config, { 'backends' => backends }.to_yaml)
        yield replica
      end
    end

    def entries_of(server)
      server.search(DirectoryServer::SUFFIX, '(objectClass=*)').sort
    end

    def replication
      outcome = simpkv('doctor', '--user', 'root', '--read-only', '-o', 'json')
      JSON.parse(outcome.out).select { |finding| finding['what'] == 'replication' }
    end

    it 'let it read all entries of its supplier, with --replicator' do
      configure('--replicator', replicator)
      with_replica do |replica|
        expect(entries_of(replica)).to eq(entries_of(supplier))
        expect(replication).to match([include('state' => 'ok', 'why' => /has the 1 key of/)])
      end
    end

    # The replica held nothing, and doctor found no problem.
    it 'keep all keys from it, without --replicator, and doctor finds that' do
      configure
      with_replica do |replica|
        expect(entries_of(replica)).to include('cn=marker,dc=simp')
        expect(entries_of(replica).grep(/ou=simpkv/)).to eq([])
        problem = include('state' => 'problem', 'why' => /#{Regexp.escape(replica.uri)} has no entry ou=simpkv/,
                          'fix' => /'to \* by dn\.exact="REPLICA_DN" read by \* break' in front/)
        expect(replication).to match([problem])
      end
    end
  end

  # A consumer does the same: it refers each change of the suffix to its supplier.
  it 'applies limits on a consumer of 389-DS, too, which refers the entry of the identity to its supplier', :ds389 do
    Ds389.run do |server|
      prepare(server, 'plain', DirectoryServer::BASE_DN, 'cn=kv,dc=simp')
      server.modify(<<~LDIF)
        dn: cn="dc=simp",cn=mapping tree,cn=config
        changetype: modify
        replace: nsslapd-referral
        nsslapd-referral: ldap://supplier.example.com/dc%3Dsimp
        -
        replace: nsslapd-state
        nsslapd-state: referral on update
      LDIF
      server.restart
      file = printed('limits', '--server', '389ds', '--database', Ds389::BACKEND)
      expect(apply(server, file).first).to match([10, /Referral \(10\)/])
      expect(File.read(file)).to match(/A consumer returns "Referral \(10\)".*not a failure/m)
      index = "cn=simpkvKey,cn=index,cn=#{Ds389::BACKEND},cn=ldbm database,cn=plugins,cn=config"
      expect(server.entry(index, 'nsIndexType')['nsIndexType']).to contain_exactly('eq', 'sub')
      expect(server.entry('cn=config', 'aci')['aci'].grep(%r{"ldap:///cn=kv,dc=simp"}).length).to eq(1)
    end
  end
end
