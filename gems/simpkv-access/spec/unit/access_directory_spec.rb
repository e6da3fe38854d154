# frozen_string_literal: true

require_relative '../../../../spec/spec_helper'
require 'simpkv/access/directory'

RSpec.describe Simpkv::Access::Directory do
  def configured(options)
    names = { 'users_dn' => 'ou=users,dc=simp', 'roles_dn' => 'ou=roles,dc=simp' }.merge(options)
    store = instance_double(Simpkv::Store, directory: nil)
    described_class.configured(store, { 'base_dn' => 'ou=simpkv,dc=simp' }, names)
  end

  ['ou=simpkv,dc=simp', 'ou=users, OU=simpkv, dc=simp'].product(%w[users_dn roles_dn]).each do |dn, option|
    it "refuses the #{option} '#{dn}', which is among the keys" do
      expect { configured(option => dn) }
        .to raise_error(Simpkv::ConfigError, /\A'#{option}' of 'access' is inside the 'base_dn' of the backend/)
    end
  end

  it 'takes entries beside the keys, and above them' do
    ['ou=simpkv users,dc=simp', 'cn=ou\\=simpkv,dc=simp', 'dc=simp'].each do |dn|
      expect(configured('users_dn' => dn).names.users_dn).to eq(dn)
    end
  end
end
