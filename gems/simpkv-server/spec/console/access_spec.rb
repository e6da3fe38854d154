# frozen_string_literal: true

require_relative '../support/access_service'
require_relative '../support/console_pages'

{ Slapd => {}, Ds389 => { ds389: true, long: true } }.each do |server, tags|
  RSpec.describe "The pages of access rights, on #{server},", **tags do
    include ConsolePages

    include_context 'with access control in a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

    let(:access_server) { server }

    it 'say what would fill them' do
      %w[/access /access/roles /access/bindings].each do |path|
        expect(text(page(path))).to include('Nothing is declared. simpkv access apply FILE')
      end
      expect(text(page('/access/plan'))).to include('Nothing: the directory has what is declared.')
    end

    it 'show users, roles and bindings with their states, in pages' do
      declared.apply
      remove_member('r0', 'u0')
      expect(text(page('/access'))).to match(/u0 file:\S+ present u1 file:\S+ present 1 to 2 of 2/)
      expect(text(page('/access/roles')))
        .to match(%r{r0 environments/e0: list, read, write globals/shared: read present r1 })
      expect(text(page('/access/bindings')))
        .to match(/b0 u0 r0 missing role r0 lacks the member uid=u0,\S+ b1 u1 r1 present/)
      expect(text(page('/access?limit=1&offset=1')))
        .to match(/ u1 file:\S+ present 2 to 2 of 2 Previous These rows: CSV JSON\z/)
      expect(page('/access').body).to include('aria-current="page">Users')
    end

    it 'explain who may do what to a path' do
      declared.apply
      expect(text(page('/access/explain'))).to include('Path of a key or a folder')
      expect(text(page('/access/explain?path=environments/e1/a')))
        .to include('Rights on environments/e1/a', 'r1 environments/e1 list, read, write u1')
      expect(text(page('/access/explain?path=environments/e1/a&user=u0')))
        .to include('Rights of u0', 'No declared role gives this user a right on it')
      expect(text(page('/access/explain?path=a/b'))).to include("'a/b' is not a path")
      expect(text(page('/access/explain?path=globals&user=nobody'))).to include("no declared user 'nobody'")
    end

    it 'show what an apply would do as lines, and change nothing' do
      declared.apply
      remove_member('r0', 'u0')
      @access.root.directory.modify_entry(@access.role_dn('r1'), [[:replace, 'description', ['other']]])
      expect(text(page('/access/plan'))).to include('It would refuse, and change nothing', 'role r1: the entry')
      @access.root.directory.delete_entry(@access.role_dn('r1'))
      2.times do
        expect(page('/access/plan').body).to include("<ins>+ member of role r0: #{@access.user_dn('u0')}</ins>",
                                                     'create role r1')
      end
      role = @access.root.directory.read_entry(@access.role_dn('r0'), ['member'])
      expect(role['member']).to eq([@access.role_dn('r0')])
    end

    it 'try passwords after a button, and not without the token of the form' do
      declared.apply
      @access.root.directory.set_entry_password(@access.user_dn('u1'), 'another password')
      # The time of a change has seconds on 389-DS.
      FileUtils.touch(@access.server.password_file) unless @access.slapd?
      expect(text(page('/access/plan')))
        .to include('Nothing: the directory has', 'passwords of users are not tried yet')
      expect(send_form('/access/plan', {}).status).to eq(403)
      expect(text(submit('/access/plan', '/access/plan')))
        .to include('set the password of user u1', 'has bound as each user')
      expect(submit('/access/plan', '/access/roles').status).to eq(404)
    end
  end
end

RSpec.describe 'The pages of access rights,' do
  include ConsolePages

  include_context 'with access control in a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  let(:markup) { '<script>alert(1)</script>"><img src=x onerror=alert(1)>' }

  # On 389-DS, no group of such a name can have rights.
  it 'show markup as text, and no password' do
    group = "cn=#{markup.gsub(/[<>="]/) { |letter| "\\#{letter}" }},#{AccessDirectory::ROLES_DN}"
    data = Simpkv::Access::Declarations.new(
      'roles' => { 'all' => [{ 'prefixes' => ['globals/shared'], 'rights' => %w[read] }] },
      'bindings' => { 'team' => { 'groups' => [group], 'roles' => %w[all] } }
    )
    site = declared.tap(&:apply)
    site.reconciler.apply(->(state) { state.with(data.valid!) })
    paths = ['/access', '/access/roles', '/access/bindings', '/access/plan', '/access/explain?path=globals/shared/a',
             "/access/explain?path=#{CGI.escape("globals/#{markup.delete('/')}")}&user=#{CGI.escape(markup)}"]
    shown = paths.map { |path| page(path) }
    expect(shown.values_at(2, 4, 5).map(&:body)).to all(include('&lt;script'))
    expect(shown.map { |each| each.body.b }.join).not_to match(/<script>?alert|<script\\>|<img|#{DirectoryServer::PASSWORD}/)
    expect(shown).to all(have_attributes(status: 200))
  end

  context 'with an identity that may not read cn=config' do
    let(:access_options) { super().slice('users_dn', 'roles_dn') }

    it 'say which option is missing' do
      declared.apply
      expect(text(page('/access/plan')))
        .to include('may not read cn=config', 'Set config_dn and config_pw_file in the section access')
    end
  end

  context 'without an entry for roles' do
    let(:access_options) { super().merge('roles_dn' => "ou=nowhere,#{DirectoryServer::SUFFIX}") }

    it 'show what is declared, and say why the states are unknown' do
      expect(text(page('/access'))).to include('The service cannot read the directory, so the states are unknown',
                                               "'roles_dn' of 'access'")
      expect(text(page('/access/plan'))).to include("'roles_dn' of 'access'")
    end
  end
end

RSpec.describe 'The pages of access rights, without access control,' do
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0', '--local-write'

  it 'say which section is missing' do
    %w[/access /access/roles /access/plan /access/explain /access/explain?path=globals].each do |path|
      expect(page(path).status).to eq(200)
      expect(text(page(path))).to include("the file of the service has no section 'access'")
    end
  end
end

RSpec.describe 'The pages of access rights, for a local process that may only read,' do
  include ConsolePages

  include_context 'with a service', '--bind', 'tcp://127.0.0.1:0'

  it 'say which right is missing' do
    %w[/access /access/roles /access/plan /access/explain /access/explain?path=globals].each do |path|
      expect([path, page(path).status]).to eq([path, 403])
      expect(text(page(path))).to match(/local may not GET .* only '--local-write'/).and match(/\A(?!.*'rights')/)
    end
  end

  # They told of the option rights, which helps nobody on a loopback port.
  it 'name what helps, as all pages do' do
    %w[/rules/new /rules/import /keys/?do=new /nodes/web1/deactivate].each do |path|
      expect(text(page(path))).to match(/only '--local-write' of simpkv serve allows it/).and match(/\A(?!.*'rights')/)
    end
  end
end
