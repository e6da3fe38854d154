# frozen_string_literal: true

require_relative '../../../../spec/support/killed_writes'
require_relative 'access_helper'

{ AccessServers::Slapd => {}, AccessServers::Ds => { ds389: true } }.each do |server, tags|
  RSpec.describe "simpkv access, killed at any write, on #{server.superclass}", **tags, needs: %i[cext fork] do
    include Processes

    include_context 'with access control', server

    let(:declared) do
      { 'users' => { 'one' => { 'password' => "file:#{password_file('one')}" } },
        'roles' => { 'dev' => [{ 'prefixes' => %w[environments/dev], 'rights' => %w[read list write] }] },
        'bindings' => { 'devs' => { 'users' => %w[one], 'roles' => %w[dev] } } }
    end

    # Runs the command in a child process, and kills that before or after the write with this number.
    #
    # @return [Boolean] whether it was killed
    def killed?(*arguments, **at)
      pid = fork do
        [$stdout, $stderr].each { |stream| stream.reopen(File::NULL) }
        KilledWrites.start(**at)
        ENV['SIMPKV_CONFIG'] = config
        exit!(Simpkv::Cli.run(['access', *arguments]))
      end
      status = status_of(pid)
      expect(status.exitstatus).to eq(0) unless status.signaled?
      status.signaled?
    end

    # Kills the command before each of its writes, and then again after that write.
    #
    # @yield after both; the command has to complete
    # @return [Integer] the number of writes
    def kill_at_each_write(*arguments)
      (1..).find do |number|
        next true unless killed?(*arguments, before: number)

        expect(killed?(*arguments, after: 1)).to be(true)
        yield
        false
      end - 1
    end

    # On the second server, an apply has writes of all kinds.
    others = { long: tags[:ds389] }

    def built
      [members('dev'), directory.rules, directory.search(AccessServers::USERS_DN, '(uid=*)'), access('plan').to_a]
    end

    it 'completes an apply' do
      declarations = file
      access!('apply', declarations)
      reference = built
      access!('delete', '--all')
      count = kill_at_each_write('apply', declarations) do
        access!('apply')
        access!('apply', declarations)
        expect(built).to eq(reference)
        as('one') { |store| expect(store.list('environments/dev')[:keys]).to eq({}) }
        access!('delete', '--all')
        %w[globals environments].each { |folder| admin.deletetree(folder) }
      end
      expect(count).to be > 11
    end

    it 'completes a move of a user to another role', **others do
      grants = [{ 'prefixes' => %w[environments/dev globals/shared], 'rights' => %w[read list] }]
      moved = File.join(folder, 'moved.yaml')
      File.write(moved, declared.merge('roles' => { 'other' => grants },
                                       'bindings' => { 'devs' => { 'users' => %w[one],
                                                                   'roles' => %w[other] } }).to_yaml)
      access!('apply', file)
      count = kill_at_each_write('apply', moved, '--prune') do
        as('one') { |store| expect(store.list('environments/dev')[:keys]).to eq({}) }
        access!('apply')
        access!('apply', moved, '--prune')
        expect([members('other'), directory.search(AccessServers::ROLES_DN, '(cn=dev)')]).to eq([%w[one other], []])
        expect([own_rules.grep(/cn=dev,/), access('plan').code]).to eq([[], 0])
        access!('apply', file, '--prune')
      end
      expect(count).to be > 8
    end

    it 'completes a deletion', **others do
      declarations = file
      access!('apply', declarations)
      count = kill_at_each_write('delete', '--all') do
        access!('apply')
        access!('delete', '--all')
        expect(accounts_and_groups).to eq([])
        expect(own_rules).to eq([])
        access!('apply', declarations)
      end
      expect(count).to be > 5
    end
  end
end
