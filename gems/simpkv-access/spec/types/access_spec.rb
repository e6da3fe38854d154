# frozen_string_literal: true

require_relative '../access/access_helper'
require_relative '../../../../spec/puppet_helper'
require_relative '../../../../spec/support/killed_writes'
require_relative '../../../../spec/types/keys_as_resources'
require_relative '../../../../spec/types/puppet_process'
require_relative '../../../../spec/types/puppet_resource'

{ AccessServers::Slapd => {}, AccessServers::Ds => { ds389: true, thorough: true } }.each do |server, tags|
  RSpec.describe "Users, roles and bindings as resources, on #{server.superclass}", **tags do
    include_context 'with access control', server
    include KeysAsResources
    include PuppetProcess
    include PuppetResource

    let(:world) { PuppetWorld.new }

    before { ENV['SIMPKV_CONFIG'] = config }

    after do
      world.close
      ENV.delete('SIMPKV_CONFIG')
    end

    # @param ensured [String] `present` or `absent`
    def manifest(ensured: 'present', rights: %w[read list write])
      users(ensured) + <<~PUPPET
        simpkv_role {
          default: ensure => #{ensured};
          'dev':   grants => [{ prefixes => ['environments/dev', 'globals/shared'], rights => #{rights} }];
          'see':   grants => [{ prefixes => ['environments/*'], rights => ['read', 'list'] }];
        }
        simpkv_role_binding {
          default: ensure => #{ensured};
          'devs':  users => ['one'], roles => ['dev'];
          'views': users => ['two'], roles => ['see'];
        }
      PUPPET
    end

    def users(ensured = 'present')
      <<~PUPPET
        simpkv_user {
          default: ensure => #{ensured};
          'one':   password => 'file:#{password_file('one')}';
          'two':   password => 'file:#{password_file('two')}';
        }
      PUPPET
    end

    let(:all) do
      %w[Simpkv_role[dev] Simpkv_role[see] Simpkv_role_binding[devs] Simpkv_role_binding[views] Simpkv_user[one]
         Simpkv_user[two]]
    end

    # @return [Hash{String => String}] the messages of the events of the last run, by resource
    def events
      texts = statuses.to_h { |status| [status.resource, status.events.map(&:message).join("\n")] }
      texts.reject { |_, text| text.empty? }
    end

    def change_password(user, password)
      directory.modify("dn: #{user_dn(user)}\nchangetype: modify\nreplace: userPassword\nuserPassword: #{password}\n")
    end

    # Gives a rule of the role dev to another group.
    #
    # @return [String] the rule as it is now
    def break_a_rule
      rule = own_rules.find { |text| text.include?('cn=dev,') }
      rule.sub('cn=dev,', 'cn=boss,').tap { |edited| directory.replace_rule(edited, rule) }
    end

    it 'do the same as a file of declarations, and the second run does nothing' do
      apply!(manifest)
      expect(changed).to eq(all)
      expect([access('plan', file).to_a, access('status').code]).to eq([['', '', 0], 0])
      expect([members('dev'), members('see')]).to eq([%w[dev one], %w[see two]])
      as('one') { |store| store.put('environments/dev/new', '{"value":2}') }
      before = everything
      apply!(manifest)
      expect([changed, everything]).to eq([[], before])
    end

    it 'read state and directory once for all, and bind as no user, if nothing is to do' do
      apply!(manifest)
      reads = 0
      allow_any_instance_of(Simpkv::Access::State).to(receive(:read).and_wrap_original do |read|
        reads += 1
        read.call
      end)
      allow_any_instance_of(Simpkv::Access::Directory).to receive(:entry).and_raise('another request')
      allow_any_instance_of(Simpkv::Directory).to receive(:password?).and_raise('a bind')
      apply!(manifest)
      expect([reads, changed]).to eq([1, []])
    end

    it 'show with noop what they would change, and change nothing' do
      before = everything
      apply!(manifest, noop: true)
      expect([with_events('noop'), everything]).to eq([all, before])
      apply!(manifest, noop: false)
      directory.delete_tree(user_dn('two'))
      break_a_rule
      before = everything
      apply!(manifest(rights: %w[read list]), noop: true)
      expect(events['Simpkv_role[dev]']).to match(/'write'.*needs: .*\+ rule /m)
      # On OpenLDAP, the role see has rights in the same rule.
      expect(with_events('noop') - %w[Simpkv_role[see]]).to eq(%w[Simpkv_role[dev] Simpkv_user[two]])
      expect(everything).to eq(before)
    end

    # An agent stores what it has seen. The last run without changes is the one before.
    it 'mend what was changed by hand, each its own part, as corrective changes' do
      allow_any_instance_of(Puppet::Transaction::Persistence).to receive(:enabled?).and_return(true)
      2.times { apply!(manifest) }
      sleep 1.1 if directory.is_a?(AccessServers::Ds) # Its time of a change has seconds.
      directory.modify("dn: #{role_dn('dev')}\nchangetype: modify\ndelete: member\nmember: #{user_dn('one')}\n")
      directory.delete_tree(user_dn('two'))
      change_password('one', 'by hand')
      edited = break_a_rule
      apply!(manifest)
      expect(events).to match('Simpkv_role[dev]' => /\A(- rule .*\+ rule|\+ rule .*- rule) .* \(corrective\)\z/m,
                              'Simpkv_role_binding[devs]' => "+ member of role dev: #{user_dn('one')} (corrective)",
                              'Simpkv_user[one]' => 'set the password of user one (corrective)',
                              'Simpkv_user[two]' => /\Acreated: create user two; set the password of user two \(corr/)
      expect([access('status').code, members('dev'), directory.rules.include?(edited)]).to eq([0, %w[dev one], false])
      apply!(manifest)
      expect(changed).to eq([])
    end

    it 'make a role whose entry was deleted by hand again, with its rights and members' do
      apply!(manifest)
      directory.delete_tree(role_dn('dev'))
      admin.deletetree('globals/shared')
      apply!(manifest)
      expect([changed, members('dev'), access('status').code]).to eq([%w[Simpkv_role[dev]], %w[dev one], 0])
    end

    it 'take other rights, users, roles and passwords' do
      apply!(manifest)
      File.write(File.join(folder, 'one.pw'), 'another password')
      changes = manifest(rights: %w[read]).sub("users => ['two']", "users => ['one', 'two']")
                                          .sub('/two.pw', '/three.pw')
      password_file('three')
      apply!(changes)
      expect(changed).to eq(%w[Simpkv_role[dev] Simpkv_role_binding[views] Simpkv_user[one] Simpkv_user[two]])
      expect([access('status', '--verify').code, members('see')]).to eq([0, %w[one see two]])
      as('one') do |store|
        expect { store.put('environments/dev/new', '{"value":2}') }.to raise_error(Simpkv::DeniedError)
      end
      as('two', File.join(folder, 'three.pw'), &:close)
      apply!(changes)
      expect(changed).to eq([])
    end

    it 'refuse the entry of somebody else, and change nothing' do
      apply!(users)
      directory.modify("dn: #{user_dn('one')}\nchangetype: modify\ndelete: description\n")
      before = everything
      apply(manifest)
      expect(events).to include('Simpkv_user[one]' => /user one: the entry 'uid=one,.*' has no UID of simpkv: rename/,
                                'Simpkv_role[dev]' => /nothing is changed: user one: the entry/)
      expect([changed, failed, everything]).to eq([[], %w[Simpkv_role[dev] Simpkv_role[see] Simpkv_user[one]], before])
    end

    it 'refuse another directory, and change nothing' do
      apply!(users)
      pin = admin.get('globals/estate/access/directory')
      admin.put('globals/estate/access/directory', pin.sub(/(?<="unique_id":")[^"]+/, 'another'))
      before = everything
      apply(manifest)
      expect([log.grep(/another directory/).any?, changed, everything]).to eq([true, [], before])
    end

    it 'say once that a role existed before, and leave it alone' do
      directory.add("dn: #{role_dn('dev')}\nobjectClass: groupOfNames\ncn: dev\nmember: cn=boss,dc=simp\n")
      apply!(manifest)
      expect(log.grep(/roles.dev: it existed before, so its rights stay/).length).to eq(1)
      expect([members('dev'), own_rules.grep(/cn=dev,/)]).to eq([%w[boss one], []])
      apply!(manifest)
      expect([changed, log.grep(/existed before, so/).length]).to eq([[], 1])
      apply!(manifest(ensured: 'absent'))
      expect([members('dev'), accounts_and_groups]).to eq([%w[boss], [role_dn('dev')]])
    end

    describe 'when they are absent' do
      before { apply!(manifest) }

      after do
        expect([accounts_and_groups, own_rules, access('export').out]).to eq([[], [], access('export').out])
        apply!(manifest(ensured: 'absent'))
        expect(changed).to eq([])
      end

      it 'go in the order of the manifest, where a user comes before its binding' do
        apply!(manifest(ensured: 'absent'))
        expect(changed).to eq(all)
      end

      it 'go in the reverse order' do
        parts = manifest(ensured: 'absent').split(/^(?=simpkv_)/)
        apply!(parts.reverse.join)
        expect(changed).to eq(all)
      end

      it 'go in an order that the manifest gives' do
        order = "Simpkv_user['one', 'two'] -> Simpkv_role['dev', 'see'] -> Simpkv_role_binding['devs', 'views']\n"
        apply!(manifest(ensured: 'absent') + order)
        expect(changed).to eq(all)
      end

      it 'go if they are purged' do
        apply!("resources { ['simpkv_user', 'simpkv_role', 'simpkv_role_binding']: purge => true }")
        expect(changed).to eq(all)
      end
    end

    it 'stay as long as a binding of somebody else names them' do
      apply!(manifest)
      before = everything
      apply("simpkv_user { 'one': ensure => absent }")
      expect(events['Simpkv_user[one]']).to include("bindings.devs.users: the user 'one' is not declared")
      expect(everything).to eq(before)
    end

    it 'are applied alone with --tags, and a binding without its role fails' do
      apply!(manifest, tags: 'simpkv_user')
      expect(changed).to eq(%w[Simpkv_user[one] Simpkv_user[two]])
      apply(manifest, tags: 'simpkv_role_binding')
      expect([changed, events['Simpkv_role_binding[devs]']])
        .to match([[], /bindings.devs.roles: the role 'dev' is not declared/])
      expect(access!('export')).not_to include('devs')
    end

    it 'are not declared if they are skipped' do
      apply("exec { '/bin/false': before => Simpkv_role['dev'] }\n#{manifest}")
      expect(changed).to eq(%w[Simpkv_role[see] Simpkv_role_binding[views] Simpkv_user[one] Simpkv_user[two]])
      expect(access!('export')).to include('views').and(satisfy { |text| !text.match?(/devs?:/) })
    end

    it 'come after the file with the password, and after the key with it' do
      vault = { 'type' => 'file', 'id' => 'vault', 'root_path' => File.join(folder, 'vault') }
      FileUtils.mkdir_p(vault['root_path'])
      backends['vault'] = vault
      configure(config)
      file = File.join(folder, 'new.pw')
      apply!(<<~PUPPET)
        simpkv_user { 'one': password => 'file:#{file}' }
        simpkv_user { 'two': password => 'key:vault/globals/pw/two' }
        file { '#{file}': content => 'pl4nted one' }
        simpkv_key { 'pw/two': value => Sensitive('pl4nted two'), backend => 'vault', global => true }
      PUPPET
      as('one', file) do |store|
        accepted = %w[one two].map { |name| store.directory.password?(user_dn(name), "pl4nted #{name}") }
        expect(accepted).to eq([true, true])
      end
    end

    it 'refuse what is invalid, with its place and without the value' do
      { "simpkv_user { 'one': password => 'pl4nted' }" => 'password: expected a reference',
        "simpkv_user { 'one': password => Sensitive('pl4nted') }" => 'password: expected a reference',
        "simpkv_user { 'one': ensure => present }" => 'password: expected a reference',
        "simpkv_user { 'One': password => 'file:/pl4nted' }" => 'a name is not valid: expected up to 64',
        "simpkv_role { 'dev': grants => [{ prefixes => ['globals', 'pl4nted'], rights => ['read'] }] }" =>
          'grants[0].prefixes[1]: expected a folder',
        "simpkv_role { 'dev': grants => { prefixes => ['globals'], rights => ['pl4nted'] } }" =>
          'grants[0].rights[0]: expected one of ',
        "simpkv_role_binding { 'devs': users => 'one' }" => 'roles: expected a list that is not empty',
        "simpkv_role_binding { 'devs': roles => 'one' }" => 'it has neither users nor groups' }.each do |invalid, words|
        expect { apply(invalid) }.to(raise_error do |error|
          expect(error.message).to include(words).and match(/Simpkv_\w+\[(one|One|devs?)\]/)
          expect([error.message, *log].join).not_to include('pl4nted')
        end)
      end
    end

    it 'give the rights of a role to the members of a group of the directory' do
      directory.add("dn: cn=ops,dc=simp\nobjectClass: groupOfNames\ncn: ops\nmember: #{user_dn('two')}\n")
      grouped = manifest.sub("users => ['one']", "groups => ['cn=ops,dc=simp']")
      apply!(manifest)
      apply!(grouped)
      expect([changed, members('dev')]).to eq([%w[Simpkv_role_binding[devs]], %w[dev]])
      as('two') { |store| store.put('environments/dev/new', '{"value":2}') }
      break_a_rule
      apply!(grouped)
      expect([changed.first(1), access('status').code]).to eq([%w[Simpkv_role[dev]], 0])
      apply!(manifest)
      expect([changed, own_rules.grep(/cn=ops/)]).to eq([%w[Simpkv_role_binding[devs]], []])
    end

    it 'can be those of examples/access' do
      directory.add("dn: cn=ops,dc=simp\nobjectClass: groupOfNames\ncn: ops\nmember: #{user_dn('two')}\n")
      %w[compiler dashboard].each { |name| password_file(name) }
      example = File.read(File.join(PuppetProcess::PROJECT, 'examples/access/site.pp'))
      apply!(example.sub('/etc/simpkv', folder).sub('cn=app1,ou=groups,dc=example,dc=com', 'cn=ops,dc=simp'))
      expect([changed.length, access('status', '--verify').code]).to eq([8, 0])
    end

    it 'are listed by puppet resource' do
      apply!(manifest)
      output = %w[simpkv_user simpkv_role simpkv_role_binding].map { |type| puppet_resource(type) }.join
      expect(output).to match(/user \{ 'one':\s+ensure +=> 'present',\s+directory +=> 'in_sync',\s+password +=> 'file:/)
        .and match(%r{'prefixes' => \['environments/dev', 'globals/shared'\]})
        .and match(/roles +=> \['see'\],\s+users +=> \['two'\]/)
      apply!(output)
      expect(changed).to eq([])
    end

    it 'show no password in messages, logs, reports and files of Puppet' do
      password_file('one', 'pl4nted one')
      password_file('two', 'pl4nted two')
      said = [[], [], ['--noop']].each_with_index.map do |more, run|
        sleep 1.1 if directory.is_a?(AccessServers::Ds) # Its time of a change has seconds.
        change_password('one', 'pl4nted by hand') if run == 1
        puppet('apply', '--debug', '--trace', '--detailed-exitcodes', *more, '-e', manifest)
      end
      expect(said.map(&:last)).to eq([2, 2, 0])
      expect(said[1].first).to include('set the password of user one')
      expect([*said.map(&:first), *left_by_puppet].join).not_to include('pl4nted')
    end
  end
end

# One of each kind, and the options of `access`.
RSpec.shared_context 'with a catalog of access control' do
  include_context 'with access control', AccessServers::Slapd
  include KeysAsResources

  let(:world) { PuppetWorld.new }
  let(:present) { <<~PUPPET }
    simpkv_user { 'one': ensure => present, password => 'file:#{password_file('one')}' }
    simpkv_role { 'dev': ensure => present, grants => { prefixes => ['environments/dev'], rights => ['write'] } }
    simpkv_role_binding { 'devs': ensure => present, users => ['one'], roles => ['dev'] }
  PUPPET

  before { ENV['SIMPKV_CONFIG'] = config }

  after do
    world.close
    ENV.delete('SIMPKV_CONFIG')
  end
end

RSpec.describe 'A run with users, roles and bindings, killed at any write', needs: %i[cext fork], once: true do
  include_context 'with a catalog of access control'
  include Processes

  # @return [Boolean] whether the run was killed
  def killed?(manifest, number)
    pid = fork do
      [$stdout, $stderr].each { |stream| stream.reopen(File::NULL) }
      KilledWrites.start(before: number)
      apply!(manifest)
      exit!(0)
    end
    status = status_of(pid)
    expect(status.exitstatus).to eq(0) unless status.signaled?
    status.signaled?
  end

  it 'is completed by the next one' do
    absent = present.gsub('ensure => present', 'ensure => absent')
    count = (1..40).find do |number|
      killed = killed?(present, number)
      apply!(present)
      expect([access('plan').to_a, members('dev'), own_rules.empty?]).to eq([['', '', 0], %w[dev one], false])
      killed = killed?(absent, number) || killed
      apply!(absent)
      expect([access('plan').to_a, accounts_and_groups, own_rules]).to eq([['', '', 0], [], []])
      !killed
    end
    expect(count).to be_between(12, 40)
  end
end

RSpec.describe 'Users, roles and bindings that cannot be compared' do
  include_context 'with a catalog of access control'

  # @return [Array<String>] the messages of failed resources
  def failures
    statuses.flat_map(&:events).select { |event| event.status == 'failure' }.map(&:message)
  end

  it 'fail one by one, and change nothing' do
    { { 'access' => nil } => /there is no 'access': set its options/,
      { 'access' => { 'users_dn' => 'ou=x' } } => /'roles_dn' of 'access' is missing/,
      { 'access' => access_options.merge('users_dn' => 'ou=none,dc=simp') } => /the option 'users_dn' of 'access' must/,
      { 'access' => access_options.merge('backend' => 'none') } => /none/,
      { 'backends' => { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => folder } } } =>
        /access control needs|is not of type ldap/ }.each do |options, words|
      File.write(config, YAML.load_file(config).merge(options).compact.to_yaml)
      apply(present)
      expect(failures).to include(words), options.to_s
      expect([changed, accounts_and_groups]).to eq([[], []])
      configure(config)
    end
  end

  it 'wait for a server that does not answer once' do
    directory.stop_serving
    apply(present)
    expect([failed, failures.grep(/did not answer earlier/).length]).to eq([%w[Simpkv_role[dev] Simpkv_user[one]], 1])
    directory.launch
    apply!(present)
  end

  it 'fail for a password in a backend or a key that does not exist' do
    ['key:none/globals/pw', 'key:default/globals/pw'].each do |reference|
      apply(present.sub(/file:[^']+/, reference))
      expect(failures).to include(/users.one.password: .*(none|there is no key)/), reference
      expect(changed).to eq(%w[Simpkv_role[dev]])
      apply!("simpkv_role { 'dev': ensure => absent }")
    end
  end

  it 'warn each time about the file of a password that everybody or nobody can read' do
    apply!(present)
    expect(world.warnings).to eq([])
    FileUtils.chmod(0o644, password_file('one'))
    2.times { apply!(present) }
    expect(world.warnings).to match([/one.pw/] * 2)
    FileUtils.rm(File.join(folder, 'one.pw'))
    apply!("simpkv_user { 'one': ensure => present, password => 'file:#{folder}/one.pw' }")
    expect([changed, world.warnings.last]).to match([[], /users.one.password: .*one.pw is not a file: it is not known/])
  end
end

RSpec.describe 'Roles as resources, with an identity that may not read cn=config' do
  include_context 'with a catalog of access control'

  let(:access_options) { { 'users_dn' => AccessServers::USERS_DN, 'roles_dn' => AccessServers::ROLES_DN } }

  it 'print the rules for an administrator once' do
    roles = <<~PUPPET
      simpkv_role { 'dev': grants => { prefixes => ['environments/dev'], rights => ['read', 'list', 'write'] } }
      simpkv_role { 'see': grants => { prefixes => ['environments/*'], rights => ['read', 'list'] } }
    PUPPET
    apply!(roles)
    ldifs = log.grep(/\Awarning/).map { |text| text[/^dn: .*/m] }.compact
    expect([changed, ldifs.length]).to eq([%w[Simpkv_role[dev] Simpkv_role[see]], 2])
    ldifs.each { |ldif| directory.configure(ldif) }
    expect(own_rules.join).to include(role_dn('dev'), role_dn('see'))
    apply!(roles)
    expect([changed, log.grep(/\Awarning/).length, access('plan').code]).to eq([[], 2, 0])
  end
end
