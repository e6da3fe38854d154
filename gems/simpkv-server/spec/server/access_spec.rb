# frozen_string_literal: true

require_relative '../support/access_service'

RSpec.describe 'The API of access rights' do
  include_context 'with access control in a service', '--bind', 'tcp://127.0.0.1:0'

  it 'shows what is declared, and what the directory has of it' do
    expect(client.get('/v1/access').data)
      .to eq('users' => [], 'roles' => [], 'bindings' => [], 'directory' => { 'ok' => true, 'error' => nil })
    declared.apply
    found = client.get('/v1/access').data
    expect(found['users'].first).to eq('name' => 'u0', 'password' => "file:#{@access.server.password_file}",
                                       'state' => 'present', 'notes' => [])
    expect(found['roles'].last).to include(
      'name' => 'r1', 'state' => 'present', 'grants' => include('prefix' => AccessSite::SHARED, 'rights' => %w[read])
    )
    expect(found['bindings']).to match([include('name' => 'b0', 'users' => %w[u0], 'groups' => [], 'roles' => %w[r0],
                                                'state' => 'present'), include('name' => 'b1')])
    remove_member('r0', 'u0')
    @access.root.directory.delete_entry(@access.user_dn('u1'))
    changed = client.get('/v1/access').data
    expect(changed['users'].map { |user| user['state'] }).to eq(%w[present missing])
    expect(changed['bindings'].first).to include('state' => 'missing', 'notes' => [include('lacks the member')])
  end

  it 'explains who may do what to a key' do
    declared.apply
    found = client.get("/v1/access/explain?path=#{AccessSite::SHARED}/a").data
    expect(found).to include('path' => "#{AccessSite::SHARED}/a", 'user' => nil, 'by_group' => [])
    expect(found['roles'].map { |row| row.values_at('role', 'folder', 'rights', 'users') })
      .to eq([['r0', AccessSite::SHARED, %w[read], %w[u0]], ['r1', AccessSite::SHARED, %w[read], %w[u1]]])
    one = client.get('/v1/access/explain?path=environments/e1/a&user=u1').data
    expect(one['roles']).to match([include('role' => 'r1', 'rights' => %w[list read write])])
    expect(client.get('/v1/access/explain?path=environments/e1/a&user=u0').data['roles']).to eq([])
    { '' => 400, '?path=a/b' => 400, '?path=globals&x=1' => 400, '?path=globals&user=nobody' => 404 }
      .each { |query, status| expect(client.get("/v1/access/explain#{query}").status).to eq(status) }
  end

  it 'does not know a user that an apply is deleting' do
    declared.apply
    users = Simpkv::Access::StateDocuments.new(Simpkv::Estate.new(options))
    users.put('users', 'u1', users.section('users').fetch('u1').merge('deleting' => true))
    found = %w[u0 u1].map { |user| client.get("/v1/access/explain?path=environments/e1/a&user=#{user}").status }
    expect(found).to eq([200, 404])
  end

  it 'says for which groups it does not know whether they have a user' do
    group = @access.role_dn('team')
    @access.add_role('team', [])
    site = declared
    grant = { 'prefixes' => %w[globals], 'rights' => %w[read] }
    data = Simpkv::Access::Declarations.new('roles' => { 'all' => [grant] },
                                            'bindings' => { 'team' => { 'groups' => [group], 'roles' => %w[all] } })
    site.apply
    site.reconciler.apply(->(state) { state.with(data.valid!) })
    found = client.get('/v1/access/explain?path=globals/a&user=u0').data
    expect(found).to include('roles' => [], 'by_group' => [include('role' => 'all', 'groups' => [group])])
  end

  it 'plans what an apply would do, and changes nothing' do
    declared.apply
    expect(client.get('/v1/access/plan').data)
      .to include('steps' => [], 'conflicts' => [], 'rules_readable' => true, 'passwords_tried' => false)
    remove_member('r0', 'u0')
    plans = Array.new(2) { client.get('/v1/access/plan').data }
    expect(plans).to all(include('steps' => [include(
      'act' => 'members', 'kind' => 'role', 'name' => 'r0', 'add' => [@access.user_dn('u0')],
      'lines' => ["+ member of role r0: #{@access.user_dn('u0')}"]
    )]))
    @access.root.directory.modify_entry(@access.user_dn('u1'), [[:replace, 'description', ['other']]])
    expect(client.get('/v1/access/plan').data)
      .to include('steps' => [], 'conflicts' => [include('user u1', 'no UID of simpkv')])
  end

  it 'binds as users only if the client says so' do
    declared.apply
    @access.root.directory.set_entry_password(@access.user_dn('u1'), 'another password')
    expect(client.get('/v1/access/plan').data['steps']).to eq([])
    expect(client.get('/v1/access/plan?passwords=true').data)
      .to include('passwords_tried' => true, 'steps' => [{ 'act' => 'password', 'kind' => 'user', 'name' => 'u1',
                                                           'lines' => ['set the password of user u1'] }])
    expect(client.get('/v1/access/plan?passwords=perhaps').status).to eq(400)
  end

  it 'shows no password' do
    declared.apply
    remove_member('r0', 'u0')
    paths = ['', '/plan', '/plan?passwords=true', '/explain?path=globals/shared']
    answers = paths.map { |path| client.get("/v1/access#{path}") }
    expect(answers).to all(have_attributes(status: 200))
    expect(answers.map(&:body).join).not_to match(/#{Regexp.escape(DirectoryServer::PASSWORD)}|\{SSHA/)
  end

  it 'is not for every local process' do
    ['', '/plan', '/explain?path=globals'].each do |path|
      expect(service.client('tcp').get("/v1/access#{path}")).to have_attributes(status: 403, detail: include('local'))
    end
    expect(service.client('tcp').get('/v1/nodes').status).not_to eq(403)
  end

  it 'changes nothing by other methods' do
    %w[/v1/access /v1/access/plan].each { |path| expect(client.post(path, {}).status).to eq(405) }
    expect(client.get('/v1/access?x=1').status).to eq(400)
    expect(client.get('/v1/access/nosuch').status).to eq(404)
  end

  context 'with an identity that may not read cn=config' do
    let(:access_options) { super().slice('users_dn', 'roles_dn') }

    it 'says that it does not know the rules' do
      declared.apply
      plan = client.get('/v1/access/plan').data
      expect(plan['rules_readable']).to be(false)
    end
  end

  context 'without an entry for roles' do
    let(:access_options) { super().merge('roles_dn' => "ou=nowhere,#{DirectoryServer::SUFFIX}") }

    it 'shows what is declared, and why the directory cannot be read' do
      AccessSite.new(@access, users: 1, roles: 1, bindings: 1).apply
      found = client.get('/v1/access').data
      expect(found['directory']).to match('ok' => false, 'error' => include("'roles_dn' of 'access'"))
      expect(found['users']).to match([include('name' => 'u0', 'state' => nil)])
      expect(client.get('/v1/access/plan')).to have_attributes(status: 404, detail: include("'roles_dn'"))
    end
  end
end

RSpec.describe 'The API of access rights, without access control' do
  include_context 'with a service'

  it 'says which section is missing' do
    %w[/v1/access /v1/access/plan /v1/access/explain?path=globals].each do |path|
      expect(client.get(path)).to have_attributes(status: 404, detail: include("no section 'access'"))
    end
  end
end
