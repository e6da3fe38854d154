# frozen_string_literal: true

require_relative '../../puppet_x/simpkv/parts'

# True if the gem simpkv can be loaded.
simpkv_gem = PuppetX::Simpkv.part(__FILE__, 'gem_feature').new

Puppet.features.add(:simpkv) { simpkv_gem.available }
