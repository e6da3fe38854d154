# frozen_string_literal: true

Puppet::Type.type(:simpkv_user).provide(:simpkv) do
  desc 'Keeps users in a directory, with the gem simpkv.'

  confine feature: :simpkv

  common = File.expand_path('../../../puppet_x/simpkv/access_provider.rb', File.dirname(__FILE__))
  include TOPLEVEL_BINDING.eval(File.read(common), common)
end
