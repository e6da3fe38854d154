# frozen_string_literal: true

require_relative '../../../../spec/command/doctor_helper'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/mirror_mode'
require_relative '../../../../spec/support/suppliers'

RSpec.describe 'simpkv conflicts' do
  include_context 'with doctor'

  attr_reader :pair

  let(:id) { "i#{LdapIds.next}" }
  let(:backends) { { 'default' => { 'type' => 'ldap', **pair.first.options('id' => id) } } }
  let(:stores) { pair.map { |server| Simpkv::Store.open('ldap', server.options('id' => id)) } }
  let(:path) { 'environments/production/app1/k' }

  after { stores.each(&:close) }

  # Has each server create the keys while neither knows of the other's. The first one is the first to do so.
  def create_at_each(*paths)
    stores.first.put('environments/production/app1/other', '{"value":"other"}')
    pair.settle
    pair.apart do
      stores.each_with_index do |store, number|
        paths.each { |path| store.put(path, "{\"value\":\"pl4nted#{number}\"}") }
        later
      end
    end
  end

  # Returns in a later second: the servers note times in seconds.
  def later
    second = Time.now.to_i
    sleep 0.05 until Time.now.to_i > second
  end

  # @return [Array<Hash>]
  def listed
    outcome = simpkv('conflicts', 'list', '-o', 'json')
    all = JSON.parse(outcome.out)
    expect(outcome).to have_attributes(err: '', code: all.any? { |entry| entry['state'] == 'lost' } ? 1 : 0)
    expect(outcome.out).not_to include('pl4nted')
    all.select { |entry| entry['path'] }
  end

  def values
    pair.settle
    stores.map { |store| store.get(path, required: false).to_s[/pl4nted\d/] }
  end

  def resolve(*arguments)
    simpkv('conflicts', 'resolve', *arguments).tap do |outcome|
      expect(outcome.out + outcome.err).not_to include('pl4nted')
    end
  end

  %w[plain hex].each do |layout|
    describe "on two suppliers of 389-DS, with the layout #{layout}", ds389: true, long: layout == 'hex' do
      # With the rights that simpkv ships.
      before(:context) do
        @pair = Suppliers.new(layout: layout).tap(&:start)
        rights = Simpkv::Cli::DirectorySetup.new('389ds', layout).text('access')
        pair.first.modify(rights.sub('add: aci', 'replace: aci'))
        pair.settle
      end

      after(:context) { pair&.stop }

      it 'shows when both versions were written, and by whom, and keeps the newest one on both servers' do
        create_at_each(path, 'globals/f/ü, +/k')
        found = listed
        expect(found.map { |entry| [entry['path'], entry['kind']] })
          .to contain_exactly([path, 'key'], ['globals/f/ü, +/k', 'key'], ['globals/f/ü, +', 'folder'],
                              ['globals/f', 'folder'], %w[globals folder])
        entry = found.find { |one| one['path'] == path }
        expect(entry).to include('writer' => DirectoryServer::USER_DN,
                                 'used' => include('writer' => DirectoryServer::USER_DN))
        expect(entry['time']).to be > entry['used']['time']
        commands = ServerPair::PAGE.blocks('Why not two writers', 'sh').first.lines.map { |line| line.split.drop(1) }
        expect(commands.map { |words| simpkv(*words) }.map { |outcome| [outcome.err, outcome.code] })
          .to eq([['', 1], ['', 0], ['', 0]])
        expect([values, listed]).to eq([%w[pl4nted1 pl4nted1], []])
      end

      next if layout == 'hex'

      it 'keeps the version that is named, changes nothing in a dry run, and undoes it by its journal' do
        create_at_each(path)
        expect(resolve('--all', '--keep', 'lost', '--dry-run').out).to eq("#{path}: would keep the lost version\n")
        expect([values, listed.length]).to eq([%w[pl4nted0 pl4nted0], 1])
        kept = resolve(path, '--keep', 'lost', '--journal', 'one.journal')
        expect(kept).to have_attributes(code: 0, err: '', out: "#{path}: kept the lost version\njournal: one.journal\n")
        expect([values, listed]).to eq([%w[pl4nted1 pl4nted1], []])
        expect(File.stat(File.join(folder, 'one.journal')).mode & 0o777).to eq(0o600)
        expect(resolve('--rollback', 'one.journal').code).to eq(0)
        expect(values).to eq(%w[pl4nted0 pl4nted0])
      end

      it 'brings back the version that lost after the used one was kept' do
        create_at_each(path)
        expect(resolve(path, '--keep', 'used', '--journal', 'two.journal', '-o', 'json').code).to eq(0)
        expect([values, listed]).to eq([%w[pl4nted0 pl4nted0], []])
        back = resolve('--rollback', 'two.journal', '-o', 'json')
        expect([back.code, JSON.parse(back.out)]).to eq([0, { 'rolled back' => 1, 'left' => 0 }])
        expect(values).to eq(%w[pl4nted1 pl4nted1])
      end

      # It was an internal error, or nothing was printed about the first key.
      it 'refuses the newest version if a time is hidden, and prints what it did before the directory failed' do
        create_at_each(path, "#{path}longer")
        denied('(targetattr = "modifyTimestamp")', 'read') do
          expect(resolve(path, '--keep', 'newest')).to have_attributes(code: 65, out: '', err: /may not see when both/)
        end
        denied('(targetfilter = "(simpkvKey=klonger)")', 'delete') do
          expect(resolve('--all', '--keep', 'used', '--journal', 'four.journal'))
            .to have_attributes(code: 69, out: /\A#{path}: kept the used version\n/, err: /ldapdelete failed/)
        end
        expect(resolve('--all', '--keep', 'used')).to have_attributes(code: 0, err: '')
      end

      # Denies something to everybody while the block runs.
      def denied(target, right)
        change = ->(verb) { <<~LDIF }
          dn: #{DirectoryServer::BASE_DN}
          changetype: modify
          #{verb}: aci
          aci: #{target}(version 3.0; acl "hidden"; deny (#{right}) userdn = "ldap:///anyone";)
        LDIF
        pair.first.modify(change.call('add'))
        yield
      ensure
        pair.first.modify(change.call('delete'))
      end

      # The version that lost was deleted, and the key with it.
      it 'refuses to keep the version in use if there is none, and keeps the one that lost' do
        create_at_each(path)
        stores.first.delete(path)
        pair.settle
        expect(listed).to match([include('path' => path, 'state' => 'lost')])
        [%w[--dry-run], []].each do |options|
          expect(resolve('--all', '--keep', 'used', *options))
            .to have_attributes(code: 65, out: '', err: /'#{path}'.*: no version is in use.*--keep lost/)
        end
        expect([values, listed.length]).to eq([[nil, nil], 1])
        expect(resolve('--all', '--keep', 'lost', '--journal', 'three.journal')).to have_attributes(code: 0, err: '')
        expect([values, listed]).to eq([%w[pl4nted1 pl4nted1], []])
        expect(resolve('--rollback', 'three.journal').code).to eq(0)
        expect(values).to eq([nil, nil])
      end

      it 'refuses a path without a conflict, and no choice' do
        expect(resolve('globals/none', '--keep', 'used')).to have_attributes(code: 66, err: /no conflict of 'globals/)
        expect(resolve('--all')).to have_attributes(code: 64, err: /--keep used, lost or newest/)
        expect(resolve('--keep', 'used')).to have_attributes(code: 64, err: /or --all/)
      end

      # Doctor advised to delete the folder with all its keys.
      it 'leaves a revived folder with its key, for which doctor advises no deletion' do
        stores.first.put('environments/production/gone/one', '{"value":1}')
        pair.settle
        pair.apart do
          stores.first.deletetree('environments/production/gone')
          stores.last.put('environments/production/gone/two', '{"value":2}')
        end
        expect(listed).to match([include('path' => 'environments/production/gone', 'state' => 'revived')])
        expect(resolve('--all', '--keep', 'used')).to have_attributes(code: 0, out: '')
        expect(stores.first.list('environments/production/gone')[:keys]).to eq('two' => '{"value":2}')
        found = findings('--read-only').select { |finding| finding['what'] == 'revived folder' }
        expect(found).to match([warning('revived folder', /ou=gone/, /keys are in use/)])
        expect(found.to_s).not_to include('ldapdelete')
        convert = found.first['fix'][/dsconf .*/]
        expect(ServerPair::PAGE.blocks('Why not two writers', 'sh').last).to start_with(convert[/.* ou=gone,/])
        as_root = "dsconf -D '#{Ds389::ROOT_DN}' -w '#{DirectoryServer::PASSWORD}' #{pair.first.tcp_uri}"
        Page.shell(convert.sub('dsconf INSTANCE', as_root))
        pair.settle
        expect(listed).to eq([])
        expect(stores.last.list('environments/production/gone')[:keys]).to eq('two' => '{"value":2}')
      end
    end
  end

  it 'has nothing to show on OpenLDAP, which keeps the later version alone' do
    MirrorMode.run do |mirror|
      @pair = mirror
      create_at_each(path)
      expect([values, listed]).to eq([%w[pl4nted1 pl4nted1], []])
      expect(simpkv!('conflicts', 'list')).to eq("no conflicts\n")
    end
  end
end
