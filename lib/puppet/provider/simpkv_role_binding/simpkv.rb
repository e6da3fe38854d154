# frozen_string_literal: true

require_relative '../../../puppet_x/simpkv/parts'

Puppet::Type.type(:simpkv_role_binding).provide(:simpkv) do
  desc 'Keeps bindings in a directory, with the gem simpkv.'

  confine feature: :simpkv

  include PuppetX::Simpkv.part(__FILE__, 'access_provider')
end
