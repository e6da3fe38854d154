# frozen_string_literal: true

require_relative 'access_helper'

# A compiler that reads and writes until it is stopped. {#as} gives it another identity.
class AccessCompiler
  attr_reader :failures, :rounds

  def initialize(options, environment)
    @options = options
    @folder = "environments/#{environment}"
    @failures = []
    @rounds = 0
    @thread = Thread.new { run }
  end

  def as(identity)
    @options = @options.merge(identity)
  end

  def stop
    @over = true
    @thread.join
  end

  private

  def run
    options = store = nil
    until @over
      unless options.equal?(@options)
        options = @options
        store&.close
        store = Simpkv::Store.open('ldap', options)
      end
      round(store, options)
    end
  ensure
    store&.close
  end

  def round(store, options)
    number = (@rounds += 1)
    store.put("#{@folder}/app/n", %({"value":#{number}}))
    raise 'another value' unless store.get("#{@folder}/app/n") == %({"value":#{number}})

    store.put("#{@folder}/app/new#{number % 3}", '{"value":1}')
    store.list("#{@folder}/app")
    store.get_many(%W[globals/shared/k #{@folder}/k]).each_value { |each| raise each if each.is_a?(Exception) }
    store.delete("#{@folder}/app/new#{number % 3}")
  rescue StandardError => e
    @failures << "#{options['admin_dn']}: #{e.class}: #{e.message}"
  end
end

{ AccessServers::Slapd => ['hex', {}],
  AccessServers::Ds => ['plain', { ds389: true }] }.each do |server, (layout, tags)|
  RSpec.describe "simpkv access, by an administrator with rights, on #{server.superclass} #{layout}",
                 **tags, needs: :cext do
    include Eventually

    include_context 'with access control', server, layout

    before(:context) { directory.permit }

    let(:administrator) do
      { 'admin_dn' => AccessServers::ADMIN_DN, 'admin_pw_file' => directory.password_file }
    end
    let(:backends) { { 'default' => admin_options.merge(administrator, 'type' => 'ldap') } }
    let(:access_options) do
      options = { 'users_dn' => AccessServers::USERS_DN, 'roles_dn' => AccessServers::ROLES_DN }
      return options unless directory.is_a?(Slapd)

      options.merge('config_dn' => AccessServers::ADMIN_DN, 'config_pw_file' => directory.password_file)
    end

    it 'applies, verifies and deletes' do
      before = everything
      expect(access('apply', file).to_a).to match([/^create user one$/, '', 0])
      expect(access('plan', file).to_a).to eq(['', '', 0])
      expect(access('status', '--verify').to_a).to match([/^user +two +present /, '', 0])
      access!('delete', '--all')
      %w[globals environments].each { |folder| admin.deletetree(folder) }
      expect([everything.last, accounts_and_groups]).to eq([before.last, []])
    end

    # The rights that both compilers had, then fewer, and then those of their own environments.
    let(:wide) do
      { 'roles' => { 'all' => [grant('globals', 'environments/*')] },
        'bindings' => { 'all' => { 'users' => %w[one two], 'roles' => %w[all] } } }
    end
    let(:narrower) { { 'roles' => { 'all' => [grant('globals/shared', 'environments/*')] } } }
    let(:narrow) do
      { 'users' => declared['users'],
        'roles' => { 'dev' => [grant('environments/dev')], 'prod' => [grant('environments/prod')],
                     'shared' => [grant('globals/shared', rights: %w[read])] },
        'bindings' => { 'dev' => { 'users' => %w[one], 'roles' => %w[dev shared] },
                        'prod' => { 'users' => %w[two], 'roles' => %w[prod shared] } } }
    end
    let(:old_identity) { directory.options('id' => id) }
    let(:compilers) { %w[dev prod].map { |environment| AccessCompiler.new(old_identity, environment) } }

    def grant(*prefixes, rights: %w[read list write])
      { 'prefixes' => prefixes, 'rights' => rights }
    end

    # Waits until each compiler has made some rounds since now.
    def rounds
      before = compilers.map(&:rounds)
      eventually { compilers.zip(before).all? { |compiler, count| compiler.rounds > count + 3 } }
    end

    # docs/access.md, "From one identity to many". The users move from one role to others in one step.
    it 'replaces one identity by several, while compilers read and write' do
      keys = %w[globals/shared environments/dev environments/prod].to_h { |name| ["#{name}/k", '{"value":1}'] }
      Simpkv::Store.open('ldap', old_identity).tap { |store| store.put_many(keys) }.close
      rounds
      outcome = access('apply', file(wide.merge('users' => declared['users'])))
      expect([outcome.code, outcome.err]).to match([0, /'globals' has the state of access control/])
      expect(access('status', '--verify').code).to eq(0)
      compilers.zip(%w[one two]) do |compiler, user|
        compiler.as('admin_dn' => user_dn(user), 'admin_pw_file' => File.join(folder, "#{user}.pw"))
        rounds
      end
      [[narrower], [narrow, '--prune']].each do |data, *options|
        access!('apply', file(data), *options)
        rounds
      end
      directory.remove_old_identity
      rounds
      compilers.each(&:stop)
      expect(compilers.flat_map(&:failures)).to eq([])
      expect([access('plan').code, access('status', '--verify').code]).to eq([0, 0])
      as('one') { |store| expect { store.get('environments/prod/k') }.to raise_error(Simpkv::DeniedError) }
    ensure
      compilers.each(&:stop)
    end
  end
end
