# frozen_string_literal: true

require 'timeout'
require_relative 'access_helper'

{ AccessServers::Slapd => {}, AccessServers::Ds => { ds389: true } }.each do |server, tags|
  RSpec.describe "simpkv access, on #{server.superclass}", **tags, needs: :cext do
    include Eventually

    include_context 'with access control', server

    describe 'apply' do
      it 'makes users, roles and rights, and then has nothing to do' do
        expect(access('plan', file).code).to eq(1)
        expect(access!('apply', file).lines.map(&:chomp))
          .to include('create user one', 'set the password of user one', 'create role dev',
                      'create folder environments/dev', "+ member of role dev: #{user_dn('one')}")
          .and include(/\A\+ rule /)
        expect([access('plan', file).to_a, access('plan').to_a]).to eq([['', '', 0]] * 2)
        expect(access!('apply', file)).to eq('')
        expect([members('dev'), members('see')]).to eq([%w[dev one], %w[see two]])
        admin.put('environments/dev/key', '{"value":1}')
        as('one') do |store|
          expect(store.get('environments/dev/key')).to eq('{"value":1}')
          store.put('environments/dev/new', '{"value":2}')
          expect { store.put('environments/other/key', '{"value":3}') }.to raise_error(Simpkv::Error)
        end
        as('two') do |store|
          expect(store.list('environments/dev')[:keys].keys).to match_array(%w[key new])
          expect { store.put('environments/dev/key', '{"value":4}') }.to raise_error(Simpkv::Error)
        end
      end

      it 'does not print, store or log a password' do
        outcome = access('apply', file, '-o', 'json')
        documents = admin.tree('globals/estate')[:keys].values
        printed = [outcome.out, outcome.err, access!('status'), access!('export'), *documents].join
        expect(outcome.code).to eq(0)
        expect(printed).to include('create').and(satisfy { |text| !text.include?('pass one') })
        expect(directory.log).not_to include('pass one')
      end

      # On 389-DS, plan was silent about `list`, whose values a search with the control of RFC 2891 gives away.
      it 'warns, when it plans, of rights that the server does not tell apart' do
        rights = { 'reads' => %w[read], 'writes' => %w[write], 'lists' => %w[list], 'both' => %w[read list] }
        roles = rights.to_h { |name, each| [name, [{ 'prefixes' => ["globals/#{name}"], 'rights' => each }]] }
        warnings = access('plan', file('roles' => roles)).err.scan(/^simpkv: roles\.(\w+): .*389-DS (\w+)/)
        expected = [%w[lists sorts], %w[reads lets], %w[writes lets]]
        expect(warnings).to match_array(tags[:ds389] ? expected : [])
      end

      it 'refuses everything if the entry of a user has another UID, or none' do
        access!('apply', file)
        ["delete: description\n", "replace: description\ndescription: simpkv:uid:other\n"].each do |change|
          directory.modify("dn: #{user_dn('one')}\nchangetype: modify\n#{change}")
          before = everything
          more = declared.merge('users' => declared['users'].merge('three' => declared['users']['two']))
          [%w[apply], ['apply', file(more)], %w[plan], %w[status], %w[delete --all], %w[delete binding/devs]]
            .each do |arguments|
            outcome = access(*arguments)
            expect([outcome.code, outcome.err]).to match([2, /user one: the entry 'uid=one,.*UID/])
          end
          expect(everything).to eq(before)
        end
        expect(access!('export', '-o', 'json')).not_to include('three')
      end

      it 'refuses a user whose entry somebody else has made' do
        directory.add("dn: #{user_dn('one')}\nobjectClass: account\nuid: one\n")
        before = everything
        expect(access('apply', file).to_a).to match(['', /user one: the entry .* has no UID of simpkv/, 2])
        expect(everything).to eq(before)
      end

      it 'leaves a role alone that existed before, even when it is deleted' do
        directory.add("dn: #{role_dn('dev')}\nobjectClass: groupOfNames\ncn: dev\nmember: cn=boss,dc=simp\n")
        original = directory.entry(role_dn('dev'))
        directory.replace_rule(site_rule(role: 'dev'))
        rule = own_rules
        access!('apply', file)
        expect(members('dev')).to eq(%w[boss one])
        expect(directory.entry(role_dn('dev')).reject { |name, _| name == 'member' })
          .to eq(original.reject { |name, _| name == 'member' })
        expect(own_rules.grep(/cn=dev,/)).to eq(rule)
        expect(access!('status')).to match(/^role +dev +existing /)
        access!('delete', 'binding/devs', 'role/dev', '-o', 'json')
        expect([directory.entry(role_dn('dev')), own_rules.grep(/cn=dev,/)]).to eq([original, rule])
        directory.replace_rule(nil, *rule)
        expect(access!('status')).not_to match(/^role +dev /)
      end

      it 'removes only members that a binding has added' do
        access!('apply', file)
        directory.modify("dn: #{role_dn('dev')}\nchangetype: modify\nadd: member\nmember: cn=hand,dc=simp\n" \
                         "member: #{user_dn('two')}\n")
        more = declared['bindings'].merge('both' => { 'users' => %w[one two], 'roles' => %w[dev] })
        access!('apply', file(declared.merge('bindings' => more)))
        access!('delete', 'binding/devs')
        expect(members('dev')).to eq(%w[dev hand one two])
        access!('delete', 'binding/both')
        expect(members('dev')).to eq(%w[dev hand two])
      end

      # plan and status showed nothing.
      it 'shows members that no binding has, and removes them with undeclared_members: remove' do
        access!('apply', file)
        directory.modify("dn: #{role_dn('dev')}\nchangetype: modify\nadd: member\nmember: cn=hand,dc=simp\n")
        expect(access('status').to_a)
          .to match([/^role +dev +present +member that no binding has: cn=hand,dc=simp$/, '', 1])
        warning = /roles\.dev: no binding has its member 'cn=hand,dc=simp': .*'undeclared_members: remove'/
        expect([access('plan').to_a, access('apply').to_a]).to all(match(['', warning, 0]))
        expect(members('dev')).to eq(%w[dev hand one])
        access_options['undeclared_members'] = 'remove'
        configure(config)
        expect(access('status').to_a).to match([/^role +dev +present +member to remove: cn=hand,dc=simp$/, '', 1])
        expect(access('apply').to_a).to eq(["- member of role dev: cn=hand,dc=simp\n", '', 0])
        expect([members('dev'), access('status').code]).to eq([%w[dev one], 0])
      end

      it 'refuses another directory' do
        access!('apply', file)
        pin = admin.get('globals/estate/access/directory')
        admin.put('globals/estate/access/directory', pin.sub(/(?<="unique_id":")[^"]+/, 'another'))
        before = everything
        expect(access('apply', file(declared.merge('bindings' => {})), '--prune').to_a)
          .to match(['', /this is another directory: its base entry has the unique id '.*', and .* 'another'/, 2])
        expect(everything).to eq(before)
      end

      it 'mends what was changed by hand, which status shows' do
        access!('apply', file)
        expect(access('status', '-o', 'json').code).to eq(0)
        directory.modify("dn: #{role_dn('dev')}\nchangetype: modify\ndelete: member\nmember: #{user_dn('one')}\n")
        directory.delete_tree(user_dn('two'))
        edited = edit_rules('dev')
        outcome = access('status')
        expect(outcome.out).to match(/^binding +devs +missing +role dev lacks the member uid=one,/)
          .and match(/^user +two +missing /).and match(/^rules +- +missing +missing: /)
        expect([outcome.code, outcome.err]).to eq([1, ''])
        access!('apply')
        expect(access('status').code).to eq(0)
        expect([members('dev'), directory.rules & edited]).to eq([%w[dev one], []])
      end

      it 'sets a password whose file has changed, and connections go on' do
        access!('apply', file)
        as('one') do |store|
          store.put('environments/dev/a', '{"value":1}')
          File.write(File.join(folder, 'one.pw'), 'another password')
          expect(access!('apply')).to eq("set the password of user one\n")
          expect(store.get('environments/dev/a')).to eq('{"value":1}')
        end
        as('one') { |store| expect(store.get('environments/dev/a')).to eq('{"value":1}') }
        expect(access!('apply')).to eq('')
      end

      it 'takes a password from a key' do
        admin.put('globals/secret', '{"value":"from a key"}')
        users = { 'one' => { 'password' => 'key:default/globals/secret' } }
        access!('apply', file(declared.merge('users' => declared['users'].merge(users))))
        File.write(File.join(folder, 'key.pw'), 'from a key')
        as('one', File.join(folder, 'key.pw')) { |store| expect(store.list('environments/dev')[:keys]).to eq({}) }
      end

      it 'deletes everything that it has made' do
        before = everything
        access!('apply', file)
        access!('delete', '--all')
        admin.deletetree('globals')
        admin.deletetree('environments')
        expect(everything.last).to eq(before.last)
        expect(accounts_and_groups).to eq([])
        expect(access!('export')).to eq({ 'users' => {}, 'roles' => {}, 'bindings' => {} }.to_yaml)
      end

      it 'ends in one state when several run at once' do
        others = Array.new(4) do |number|
          data = { 'users' => { "u#{number}" => declared['users']['one'] }, 'roles' => declared['roles'],
                   'bindings' => { "b#{number}" => { 'users' => ["u#{number}"], 'roles' => %w[dev] } } }
          File.join(folder, "#{number}.yaml").tap { |name| File.write(name, data.to_yaml) }
        end
        config
        outcomes = others.map { |name| Thread.new { access('apply', name, process: true) } }.map(&:value)
        expect(outcomes.map { |outcome| [outcome.code, outcome.err] }).to eq([[0, '']] * 4)
        expect([access('plan').code, members('dev')]).to eq([0, %w[dev u0 u1 u2 u3]])
      end

      # In the second name, LDIF, ACIs and the rules of slapd have something to escape.
      ['cn=ops,dc=simp', 'cn=ops\\, (ä) \\+1,dc=simp'].each do |group|
        it "gives the rights of a role to the members of a group of the directory: #{group}" do
          directory.add("dn:: #{[group].pack('m0')}\nobjectClass: groupOfNames\nmember: #{user_dn('two')}\n" \
                        "cn:: #{[group[/=(.*?),dc/, 1].delete('\\')].pack('m0')}\n")
          groups = { 'ops' => { 'groups' => [group, 'cn=none,dc=simp'], 'roles' => %w[dev] } }
          outcome = access('apply', file(declared.merge('bindings' => groups)))
          expect([outcome.code, outcome.err])
            .to eq([0, "simpkv: bindings.ops.groups: there is no entry 'cn=none,dc=simp'\n"])
          expect(access('plan').code).to eq(0)
          as('two') { |store| expect(store.put('environments/dev/key', '{"value":1}')).to be(true) }
          as('one') { |store| expect { store.put('environments/dev/key', '1') }.to raise_error(Simpkv::Error) }
          access!('delete', '--all')
          expect([members_of(group), own_rules]).to eq([%w[two], []])
        end
      end

      it 'exports what a second apply takes, and prunes what a file lacks' do
        access!('apply', file)
        exported = YAML.safe_load(access!('export'))
        expect(access!('plan', file(exported), '--prune')).to eq('')
        less = exported.merge('bindings' => exported['bindings'].slice('devs'),
                              'users' => exported['users'].slice('one'))
        expect(access!('apply', file(less), '--prune').lines.grep(/delete/)).to eq(["delete user two\n"])
        expect([members('see'), access('plan').code]).to eq([%w[see], 0])
      end

      it 'binds as a user only after a change of the password file or of the entry' do
        2.times { access!('apply', file) }
        binds = -> { directory.count_in_log(%(BIND dn="#{user_dn('one')}" method)) }
        before = binds.call
        expect(access!('apply')).to eq('')
        expect(binds.call).to eq(before)
        directory.modify("dn: #{user_dn('one')}\nchangetype: modify\nreplace: userPassword\nuserPassword: by hand\n")
        # The time of a change has seconds on 389-DS.
        FileUtils.touch(File.join(folder, 'one.pw')) if directory.is_a?(Ds389)
        expect(access!('apply')).to eq("set the password of user one\n")
      end

      # Makes the file a pipe, and waits until the command has read it: then it has done, and printed, all that it had
      # read before.
      def hand_over(text, file)
        File.mkfifo("#{file}.pipe")
        File.rename("#{file}.pipe", file)
        Timeout.timeout(60) { File.write(file, text) }
      end

      it 'applies again and again with --watch, and waits after a failure' do
        declarations = file
        outcome = access('apply', declarations, '--watch', '1', process: true) do |pid|
          eventually { directory.search(AccessServers::ROLES_DN, '(cn=dev)').any? && members('dev').include?('one') }
          hand_over('users: 1', declarations)
          directory.modify("dn: #{role_dn('dev')}\nchangetype: modify\ndelete: member\nmember: #{user_dn('one')}\n")
          2.times { hand_over(declared.to_yaml, declarations) }
          expect(members('dev')).to eq(%w[dev one])
        ensure
          Process.kill(:TERM, pid)
        end
        expect(outcome.out.scan(/^\+ member of role dev: /).length).to eq(2)
        expect([outcome.code, outcome.err]).to match([-15, /access\.yaml: users: expected a Hash/])
      end

      it 'tries the rights of users' do
        access!('apply', file)
        expect(access('status', '--verify').to_a).to match([/^user +one +present/, '', 0])
        directory.modify("dn: #{role_dn('see')}\nchangetype: modify\ndelete: member\nmember: #{user_dn('two')}\n")
        expect(access('status', '--verify').out).to match(/^user two: 'environments': lacks list, read$/)
      end

      # The rules of simpkv 1.1.0 let writers add any entry that was a folder as well.
      it 'changes rules that let a writer add entries that simpkv does not make' do
        access!('apply', file)
        directory.weaken_rules
        expect(access('status', '--verify').to_a)
          .to match([/^user one: 'environments.dev': may add entries that simpkv does not make, which no role/, '', 1])
        expect(plan['steps'].map { |step| step['act'] }).to eq(%w[rules])
        access!('apply')
        expect(access('status', '--verify').code).to eq(0)
      end

      it 'finds entries that simpkv does not make, with the command that deletes them' do
        access!('apply', file)
        far = "ou=far,#{Simpkv::LdapAccess.folder_dn(admin_options, 'environments/dev')}"
        directory.add("dn: #{far}\nobjectClass: referral\nobjectClass: extensibleObject\nou: far\n" \
                      "ref: ldap://attacker.example/dc=simp\n")
        outcome = access('status', '--verify')
        expect(outcome.to_a).to match([/^entry '#{far}': .* object class referral.*; to delete it: (.*ldapdelete.*)$/,
                                       '', 1])
        expect(system(outcome.out[/to delete it: (.*)/, 1])).to be(true)
        expect(access('status', '--verify').code).to eq(0)
      end

      it 'finds rights of users in folders of roles that they do not have' do
        access!('apply', file)
        directory.replace_rule(site_rule)
        expect(access('status', '--verify').out.lines.grep(/may/))
          .to eq(["user two: 'globals/shared': may list, read, which no role says\n"])
        directory.replace_rule(nil, *own_rules.grep(/users|ldap:..all/))
      end
    end

    # @return [Array<String>] the rules of a role, of which somebody has edited two
    def edit_rules(role)
      rules = own_rules.select { |rule| rule.include?("cn=#{role},") }
      edited = [rules[0].sub("cn=#{role},", 'cn=boss,'), rules[1].sub(*added_reader)]
      rules.zip(edited) { |rule, other| directory.replace_rule(other, rule) if other }
      edited
    end

    # @return [Array(String, String)] a part of a rule, and that part with everybody added
    def added_reader
      directory.is_a?(Slapd) ? [/by \* (\+0 )?break\z/, 'by users read'] : ['";)', ' || ldap:///anyone";)']
    end

    # @return [String] a rule of the site that lets a role read environments, or everybody another folder
    def site_rule(role: nil)
      folder = Simpkv::Native.dn_from_path(directory.layout.to_sym, :folder, DirectoryServer::BASE_DN, id,
                                           role ? 'environments' : 'globals/shared')
      if directory.is_a?(Slapd)
        return %(to dn.subtree="#{folder}" by #{role ? %(group="#{role_dn(role)}") : 'users'} read by * break)
      end

      %[(target="ldap:///#{folder}")(targetattr="*")(version 3.0; acl "a"; allow (read, search) ] +
        %[#{role ? %(groupdn="ldap:///#{role_dn(role)}") : 'userdn="ldap:///all"'};)]
    end
  end
end
