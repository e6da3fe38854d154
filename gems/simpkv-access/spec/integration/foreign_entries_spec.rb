# frozen_string_literal: true

require 'simpkv/access/foreign_entries'
require_relative '../support/access_directory'
require_relative '../../../../spec/support/foreign_ldif'

# A writer of one folder attacks with a bare LDAP client. The features of servers turn the right to add an entry into
# other rights: a class of service shows a foreign value, an account can bind.
Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Entries that simpkv does not make, #{server} #{layout}", once: true, **tags do
    before(:context) do
      @access = AccessDirectory.new(server, layout)
      @access.start
      @access.add_user('writer')
      @access.add_role('writers', %w[writer])
      @access.root.put('globals/secret/k', '{"value":"hidden treasure"}')
      fill
      # Debian's first rule.
      @access.add_rule('to attrs=userPassword by self write by anonymous auth by * none') if @access.slapd?
      @access.apply([@access.grant('writers', 'globals/shared', %w[read list write])])
    end

    after(:context) { @access&.stop }

    attr_reader :access

    let(:shared) { access.dn('globals/shared') }
    let(:ldif) { ForeignLdif.new(access, access.dn('globals/secret/k', :key)) }
    let(:store) { access.store('writer') }

    def fill
      access.root.put_many({ 'globals/shared/k' => ForeignLdif::DOCUMENT,
                             'globals/shared/f/k' => ForeignLdif::DOCUMENT })
    end

    def restore
      access.server.delete_tree(shared)
      fill
    end

    # @return [Array<String>] the attempts that change something
    def accepted(attempts)
      before = everything
      attempts.reject do |_, text|
        _, success = access.tool('writer', 'ldapmodify', '-M', input: "#{text}\n")
        next true if !success && everything == before

        restore
        false
      end.keys
    end

    def everything
      access.server.entries(DirectoryServer::BASE_DN, '(|(objectClass=*)(objectClass=ldapSubEntry))', '*', 'aci')
            .sort_by { |entry| entry['dn'] }
    end

    # A class of service showed a writer of one folder all values, and the password of the server's administrator.
    it 'cannot be added by a writer' do
      expect(accepted(ldif.additions)).to eq([])
    end

    it 'cannot be made of keys and folders by a writer' do
      expect(accepted(ldif.modifications)).to eq([])
    end

    # slapd checks no right on a name that is added, and both servers let a key have its own document as a name.
    it 'can be made by few renames, and nobody can bind as one' do
      passed = ->(what) { ldif.renames.keys.grep(/ to #{what}.* \(0\)/) }
      folders = access.slapd? && layout == 'plain' ? passed['(userPassword|description|seeAlso)'].grep(/\Aou=f,/) : []
      classes = access.slapd? ? passed['objectClass=extensibleObject'] : []
      expect(accepted(ldif.renames)).to match_array(folders + classes + passed['simpkvJsonValue'])
      access.tool('writer', 'ldapmodify', input: ldif.renames.values.grep(/userPassword.*\ndeleteoldrdn: 0/).first)
      expect(binds?("userPassword=secretpw,#{shared}", 'secretpw')).to be(false)
    ensure
      restore
    end

    def binds?(dn, password)
      system('ldapwhoami', '-x', '-D', dn, '-w', password, '-H', access.server.uri, %i[out err] => File::NULL)
    end

    it 'do not keep a writer from keys and folders' do
      value = ForeignLdif::DOCUMENT
      store.put('globals/shared/new/deep/k', value)
      expect(store.put('globals/shared/new/deep/k', '{"value":2}')).to be(true)
      expect(store.put_many({ 'globals/shared/a' => value, 'globals/shared/new/b' => value }).values).to eq([true] * 2)
      store.create_folder('globals/shared/new/empty')
      expect(store.tree('globals/shared')[:keys].keys).to match_array(%w[k f/k a new/b new/deep/k])
      expect([store.delete('globals/shared/a'), store.deletetree('globals/shared/new')]).to eq([true, true])
      expect(store.list('globals/shared')).to eq(keys: { 'k' => value }, folders: ['f'], errors: {})
    end

    it 'do not keep a writer from the deletion of entries that replication has left behind', if: server == Ds389 do
      access.server.modify(ldif.conflict)
      expect(access.tool('writer', 'ldapdelete', access.dn('globals/shared/x', :key)).last).to be(true)
    end

    # @return [Simpkv::Access::ForeignEntries] as an identity sees them
    def foreign(store = access.root, settings = access.settings, path: nil)
      Simpkv::Access::ForeignEntries.new(store, settings, access.slapd? ? 'openldap' : '389ds', path)
    end

    it 'are not said to be missing to an identity that sees none' do
      settings = access.settings.merge('admin_dn' => DirectoryServer::STRANGER_DN)
      stranger = access.store_of(DirectoryServer::STRANGER_DN)
      expect { foreign(stranger, settings).all }.to raise_error(Simpkv::DeniedError)
    ensure
      stranger&.close
    end

    it 'are found in an existing tree, with the command that deletes each' do
      expect(foreign.all).to eq([])
      ldif.planted.each_value { |_, text| access.server.modify(text) }
      found = foreign.all.to_h { |entry| [entry.dn, entry.why] }
      expect(found).to match(ldif.planted.to_h { |dn, (why, _)| [dn, a_string_including(why)] })
      below = %w[globals/secret globals/shared].map { |path| foreign(path: path).all.map(&:dn) }
      expect(below).to eq([[], foreign.all.map(&:dn)])
      foreign.all.each { |entry| expect(system(foreign.deletion(entry))).to be(true) }
      expect(foreign.all).to eq([])
    ensure
      restore
    end
  end
end

# slapd checks no right on a name that a rename adds.
Directories::ALL.select { |server, *| server == Slapd }.each do |server, layout, tags|
  RSpec.describe "An account that a writer makes of a folder by renames, #{server} #{layout}", once: true, **tags do
    before(:context) do
      @access = AccessDirectory.new(server, layout)
      @access.start
      %w[writer other].each { |user| @access.add_user(user) }
      @access.add_role('writers', %w[writer])
      @access.root.put('globals/shared/f/k', '{"value":1}')
      @access.add_rule('to * by * read')
      @access.apply([@access.grant('writers', 'globals/shared', %w[read list write])])
      rename
    end

    after(:context) { @access&.stop }

    attr_reader :access

    def found(filter)
      access.tool('other', 'ldapsearch', '-LLL', '-b', DirectoryServer::SUFFIX, filter).first
    end

    # As the folder that it was, in the end.
    def rename
      old = @access.dn('globals/shared/f')[/\A[^,]+/]
      [old, 'objectClass=extensibleObject', 'uid=evil+description=x', old].each_cons(2) do |from, to|
        input = "dn: #{from},#{@access.dn('globals/shared')}\nchangetype: modrdn\nnewrdn: #{to}\ndeleteoldrdn: 0\n"
        @access.tool('writer', 'ldapmodify', input: input)
      end
    end

    # Hosts that look for accounts in the whole directory would have had a new user.
    it 'is not found by its name' do
      filter = '(&(uid=evil)(objectClass=extensibleObject))'
      expect(access.server.entries(DirectoryServer::SUFFIX, filter).length).to eq(1)
      expect(found('(uid=evil)')).not_to include('ou=globals')
    end

    it 'does not show its attributes' do
      expect(found('(objectClass=extensibleObject)'))
        .to match(/^objectClass: extensibleObject$/).and(satisfy { |text| !text.include?('uid: evil') })
    end

    it 'is found by an administrator' do
      expect(Simpkv::Access::ForeignEntries.new(access.root, access.settings, 'openldap').all.map(&:why))
        .to match([/object class extensibleObject/])
    end
  end
end
