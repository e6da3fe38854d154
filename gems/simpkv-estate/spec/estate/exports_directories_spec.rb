# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require_relative '../../../../spec/support/ldap_store'
require_relative '../../../../spec/support/scratch'
require 'simpkv/estate'

Directories::ALL.each do |server, layout, tags|
  RSpec.describe "Exported resources on #{server.name} with layout #{layout}", **tags do
    include_context 'with a directory', server, layout: layout

    let(:exports) { opened.exports }

    before { opened.make }

    # An estate with its own connections, as each compiler has.
    def opened
      Simpkv::Estate.new({ 'backends' => { 'default' => directory.options('id' => id).merge('type' => 'ldap') } })
    end

    def list(*titles)
      titles.map { |title| { 'title' => title } }
    end

    def collected(certname)
      exports.types.to_h { |type| [type, exports.all(type)[certname]] }.compact
    end

    # The estate used to say that there is no base entry, and to advise 'simpkv init'.
    it 'cannot be read with a wrong password, and the error says so' do
      Scratch.make('password') do |folder|
        password = File.join(folder, 'password')
        File.write(password, 'wr0ng')
        options = directory.options('id' => id, 'admin_pw_file' => password)
        estate = Simpkv::Estate.new({ 'backends' => { 'default' => options.merge('type' => 'ldap') } })
        expect { estate.exports.all('host') }.to raise_error(Simpkv::DeniedError, /refused.*wrong password/)
      end
    end

    it 'are not looked for without the base entry' do
      options = directory.options('id' => id, 'base_dn' => "ou=absent,#{directory.options['base_dn']}")
      estate = Simpkv::Estate.new({ 'backends' => { 'default' => options.merge('type' => 'ldap') } })
      expect { estate.store }
        .to raise_error(Simpkv::UnavailableError, /could not access ou=absent,.*no such entry.*'simpkv init'/)
    end

    it 'are saved, replaced, found by type and deleted' do
      exports.save('web1.example.com', { 'host' => list('a'), 'nginx::vhost' => list('b', 'ä') }, 'production')
      exports.save('web2.example.com', { 'host' => list('c') }, 'production')
      expect(exports.all('host')).to eq('web1.example.com' => list('a'), 'web2.example.com' => list('c'))
      exports.save('web1.example.com', { 'nginx::vhost' => list('d') }, 'production')

      expect([exports.all('host').keys, exports.of('web1.example.com')])
        .to eq [['web2.example.com'], { 'nginx::vhost' => list('d') }]
      expect([exports.delete('web1.example.com'), collected('web1.example.com')]).to eq [1, {}]
    end

    it 'are those of one of many saves at once, after the next save at the latest' do
      versions = (1..6).map { |n| { 'all' => list("t#{n}"), "only#{n % 3}" => list("t#{n}"), 'same' => list('c') } }
      3.times do
        versions.map { |version| Thread.new { opened.exports.save('web1', version, 'production') } }.each(&:join)
        found = collected('web1')
        settled = opened.inventory.get('web1')
        # 389-DS may let two writers replace one record (docs/adr/0013). Then the next run settles it.
        expect(versions).to include(found) unless settled['saving']
        exports.save('web1', versions.first, 'production')
        expect(collected('web1')).to eq versions.first
      end
    end
  end
end
