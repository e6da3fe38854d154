# frozen_string_literal: true

# True if the gem simpkv can be loaded.
simpkv_file = File.expand_path('../../puppet_x/simpkv/gem_feature.rb', File.dirname(__FILE__))
simpkv_gem = TOPLEVEL_BINDING.eval(File.read(simpkv_file), simpkv_file).new

Puppet.features.add(:simpkv) { simpkv_gem.available }
