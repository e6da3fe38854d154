# frozen_string_literal: true

require_relative '../../../../spec/command/doctor_helper'
require_relative '../../../../spec/support/ldap_store'

Directories.each_server do |server, tags|
  RSpec.describe "simpkv doctor, with entries that simpkv has not made, #{server}", **tags do
    include_context 'with doctor'
    include_context 'with a directory', server, layout: 'plain', limits: true

    let(:backends) do
      { 'default' => { 'type' => 'ldap', **directory.options('id' => id, 'admin_dn' => server::ROOT_DN) } }
    end

    def foreign
      findings('--list-size', '1').select { |finding| finding['what'].start_with?('foreign entr') }
    end

    def plant(name, *lines)
      dn = "ou=#{name},#{dn('globals/app', :folder)}"
      directory.add("dn: #{dn}\nobjectClass: organizationalUnit\nou: #{name}\n#{lines.join("\n")}\n")
      dn
    end

    it 'names them, and the command that deletes each' do
      store.put('globals/app/k', '{"value":1}')
      expect(foreign).to eq([])
      dn = plant('login', 'objectClass: simpleSecurityObject', 'userPassword: pl4nted')
      found = foreign
      expect(found).to contain_exactly(problem('foreign entry', /\A#{dn}: .*simpleSecurityObject.* userPassword\z/,
                                               /simpkv has not made it/))
      expect(found.to_s).not_to include('pl4nted')
      expect(system(found.first['fix'][/\b(head|LDAPTLS|ldapdelete).*/])).to be(true)
      expect(foreign).to eq([])
    end

    it 'names ten of them, and their number' do
      store.put('globals/app/k', '{"value":1}')
      11.times { |number| plant("x#{number}", 'description: x') }
      expect(foreign.map { |finding| finding['why'] }.last).to eq('11, of which 10 are named')
      expect(foreign.length).to eq(11)
    end
  end
end
