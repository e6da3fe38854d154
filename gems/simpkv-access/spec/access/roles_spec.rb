# frozen_string_literal: true

require_relative '../../../../spec/puppet_helper'
require 'simpkv/estate'
require 'simpkv/termini'
require_relative 'roles_helper'

{ AccessServers::Slapd => {}, AccessServers::Ds => { ds389: true } }.each do |server, tags|
  RSpec.describe "The roles of docs/access.md, on #{server.superclass}", **tags, needs: :cext, once: true do
    include_context 'with the roles of the documentation', server

    describe 'for compilers' do
      before do
        access!('apply', file(documented('A compiler for each environment')))
        Simpkv::Estate.new({ 'backends' => { 'default' => { 'type' => 'ldap', **admin_options } } }).make
        admin.put('globals/shared/key', '{"value":"shared"}')
        admin.put('environments/production/key', '{"value":"of production"}')
      end

      # Functions used to require that the identity sees the base entry.
      it 'permit the functions in the environment, and to read what is shared' do
        backend = admin_options.merge('type' => 'ldap', 'admin_dn' => user_dn('compiler-dev'),
                                      'admin_pw_file' => password_file('compiler-dev'))
        world = PuppetWorld.new(environment: 'dev', hiera: { 'backends' => { 'default' => backend } })
        world.call('simpkv::put_many', { 'app1/a' => { 'value' => 1 }, 'app1/b' => { 'value' => 2 } })
        world.call('simpkv::put', 'k', 3)
        expect(world.call('simpkv::list', '/')).to include('folders' => ['app1'])
        expect(world.call('simpkv::tree', '/')['keys'].keys).to match_array(%w[k app1/a app1/b])
        expect(world.call('simpkv::get_many', %w[k app1/a])['keys'])
          .to eq('k' => { 'value' => 3 }, 'app1/a' => { 'value' => 1 })
        expect(world.call('simpkv::exists', 'none')).to be(false)
        expect(world.call('simpkv::get_or_create', 'new', 4)['value']).to eq(4)
        expect([world.call('simpkv::delete', 'k'), world.call('simpkv::deletetree', 'app1')]).to eq([true, true])
        expect(world.call('simpkv::get', 'shared/key', { 'global' => true })['value']).to eq('shared')
        expect { world.call('simpkv::put', 'shared/key', 1, {}, { 'global' => true }) }
          .to raise_error(%r{a role with 'write' on 'globals/shared'})
      ensure
        world&.close
      end

      def on_site_of(name, more = {})
        ENV['SIMPKV_CONFIG'] = site_of(name, more)
        Simpkv::Termini.instance_variable_set(:@estate, nil)
        yield Simpkv::Termini.estate
      ensure
        ENV.delete('SIMPKV_CONFIG')
        Simpkv::Termini.instance_variable_set(:@estate, nil)
      end

      def facts_indirection
        Puppet::Node::Facts.indirection.tap { |chosen| chosen.terminus_class = :simpkv }
      end

      it 'permit the termini, and compilers collect what others have exported' do
        on_site_of('compiler-dev') do |estate|
          facts_indirection.save(Puppet::Node::Facts.new('web1', { 'os' => 'Debian' }))
          estate.exports.save('web1', { 'host' => [{ 'title' => 'web1' }] }, 'dev')
          estate.reports.save('web1', { 'status' => 'changed', 'time' => '2026-11-23T00:00:00Z' })
        end
        on_site_of('compiler-prod') do |estate|
          expect(facts_indirection.find('web1').values).to eq('os' => 'Debian')
          expect(estate.exports.all('host')).to eq('web1' => [{ 'title' => 'web1' }])
          expect { estate.store.get('globals/estate/access/users/compiler-dev') }.to raise_error(Simpkv::DeniedError)
        end
        expect(run_as('compiler-dev', 'nodes', '-o', 'json').out).to include('web1')
      end

      def save_facts(revision)
        facts_indirection.save(Puppet::Node::Facts.new('web1', { 'revision' => revision }))
      end

      # Each operation opens a connection of its own.
      it 'let the termini go on while the password file is ahead of the directory, with one warning' do
        world = PuppetWorld.new
        on_site_of('compiler-dev', 'idle_timeout_seconds' => 0) do |estate|
          save_facts(1)
          File.write(password_file('compiler-dev'), 'the next one')
          [2, 3].each { |revision| save_facts(revision) }
          expect(estate.facts.find('web1')['values']).to eq('revision' => 3)
          access!('apply')
          save_facts(4)
        end
        expect(world.warnings).to match([/\Asimpkv estate: a server refuses the password in .*compiler-dev\.pw: /])
      ensure
        world&.close
      end

      it 'permit the command in the environment' do
        [%w[put app1/k x], %w[ls], %w[ls app1], %w[tree], %w[tree app1], %w[exists app1/k], %w[mv app1/k app1/l],
         %w[get app1/l], %w[find], %w[export], %w[rm app1/l], %w[rm -r --yes app1]].each do |command, *arguments|
          expect([command, run_as('compiler-dev', command, '-e', 'dev', *arguments).code]).to eq([command, 0])
        end
        expect(run_as('compiler-dev', 'get', '-g', 'shared/key').out).to eq('shared')
        expect(run_as('compiler-dev', 'get', '-e', 'production', 'key').to_a)
          .to match(['', %r{a role with 'read' on 'environments/production'}, 77])
        expect(run_as('compiler-dev', 'ping', '--count', '1').out)
          .to match(/^base entry: +hidden from #{user_dn('compiler-dev')}, or missing$/)
      end

      def doctor(*arguments)
        outcome = run_as('compiler-dev', 'doctor', '-o', 'json', '--list-size', '20', *arguments)
        [outcome.code, JSON.parse(outcome.out).to_h { |finding| [finding['what'], finding.values_at('state', 'why')] }]
      end

      # The base entry was a problem.
      it 'let doctor examine the folder that the identity may use' do
        code, findings = doctor('-e', 'dev')
        expect(code).to eq(0)
        expect(findings).to include(
          'base entry' => ['unknown', %r{hidden from #{user_dn('compiler-dev')}.*only environments/dev is}],
          'reading' => ['ok', anything], 'limits' => ['ok', anything], 'anonymous access' => %w[ok none],
          'rights' => ['ok', %r{delete keys in environments/dev}]
        )
      end

      it 'let doctor say which right it lacks in another folder' do
        code, findings = doctor('-g', 'shared')
        expect(code).to eq(0)
        expect(findings).to include('reading' => ['ok', '1 key in 0 folders'],
                                    'rights' => ['unknown', %r{a role with 'write' on 'globals/shared}])
        expect(findings.keys).not_to include('cleaning up')
        expect(doctor('-e', 'production'))
          .to match([69, include('base entry' => ['problem', %r{may not see it, nor environments/production}])])
      end

      # It said to load simpkv's rule for an identity with all rights, which shut out all others on slapd.
      if server == AccessServers::Slapd
        it 'let doctor advise to lift the limits alone' do
          outcome = run_as('compiler-dev', 'doctor', '-o', 'json', '-e', 'dev')
          finding = JSON.parse(outcome.out).find { |each| each['what'] == 'limits' }
          expect(finding).to include('state' => 'problem', 'fix' => /--form limits .* as olcLimits /)
          expect(finding['fix']).not_to match(/--form (config|access)/)
        end
      end
    end

    it 'are shown to an administrator by the key that they give rights on' do
      access!('apply', file(documented('A compiler for each environment')))
      rows = JSON.parse(access('explain', 'environments/dev/app1/k', '-o', 'json').out)
      expect(rows).to eq([{ 'role' => 'dev', 'folder' => 'environments/dev', 'rights' => %w[list read write],
                            'users' => %w[compiler-dev], 'groups' => [] }])
      expect(access!('explain', 'globals/shared/key'))
        .to match(%r{^shared +globals/shared +list, read +compiler-dev compiler-prod +-$})
      expect(access!('explain', 'globals/shared')).to match(/^shared /)
      expect(access('explain', 'environments/dev2/k').to_a)
        .to eq(["no role gives a right on 'environments/dev2/k'\n", '', 1])
      expect(access('explain', 'dev/k').to_a).to match(['', %r{expected globals/\.\.\. or environments/NAME}, 64])
    end

    it 'permit a dashboard to read nodes, and nothing else' do
      estate = Simpkv::Estate.new({ 'backends' => { 'default' => admin_options.merge('type' => 'ldap') } })
      estate.make
      estate.facts.save('web1', { 'os' => 'Debian' })
      access!('apply', file(documented('A dashboard that only reads')))
      expect(run_as('dashboard', 'nodes', '-o', 'json').out).to include('web1')
      expect(run_as('dashboard', 'node', 'facts', 'web1').to_a)
        .to match(['', %r{a role with 'read' on 'globals/estate/facts'}, 77])
    end

    # A put asked for the folder of the environment, which is hidden.
    it 'permit a team to use the folder of its application, and nothing above' do
      declared = documented('An application team')
      access!('apply', file(declared.merge('users' => { 'ann' => { 'password' => "file:#{password_file('ann')}" } },
                                           'bindings' => { 'app1' => { 'users' => %w[ann], 'roles' => %w[app1] } })))
      [%w[put app1/k x], %w[get app1/k], %w[ls app1], %w[tree app1], %w[mv app1/k app1/l], %w[exists app1/l],
       %w[rm app1/l], %w[doctor --list-size 20 app1]].each do |command, *arguments|
        expect([command, run_as('ann', command, '-e', 'production', *arguments).to_a])
          .to match([command, [anything, '', 0]])
      end
      expect(run_as('ann', 'ls', '-e', 'production').to_a)
        .to match(['', %r{a role with 'list' on 'environments/production'}, 77])
      run_as('ann', 'put', '-e', 'production', 'app1/k', 'x')
      facts = JSON.parse(run_as('ann', 'stat', '-e', 'production', 'app1/k', '-o', 'json').out)
      expect(facts).to include('kind' => 'key', 'created_by' => user_dn('ann'), 'modified_by' => user_dn('ann'),
                               'created_at' => String, 'modified_at' => String, 'encrypted' => false)
      expect(facts).not_to include('not_shown')
      expect(run_as('ann', 'stat', '-e', 'production', 'app2/k').code).to eq(77)
    end
  end
end
