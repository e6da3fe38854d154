# frozen_string_literal: true

require_relative 'doctor_helper'
require_relative '../support/ldap_store'
require_relative '../support/suppliers'

RSpec.describe 'simpkv doctor, with two suppliers of 389-DS that replicate each other', :ds389 do
  include_context 'with doctor'

  before(:context) { @suppliers = Suppliers.new(layout: 'plain').tap(&:start) }
  after(:context) { @suppliers&.stop }

  let(:id) { "i#{LdapIds.next}" }
  let(:backends) { { 'default' => { 'type' => 'ldap', **@suppliers.first.options('id' => id) } } }
  let(:stores) { @suppliers.map { |server| Simpkv::Store.open('ldap', server.options('id' => id)) } }

  after { stores.each(&:close) }

  # @return [Array<Hash>] findings about entries that replication left behind
  def conflicts
    findings('--list-size', '1').select { |finding| finding['what'] == 'conflict entry' }
  end

  it 'names the entries that replication left behind, and the command that deletes each; no list shows them' do
    stores.first.put('globals/app1/other', '{"value":1}')
    @suppliers.settle
    @suppliers.apart do
      stores.each_with_index { |store, number| store.put('globals/app1/k', "{\"value\":\"pl4nted#{number}\"}") }
    end
    expect(simpkv!('ls', '-g', 'app1')).to eq("k\nother\n")
    found = conflicts
    expect(found).to contain_exactly(problem('conflict entry', /\bnsuniqueid=[^,]*simpkvkey=k\b.*ou=app1,/i,
                                             /no key is read/))
    expect(found.to_s).not_to include('pl4nted')
    out, why, status = Open3.capture3('sh', '-c', found.first['fix'][/\b(head|LDAPTLS|ldapdelete).*/])
    expect([out, why, status.exitstatus]).to eq(['', '', 0])
    expect(conflicts).to eq([])
    expect(simpkv!('get', '-g', 'app1/k')).to start_with('pl4nted')
    # Doctor did not say that there are more than it names.
    @suppliers.apart do
      stores.each { |store| (1..11).each { |number| store.put("globals/app1/more#{number}", '{"value":1}') } }
    end
    expect(conflicts.length).to eq(10)
    expect(findings('--list-size', '1'))
      .to include(problem('conflict entries', '11, of which 10 are named', /simpkv conflicts list/))
  end

  # Doctor said ok.
  it 'names the server that has not got the changes of the other one' do
    backends['default']['ldap_uri'] = @suppliers.map(&:uri).join(' ')
    stores.first.put('globals/app1/both', '{"value":1}')
    @suppliers.settle
    expect(findings('--read-only').map { |finding| finding['what'] }).not_to include('replication')
    @suppliers.apart do
      stores.first.put('globals/app1/k', '{"value":1}')
      expect(findings('--read-only')).to include(
        problem('replication', %r{\Aof the 2 keys of .* lacks 1 key, such as 'globals/app1/k'\z},
                /dsconf INSTANCE replication monitor/)
      )
    end
  end
end
