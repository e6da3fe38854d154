# frozen_string_literal: true

require_relative '../puppet_helper'
require_relative '../support/ldap_store'

RSpec.describe 'Lookups of Hiera in a directory', :once do
  include_context 'with slapd'

  let(:backends) { { 'default' => slapd.options('type' => 'ldap', 'id' => id) } }
  let!(:world) { PuppetWorld.new }

  before do
    level = { 'name' => 'stored', 'lookup_key' => 'simpkv::lookup_key', 'options' => { 'backends' => backends } }
    File.write(File.join(world.dir, 'hiera.yaml'), { 'version' => 5, 'hierarchy' => [level] }.to_yaml)
  end

  after { world.close }

  def searches
    slapd.log.scan(/SRCH base="[^"]*ou=#{id},/).length
  end

  def lookup(key)
    world.call('lookup', key, { 'default_value' => 'absent' })
  end

  it 'find a stored value, and send one search for 1,000 missing keys' do
    world.call('simpkv::put', 'hiera/app::port', 8080, {}, { 'backends' => backends })
    world.fresh_catalog
    before = searches
    1000.times { |n| expect(lookup("app::k#{n}")).to eq('absent') }
    expect([lookup('app::port'), searches - before]).to eq([8080, 1])
    world.call('simpkv::put', 'hiera/app::port', 8081, {}, { 'backends' => backends })
    expect(lookup('app::port')).to eq(8080)
    world.fresh_catalog
    expect(lookup('app::port')).to eq(8081)
  end

  it 'find nothing without a folder' do
    expect(lookup('app::port')).to eq('absent')
  end

  context 'when the server cannot be reached' do
    let(:backends) do
      { 'default' => { 'type' => 'ldap', 'id' => id, 'ldap_uri' => 'ldap://127.0.0.1:1', 'admin_pw_file' => __FILE__ } }
    end

    it 'fail with the names of the backend and the folder' do
      expect { lookup('app::port') }.to raise_error(
        %r{lookup_key with key='\w+' in folder 'hiera': simpkv Error: Unable to construct 'ldap/#{id}': .*ldapsearch}
      )
    end
  end
end
