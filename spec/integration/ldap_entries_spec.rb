# frozen_string_literal: true

require_relative '../support/audit_file'
require_relative '../support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "Entries of a directory that are not keys, #{server}", once: server == Ds389, **tags do
    include_context 'with a directory', server
    include AuditFile

    let(:entries) { store.directory }
    let(:base) { "ou=#{id},#{DirectoryServer::BASE_DN}" }
    let(:unit) { { 'objectClass' => %w[top organizationalUnit], 'ou' => [id] } }

    it 'are read, with all attributes or some, in the spelling of the server' do
      # 389-DS repeats the spelling of the request.
      name = server == Slapd ? 'namingContexts' : 'NAMINGCONTEXTS'
      expect(entries.read_entry('', %w[NAMINGCONTEXTS])).to eq(name => [DirectoryServer::SUFFIX])
      expect(entries.read_entry(DirectoryServer::BASE_DN, %w[ou description])).to eq('ou' => ['simpkv'])
      all = entries.read_entry(DirectoryServer::BASE_DN, [])
      expect(all['objectClass']).to include('organizationalUnit')
      expect(all.values.flatten.map(&:encoding).uniq).to eq([Encoding::UTF_8])
      expect(entries.read_entry(DirectoryServer::BASE_DN, %w[+]).keys).to include('modifyTimestamp')
      expect(entries.read_entry(DirectoryServer::BASE_DN, %w[1.1])).to eq({})
    end

    it 'are added once, and below others' do
      expect(entries.add_entry(base, unit)).to be(true)
      expect(entries.add_entry(base, unit)).to be(false)
      expect(entries.read_entry(base, %w[ou objectClass])).to eq(unit)
      expect(directory.entry(base, 'ou')).to eq('dn' => [base], 'ou' => [id])
      expect { entries.add_entry("ou=a,ou=b,#{base}", unit) }
        .to raise_error(Simpkv::NotFoundError, /Adding 'ou=a,ou=b,.*' failed: there is no entry above it/)
    end

    it 'are extended by values, by all of them or none' do
      entries.add_entry(base, unit)
      expect(entries.extend_entry(base, 'description' => %w[one äöü], 'l' => ['here'])).to be(true)
      expect(entries.extend_entry(base, 'description' => %w[three one])).to be(false)
      found = entries.read_entry(base, %w[description l])
      expect(found.transform_values(&:sort)).to eq('description' => %w[one äöü], 'l' => ['here'])
    end

    it 'have lines in an audit log, without values' do
      settings = Simpkv::Config.typed({ 'type' => 'ldap', 'audit' => audit }.merge(directory.options('id' => id)), 'b')
      audited = Simpkv::Layers.over(store, settings, node: 'web1').directory
      2.times { audited.add_entry(base, unit) }
      audited.extend_entry(base, 'description' => ['pl4nted'])
      audited.modify_entry(base, [[:add, 'description', ['pl4nted']]])
      user = { 'objectClass' => %w[top account simpleSecurityObject], 'uid' => ['u'], 'userPassword' => ['pl4nted'] }
      audited.add_entry("uid=u,#{base}", user)
      audited.set_entry_password("uid=u,#{base}", 'pl4nted')
      2.times { audited.delete_entry("uid=u,#{base}") }
      expect(lines.map { |line| line.values_at('operation', 'key', 'outcome').join(' ') })
        .to eq(["add_entry #{base} written", "add_entry #{base} unchanged", "modify_entry #{base} written",
                "modify_entry #{base} conflict", "add_entry uid=u,#{base} written",
                "set_entry_password uid=u,#{base} written", "delete_entry uid=u,#{base} deleted",
                "delete_entry uid=u,#{base} absent"])
      expect(File.read(audit_file)).not_to include('pl4nted')
      expect(lines.first['identity']).to eq(settings['admin_pw_file'] ? settings['admin_dn'] : Simpkv::Audit.user)
    end

    it 'may be missing' do
      missing = "ou=none,#{base}"
      expect { entries.read_entry(missing, []) }
        .to raise_error(Simpkv::NotFoundError, /Cannot read '#{missing}': there is no such entry \(ldapi:/)
      expect { entries.extend_entry(missing, 'l' => ['x']) }.to raise_error(Simpkv::NotFoundError, /no such entry/)
    end

    it 'are refused with the message of the server, and without values' do
      { { 'objectClass' => ['top'], 'ou' => [id], 'colour' => ['hush'] } => /colour|not allowed/,
        unit.merge('preferredDeliveryMethod' => ['hush hush']) => /syntax/i,
        unit.merge('objectClass' => %w[top hushed]) => /object ?class/i }.each do |attributes, words|
        expect { entries.add_entry(base, attributes) }.to raise_error(Simpkv::UnavailableError) { |error|
          expect(error.message).to match(/Adding '#{base}' failed: .* answered \d+ to '/).and match(words)
          expect(error.message).not_to include('hush hush')
        }
      end
      expect { entries.read_entry(base, []) }.to raise_error(Simpkv::NotFoundError)
    end

    it 'are denied to an identity without rights' do
      stranger = open_store('admin_dn' => DirectoryServer::STRANGER_DN).directory
      expect { stranger.read_entry(DirectoryServer::BASE_DN, []) }.to raise_error(Simpkv::Error, /BASE|simpkv/)
      expect { stranger.add_entry(base, unit) }.to raise_error(Simpkv::Error)
      expect { entries.extend_entry(DirectoryServer::SUFFIX, 'l' => ['x']) }.to raise_error(Simpkv::Error)
    end

    it 'have DNs' do
      expect { entries.read_entry('no DN', []) }.to raise_error(Simpkv::InvalidError, /'no DN'/)
      expect { entries.add_entry('no DN', unit) }.to raise_error(Simpkv::InvalidError, /'no DN'/)
      expect { entries.add_entry(base, {}) }.to raise_error(Simpkv::InvalidError)
    end

    it 'have texts without NUL, of a limited size' do
      nul = ["a\0b", "\0"]
      calls = nul.flat_map do |text|
        [-> { entries.read_entry("#{text},#{base}", []) }, -> { entries.entries(base, [text]) },
         -> { entries.add_entry(base, unit.merge('description' => [text])) },
         -> { entries.add_entry(base, text => ['x']) }, -> { entries.modify_entry(base, [[:add, text, ['x']]]) },
         -> { entries.modify_entry(base, [[:add, 'l', [text]]]) },
         -> { entries.delete_entry(base, version: text) }, -> { entries.set_entry_password(base, text) },
         -> { entries.password?(base, text) }, -> { entries.password?(text, 'x') }]
      end
      calls.each { |call| expect(&call).to raise_error(Simpkv::InvalidError) }
      expect { entries.modify_entry(base, [[:add, 'l', ['x' * (5 << 20)]]]) }
        .to raise_error(Simpkv::TooLargeError, /4194304 are allowed/)
      expect { entries.set_entry_password(base, 'hush' * 2000) }
        .to raise_error(Simpkv::TooLargeError, /the password has 8000 bytes/)
    end

    it 'have Strings' do
      [-> { entries.read_entry(nil, []) }, -> { entries.entries(base, 'ou') }, -> { entries.entries(base, [1]) },
       -> { entries.add_entry(base, 'ou' => 'x') }, -> { entries.add_entry(base, 'ou' => [:x]) },
       -> { entries.modify_entry(base, [[:add, 'ou', [nil]]]) }, -> { entries.delete_entry(:x) },
       -> { entries.set_entry_password(base, nil) }, -> { entries.password?(1, 'x') }]
        .each { |call| expect(&call).to raise_error(TypeError) }
    end

    it 'keep large values' do
      entries.add_entry(base, unit.merge('description' => ['x' * 1_000_000]))
      expect(entries.read_entry(base, %w[description])).to eq('description' => ['x' * 1_000_000])
    end

    it 'are listed with their attributes, without those further below' do
      expect { entries.entries(base, %w[ou]) }.to raise_error(Simpkv::NotFoundError, /Cannot list '#{base}'/)
      entries.add_entry(base, unit)
      expect(entries.entries(base, %w[ou])).to eq({})
      names = Array.new(12) { |i| "unit#{i}" }
      names.each { |name| entries.add_entry("ou=#{name},#{base}", unit.merge('ou' => [name])) }
      entries.add_entry("ou=deeper,ou=unit0,#{base}", unit.merge('ou' => ['deeper']))
      expect(open_store('page_size' => 5).directory.entries(base, %w[ou]))
        .to eq(names.to_h { |name| ["ou=#{name},#{base}", { 'ou' => [name] }] })
      found = entries.entries(base, %w[ou], '(|(ou=unit1)(ou=deeper)(ou=\\2a))')
      expect(found.keys).to contain_exactly("ou=unit1,#{base}", "ou=deeper,ou=unit0,#{base}")
      expect { entries.entries(base, %w[ou], "(ou=\0)") }.to raise_error(Simpkv::InvalidError, /holds a NUL byte/)
    end

    it 'are changed, by all changes or none' do
      entries.add_entry(base, unit.merge('description' => %w[a b], 'l' => ['here']))
      expect(entries.modify_entry(base, [[:delete, 'description', ['a']], [:add, 'description', %w[c d]],
                                         [:replace, 'l', ['there']], [:replace, 'street', []]])).to be(true)
      expect(entries.modify_entry(base, [[:add, 'street', ['x']], [:delete, 'description', ['a']]])).to be(false)
      expect(entries.modify_entry(base, [[:add, 'street', ['x']], [:add, 'description', ['c']]])).to be(false)
      expect(entries.modify_entry(base, [[:replace, 'l', []]])).to be(true)
      expect(entries.read_entry(base, %w[description l street]).transform_values(&:sort))
        .to eq('description' => %w[b c d])
      expect { entries.modify_entry(base, [[:move, 'l', ['x']]]) }.to raise_error(Simpkv::InvalidError, /'move'/)
      expect { entries.modify_entry(base, []) }.to raise_error(Simpkv::InvalidError)
    end

    it 'are changed and deleted on condition of their version, if the server has versions' do
      entries.add_entry(base, unit)
      read = entries.read_entry(base, %w[entryCSN])['entryCSN']&.first
      expect(read.nil?).to be(server == Ds389)
      expect(entries.modify_entry(base, [[:replace, 'l', ['x']]], version: read)).to be(true)
      expect(entries.modify_entry(base, [[:replace, 'l', ['y']]], version: read)).to be(read.nil?)
      expect { entries.delete_entry(base, version: read) }.to raise_error(Simpkv::ConflictError, /meanwhile/) if read
      expect(entries.delete_entry(base)).to be(true)
      expect(entries.delete_entry(base)).to be(false)
    end

    it 'have passwords, which the server hashes, and checks by a bind' do
      root = open_store('admin_dn' => server::ROOT_DN).directory
      dn = "ou=#{id},#{DirectoryServer::SUFFIX}"
      root.add_entry(dn, unit)
      expect(root.password?(dn, 'first')).to be(false)
      expect(root.set_entry_password(dn, 'first')).to be_nil
      expect(directory.entry(dn, 'userPassword')['userPassword']).to match([/\A\{[\w-]+\}./])
      expect(%w[first second].map { |password| root.password?(dn, password) }).to eq([true, false])
      root.set_entry_password(dn, 'zwöite')
      expect(%w[first zwöite].map { |password| root.password?(dn, password) }).to eq([false, true])
      expect { root.set_entry_password("ou=none,#{dn}", 'x') }.to raise_error(Simpkv::NotFoundError, /no such entry/)
      expect { entries.set_entry_password(dn, 'hush') }.to raise_error(Simpkv::Error) { |error|
        expect(error.message).not_to include('hush')
      }
    end

    it 'are added and extended by an identity with rights' do
      root = open_store('admin_dn' => server::ROOT_DN).directory
      dn = "ou=#{id},#{DirectoryServer::SUFFIX}"
      expect(root.add_entry(dn, unit)).to be(true)
      expect(root.extend_entry(dn, 'l' => ['here'])).to be(true)
      expect(root.read_entry(dn, %w[l])).to eq('l' => ['here'])
    end
  end
end
