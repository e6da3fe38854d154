# frozen_string_literal: true

require_relative '../support/access_directory'

# The operations of identities with roles on real servers, compared with what the roles say.
module AccessMatrix
  # The roles, each with its rights on its prefix.
  ROLES = {
    'readers' => ['environments/dev', %w[read]],
    'listers' => ['environments/dev', %w[list]],
    'browsers' => ['environments/dev', %w[read list]],
    'writers' => ['environments/dev', %w[write]],
    'editors' => ['environments/dev', %w[read list write]],
    'app-editors' => ['environments/dev/app', %w[list write]],
    'dashboards' => ['environments/*', %w[read list]],
    'sharers' => ['globals/shared', %w[list write]]
  }.freeze

  # The users, each with its roles.
  USERS = {
    'reader' => %w[readers], 'lister' => %w[listers], 'browser' => %w[browsers], 'writer' => %w[writers],
    'editor' => %w[editors], 'app-editor' => %w[app-editors], 'dashboard' => %w[dashboards],
    'sharer' => %w[sharers], 'lister-and-writer' => %w[listers writers],
    'reader-and-app-editor' => %w[readers app-editors], 'nobody' => []
  }.freeze

  # Folders with a key `k` each. Names that begin alike are siblings.
  FOLDERS = %w[environments/dev environments/dev/app environments/dev/apples environments/dev2 environments/dev2/app
               environments/de globals/shared globals/shared2 globals/share].freeze

  DOCUMENT = '{"value":"hidden treasure"}'
  OTHER = '{"value":"another"}'

  # @param slapd [Boolean] whether the server distinguishes between reading and listing
  # @return [Array<String>] the rights of a user on a folder
  def self.rights(user, folder, slapd)
    rights = USERS.fetch(user).flat_map do |role|
      prefix, rights = ROLES.fetch(role)
      "#{folder}/".start_with?("#{prefix.chomp('/*')}/") ? rights : []
    end
    rights |= %w[read] if rights.include?('write')
    rights |= %w[list] if rights.include?('read') && !slapd
    rights
  end
end

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Identities with roles, #{server} #{layout}", once: true, thorough: true, **tags do
    before(:context) do
      @access = AccessDirectory.new(server, layout)
      @access.start
      AccessMatrix::USERS.each_key { |user| @access.add_user(user) }
      AccessMatrix::ROLES.each_key do |role|
        @access.add_role(role, AccessMatrix::USERS.select { |_, roles| roles.include?(role) }.keys)
      end
      @access.root.put_many(keys.to_h { |key| [key, AccessMatrix::DOCUMENT] })
      @access.apply(grants)
    end

    after(:context) { @access&.stop }

    attr_reader :access

    def grants
      AccessMatrix::ROLES.map { |role, (prefix, rights)| access.grant(role, prefix, rights) }
    end

    def keys
      AccessMatrix::FOLDERS.map { |folder| "#{folder}/k" }
    end

    # Puts back what an example has changed.
    def restore
      access.root.put_many(keys.to_h { |key| [key, AccessMatrix::DOCUMENT] })
      AccessMatrix::FOLDERS.each do |folder|
        %w[one two].each { |key| access.root.delete("#{folder}/#{key}") }
        access.root.deletetree("#{folder}/made")
      end
    end

    # @return [Object] the result; the class of the error, if it is one of the expected ones
    def outcome
      yield
    rescue Simpkv::DeniedError => e
      e.message.match?(/hidden treasure/) ? e.message : :denied
    rescue Simpkv::NotFoundError
      :missing
    end

    def outcomes(result)
      result.transform_values { |value| outcome { value.is_a?(Exception) ? raise(value) : value } }
    end

    # Returns the results of reads, by operation.
    def reads(store, folder)
      { get: outcome { store.get("#{folder}/k") },
        get_missing: outcome { store.get("#{folder}/none") },
        get_deep: outcome { store.get("#{folder}/none/of/them") },
        get_many: outcomes(store.get_many(["#{folder}/k", "#{folder}/none"])).values,
        exist: outcome { store.exist?("#{folder}/k") },
        exist_missing: outcome { store.exist?("#{folder}/none") },
        exist_folder: outcome { store.exist?(folder) },
        list: outcome { names(store.list(folder)) },
        tree: outcome { names(store.tree(folder)) },
        names: outcome { store.tree(folder, values: false)[:keys].key?('k') } }
    end

    def names(found)
      found[:keys]['k'] || (:denied if found[:errors]['k'])
    end

    def expected_reads(rights)
      list = rights.include?('list') || :denied
      value = rights.include?('read') ? AccessMatrix::DOCUMENT : :denied
      values = list == true ? value : :denied
      expected_misses(rights).merge(get: value, exist_folder: list, list: values, tree: values, names: list)
    end

    # Names are shown by both rights.
    def expected_misses(rights)
      missing, exist, exist_missing = (rights & %w[read list]).any? ? [:missing, true, false] : [:denied] * 3
      { get_missing: missing, get_deep: missing, exist: exist, exist_missing: exist_missing,
        get_many: [rights.include?('read') ? AccessMatrix::DOCUMENT : :denied, missing] }
    end

    # Returns the results of writes, by operation.
    def writes(store, folder)
      { put: outcome { store.put("#{folder}/k", AccessMatrix::OTHER) },
        put_new: outcome { store.put("#{folder}/one", AccessMatrix::OTHER) },
        put_deep: outcome { store.put("#{folder}/made/a/b/k", AccessMatrix::OTHER) },
        put_many: outcomes(store.put_many({ "#{folder}/two" => AccessMatrix::OTHER,
                                            "#{folder}/made/c/k" => AccessMatrix::OTHER })).values,
        create_folder: outcome { store.create_folder("#{folder}/made/d/e") },
        delete_folder: outcome { store.delete_folder("#{folder}/made/d/e") },
        deletetree: outcome { store.deletetree("#{folder}/made") },
        delete: outcome { store.delete("#{folder}/k") } }
    end

    def expected_writes(rights)
      write = rights.include?('write') || :denied
      { put: write, put_new: write, put_deep: write, put_many: [write, write], create_folder: write,
        delete_folder: delete_folder(rights), deletetree: delete_folder(rights), delete: write }
    end

    # A folder that does not exist is no error for an identity that would see it.
    def delete_folder(rights)
      return :denied unless rights.include?('list') || (rights.include?('read') && !rights.include?('write'))

      rights.include?('write')
    end

    # @return [Hash{String => String}] all keys with their documents
    def stored
      %w[environments globals].map do |root|
        access.root.tree(root)[:keys].transform_keys { |key| "#{root}/#{key}" }
      end.reduce(:merge)
    end

    AccessMatrix::USERS.each_key do |user|
      it "reads and writes what its roles permit, and nothing else: #{user}" do
        AccessMatrix::FOLDERS.each do |folder|
          rights = AccessMatrix.rights(user, folder, access.slapd?)
          before = stored
          expect([folder, reads(access.store(user), folder)]).to eq([folder, expected_reads(rights)])
          expect([folder, writes(access.store(user), folder)]).to eq([folder, expected_writes(rights)])
          changed = before.reject { |key, document| stored[key] == document }.keys
          expect(changed - (rights.include?('write') ? ["#{folder}/k"] : [])).to eq([])
        ensure
          restore
        end
      end
    end

    # @return [String] LDIF of a key without a value
    def ldif_of(dn)
      "dn: #{dn}\nobjectClass: simpkvEntry\n#{dn[/\A[^,]+/].sub('=', ': ')}\n" \
        "#{"simpkvId: k\n" if access.server.layout == 'hex'}"
    end

    # @return [Hash{String => String}] the answers to somebody without rights, by tool, without the name of the key
    def answers_about(key)
      dn = access.dn("environments/dev/#{key}", :key)
      change = "dn: #{dn}\nchangetype: modify\nreplace: simpkvJsonValue\nsimpkvJsonValue: x\n"
      rename = "dn: #{dn}\nchangetype: modrdn\nnewrdn: #{access.dn('globals/q', :key)[/\A[^,]+/]}\ndeleteoldrdn: 1\n"
      entry = "#{ldif_of(dn)}simpkvJsonValue: x\n"
      { 'modify' => [['ldapmodify'], change], 'rename' => [['ldapmodify'], rename], 'add' => [['ldapadd'], entry],
        'delete' => [['ldapdelete', dn], ''], 'compare' => [['ldapcompare', dn, 'simpkvJsonValue:x'], ''],
        'search' => [['ldapsearch', '-LLL', '-b', dn, '-s', 'base', '1.1'], ''] }
        .transform_values { |words, input| access.tool('nobody', *words, input: input).first.gsub(/#{dn}/i, 'DN') }
    end

    # docs/security.md named only some of them. On 389-DS, the codes of modify and delete are the same, not their texts.
    it 'tells somebody without rights whether a name exists by the operations that docs/security.md names' do
      present, missing = %w[k n].map { |key| answers_about(key) }
      telling = access.slapd? ? %w[add delete modify] : %w[compare delete modify]
      expect(present.reject { |tool, answer| missing[tool] == answer }.keys).to match_array(telling)
      expect(present.values.join).not_to include('treasure')
    end

    # The order was said to be hidden with the values. No access rule of 389-DS forbids the control.
    it 'sorts by values for somebody who may list, but not read, on 389-DS alone' do
      %w[one two].zip(%w[b a]) { |key, value| access.root.put("environments/dev/#{key}", value) }
      search = ['ldapsearch', '-LLL', '-o', 'ldif_wrap=no', '-b', access.dn('environments/dev'), '-s', 'one']
      orders = %w[simpkvJsonValue -simpkvJsonValue].map do |order|
        access.tool('lister', *search, '-E', "sss=#{order}", '(objectClass=simpkvEntry)', '1.1').first.scan(/^dn: .*/)
      end
      expect(orders.map(&:length)).to eq([3, 3])
      expect(orders.first == orders.last).to be(access.slapd?)
      expect(orders.first).to eq(orders.last.reverse) unless access.slapd?
    ensure
      restore
    end

    # The rights of a user on the folder that a DN is in, which is the deepest of these. A folder is in itself.
    def rights_on(user, dn)
      folder = ['environments', *AccessMatrix::FOLDERS].select { |each| below?(dn, each) }.max_by(&:length)
      folder ? AccessMatrix.rights(user, folder, access.slapd?) : []
    end

    def below?(dn, folder)
      ",#{dn}".downcase.end_with?(",#{access.dn(folder)}".downcase)
    end

    # @return [Hash{String => String}] LDIF of entries by DN
    def found_by(user, *arguments)
      output, = access.tool(user, 'ldapsearch', '-LLL', '-o', 'ldif_wrap=no', *arguments)
      output.split(/\n{2,}/).grep(/\Adn:/).to_h { |entry| [entry[/\Adn: (.*)/, 1], entry] }
    end

    # @return [Array<Hash>] all entries of the directory, with their attributes
    def everything
      access.server.entries(DirectoryServer::SUFFIX, '(objectClass=*)', '*', 'aci').sort_by { |entry| entry['dn'] }
    end

    # Applies LDIF as a user, one change after the other, also after one that fails.
    def change(user, changes)
      access.tool(user, 'ldapmodify', '-c', input: changes.join("\n"))
    end

    # Those whose rights differ most: each of these examples starts many clients.
    %w[lister editor app-editor sharer lister-and-writer nobody].each do |user|
      it "shows an LDAP client what the roles permit, and nothing else: #{user}" do
        folders = %w[environments/dev environments/dev/app environments/dev2 globals/shared globals/shared2]
        bases = [DirectoryServer::SUFFIX, *folders.map { |each| access.dn(each) }].product(['sub'])
        searches = bases + folders.map { |each| [access.dn("#{each}/k", :key), 'base'] }
        ['(objectClass=*)', '(simpkvJsonValue=*treasure*)'].product(searches).each do |filter, (base, scope)|
          found_by(user, '-b', base, '-s', scope, filter, '*', '+').each do |dn, entry|
            rights = rights_on(user, dn)
            shows_value = "#{filter}#{entry}".include?('treasure')
            expect([dn, filter, shows_value, rights])
              .to(satisfy { shows_value ? rights.include?('read') : rights.any? })
            expect(entry).not_to match(/^(aci|userPassword)/)
          end
        end
        %w[environments/dev/k environments/dev2/k].each do |key|
          output, = access.tool(user, 'ldapcompare', access.dn(key, :key), "simpkvJsonValue:#{AccessMatrix::DOCUMENT}")
          expect(rights_on(user, access.dn(key, :key)).include?('read') || !output.match?(/TRUE|FALSE/)).to be(true)
        end
      end

      it "lets an LDAP client write the values that its roles permit: #{user}" do
        change(user, keys.map do |key|
          "dn: #{access.dn(key, :key)}\nchangetype: modify\nreplace: simpkvJsonValue\nsimpkvJsonValue: x\n"
        end)
        may = keys.select { |key| AccessMatrix.rights(user, File.dirname(key), access.slapd?).include?('write') }
        expect(stored.select { |_, document| document == 'x' }.keys).to match_array(may)
      ensure
        restore
      end

      it "lets an LDAP client neither move folders, nor add accounts, rules and siblings: #{user}" do
        before = everything
        output, = change(user, moves + additions)
        expect(output).not_to match(/invalid|syntax|decoding/i)
        expect(everything).to eq(before)
      end
    end

    # LDIF that moves or marks folders.
    def moves
      dev, app, dev2, parent = %w[environments/dev environments/dev/app environments/dev2 environments]
                               .map { |folder| access.dn(folder) }
      rename = ->(dn, more) { "dn: #{dn}\nchangetype: modrdn\nnewrdn: #{more}\n" }
      [rename.call(dev, "ou=dev9\ndeleteoldrdn: 0"), rename.call(dev, "ou=dev9\ndeleteoldrdn: 1"),
       rename.call(app, "#{app[/\A[^,]+/]}\ndeleteoldrdn: 0\nnewsuperior: #{parent}"),
       rename.call(app, "#{app[/\A[^,]+/]}\ndeleteoldrdn: 0\nnewsuperior: #{dev2}"),
       *moves_of_keys(dev, dev2, access.dn('globals/shared')),
       *[dev, app, dev2].map { |dn| "dn: #{dn}\nchangetype: modify\nreplace: description\ndescription: x\n" }]
    end

    # LDIF that moves keys between folders of which no user may write two: out of what one may write, and into it.
    def moves_of_keys(*folders)
      folders.permutation(2).flat_map do |from, into|
        key = access.dn('environments/dev/k', :key)[/\A[^,]+/]
        [key, key.sub(/\z/, 'x')].map do |name|
          "dn: #{key},#{from}\nchangetype: modrdn\nnewrdn: #{name}\ndeleteoldrdn: 1\nnewsuperior: #{into}\n"
        end
      end
    end

    # LDIF of entries that no role permits to add.
    def additions
      folders = AccessMatrix::FOLDERS.map { |folder| access.dn(folder) }
      [*folders.flat_map { |above| [unit('login', above, 'userPassword: x'), account(above), rule(above)] },
       *AccessMatrix::FOLDERS.map { |folder| key_that_binds("#{folder}/login") },
       unit('dev9', access.dn('environments'), 'description: x'),
       unit('shared9', access.dn('globals'), 'description: x'),
       unit('other', DirectoryServer::BASE_DN, 'description: x'), account(AccessDirectory::USERS_DN)].compact
    end

    def unit(name, above, line)
      "dn: ou=#{name},#{above}\nchangetype: add\nobjectClass: organizationalUnit\nou: #{name}\n#{line}\n"
    end

    def key_that_binds(path)
      dn = access.dn(path, :key)
      names = [dn[/\A[^,]+/].sub('=', ': '), *('simpkvId: login' if dn.start_with?('simpkvHexId='))]
      "dn: #{dn}\nchangetype: add\nobjectClass: simpkvEntry\nobjectClass: simpleSecurityObject\n#{names.join("\n")}\n" \
        "simpkvJsonValue: x\nuserPassword: x\n"
    end

    def account(above)
      "dn: uid=new,#{above}\nchangetype: add\nobjectClass: account\nuid: new\n"
    end

    def rule(above)
      return if access.slapd?

      unit('rule', above, 'aci: (targetattr="*")(version 3.0; acl "x"; allow (all) userdn="ldap:///anyone";)')
    end

    it 'empties the folder of a prefix in a deletetree, and keeps it' do
      { 'editor' => 'environments/dev', 'sharer' => 'globals/shared',
        'app-editor' => 'environments/dev/app' }.each do |user, folder|
        expect { access.store(user).deletetree(folder) }.to raise_error(Simpkv::DeniedError, /#{folder}/)
        expect(access.root.list(folder)).to eq(keys: {}, folders: [], errors: {})
      ensure
        restore
      end
    end

    it 'keeps names with the syntax of DNs and filters below the prefix' do
      store = access.store('editor')
      names = ['a,ou=dev2', 'x\\2cou=dev2', 'k)(ou=*', '..', 'dev2+ou=x', '#6b', ' k', '*']
      names.each do |name|
        %W[environments/dev2/#{name} environments/#{name}/k environments/dev,ou=x/#{name}].each do |key|
          expect { store.put(key, AccessMatrix::OTHER) }.to raise_error(Simpkv::Error), key
          expect { store.get(key) }.to raise_error(Simpkv::Error), key
        end
        next if name == '..'

        store.put("environments/dev/made/#{name}", AccessMatrix::OTHER)
        expect(store.get("environments/dev/made/#{name}")).to eq(AccessMatrix::OTHER)
      end
      expect(access.root.tree('environments/dev2')[:keys].keys).to match_array(%w[k app/k])
      expect(access.root.list('environments')[:folders]).to match_array(%w[dev dev2 de])
    ensure
      restore
    end

    # Other spellings of a key's DN, with the name of its folder in capital letters, escaped, or with a space behind it.
    def spellings(dn)
      key, folder, above = dn.split(',', 3)
      type, name = folder.split('=', 2)
      escaped = name.bytes.map { |byte| format('\\%02x', byte) }.join
      [dn.upcase, dn.gsub(',', ' , '),
       *[name.capitalize, escaped, "#{name}\\20", "\\20#{name}"].map { |each| "#{key},#{type}=#{each},#{above}" }]
    end

    it 'takes DNs in another spelling for the same' do
      dev, dev2 = %w[dev dev2].map { |name| access.dn("environments/#{name}/k", :key) }
      before = everything
      spellings(dev2).each do |dn|
        expect([dn, found_by('editor', '-b', dn, '-s', 'base')]).to eq([dn, {}])
        change('editor', ["dn: #{dn}\nchangetype: modify\nreplace: simpkvJsonValue\nsimpkvJsonValue: x\n",
                          "dn: #{dn}\nchangetype: delete\n"])
      end
      expect(everything).to eq(before)
      expect(spellings(dev).first(4).map { |dn| found_by('editor', '-b', dn, '-s', 'base').length }).to eq([1] * 4)
    end

    # 389-DS shows the folders around those that a user sees.
    it 'gives nothing above the prefixes' do
      (AccessMatrix::USERS.keys - %w[dashboard]).each do |user|
        store = access.store(user)
        before = stored
        %w[environments globals].each do |folder|
          expect { store.put("#{folder}/new", AccessMatrix::OTHER) }.to raise_error(Simpkv::Error)
          expect { store.put("#{folder}/new/k", AccessMatrix::OTHER) }.to raise_error(Simpkv::DeniedError)
          expect { store.create_folder("#{folder}/new") }.to raise_error(Simpkv::DeniedError)
          listed = outcome { store.list(folder) }
          expect([user, listed]).to eq([user, :denied]) if access.slapd?
          expect([user, seen(folder) { store.tree(folder) } - visible(user)]).to eq([user, []])
          outcome { store.deletetree(folder) }
        end
        gone = before.keys - stored.keys
        expect([user, gone - visible(user, 'write')]).to eq([user, []])
      ensure
        restore
      end
    end

    # @return [Array<String>] the keys that a tree has, as paths
    def seen(folder, &tree)
      found = outcome(&tree)
      found.is_a?(Symbol) ? [] : (found[:keys].keys + found[:errors].keys).map { |key| "#{folder}/#{key}" }
    end

    # @return [Array<String>] the keys on which a user has one of the rights
    def visible(user, *rights)
      rights = Simpkv::Access::RIGHTS if rights.empty?
      keys.select { |key| (AccessMatrix.rights(user, File.dirname(key), access.slapd?) & rights).any? }
    end

    # Returns the messages of all operations below a folder, those of batches and lists included.
    def refusals(store, folder)
      key = "#{folder}/k"
      { get: [key], get_many: [[key]], exist?: [key], list: [folder], tree: [folder], put: [key, AccessMatrix::OTHER],
        put_many: [{ key => AccessMatrix::OTHER, "#{folder}/new/k" => AccessMatrix::OTHER }],
        create_folder: ["#{folder}/new"], delete: [key], deletetree: ["#{folder}/app"] }
        .to_h { |operation, arguments| [operation, refusal(store, operation, arguments)] }.compact
    end

    def refusal(store, operation, arguments)
      result = store.public_send(operation, *arguments)
      errors = result.is_a?(Hash) ? result.fetch(:errors, result).values : []
      error = errors.grep(Simpkv::DeniedError).first
      error&.message
    rescue Simpkv::DeniedError => e
      e.message
    end

    # The rights that each operation needs.
    def needed
      read = %i[get get_many exist?].product(["'read'"])
      write = %i[put put_many create_folder delete].product(["'write'"])
      [*read, *write, *%i[list tree].product(["'list'"]), [:deletetree, "'list' and 'write'"]].to_h
    end

    def expect_refusals(user, folder, operations)
      messages = refusals(access.store(user), folder)
      expect([user, messages.keys]).to match([user, match_array(operations)])
      messages.each do |operation, message|
        place = operation == :exist? ? "#{folder}/k" : folder
        expect(message)
          .to include("to 'uid=#{user},", "(a role with #{needed[operation]} on '#{place}', or on", 'access explain')
      end
    ensure
      restore
    end

    it 'says for each operation which right is missing, and where' do
      expect_refusals('editor', 'environments/dev2', needed.keys)
      expect_refusals('nobody', 'globals/shared', needed.keys)
      expect_refusals('browser', 'environments/dev', %i[put put_many create_folder delete deletetree])
    end

    it 'changes the rules in one step, and takes all of them away' do
      expect(access.apply(grants)).to eq([])
      some = grants.first(3)
      expect(access.apply(some)).not_to eq([])
      expect(access.rules.changes(access.values, some)).to eq([])
      expect { access.store('editor').get('environments/dev/k') }.to raise_error(Simpkv::DeniedError)
      expect(access.store('browser').get('environments/dev/k')).to eq(AccessMatrix::DOCUMENT)
      access.apply([])
      expect(access.rules.ours(access.values)).to eq([])
      expect { access.store('browser').get('environments/dev/k') }.to raise_error(Simpkv::DeniedError)
    ensure
      access.apply(grants)
    end
  end
end
