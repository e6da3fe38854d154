# frozen_string_literal: true

require 'tmpdir'
require_relative '../puppet_helper'

# rspec-puppet needs this method of Ruby 2.7; JRuby 9.3 is a Ruby 2.6.
unless UnboundMethod.method_defined?(:bind_call)
  UnboundMethod.class_eval do
    def bind_call(object, *arguments, &block)
      bind(object).call(*arguments, &block)
    end
  end
end
require 'rspec-puppet'

# A modulepath for rspec-puppet: this module and the fixture modules.
module RspecPuppet
  MODULES = Dir.mktmpdir('simpkv-modules')
  File.symlink(PuppetWorld::PROJECT, File.join(MODULES, 'simpkv'))
  File.symlink(File.join(PuppetWorld::PROJECT, 'spec', 'support', 'modules', 'thirdparty'),
               File.join(MODULES, 'thirdparty'))
  File.write(File.join(MODULES, 'hiera.yaml'), "version: 5\n")
end

RSpec.configure do |config|
  config.setup_fixtures = false
  config.hiera_config = File.join(RspecPuppet::MODULES, 'hiera.yaml')
  config.module_path = RspecPuppet::MODULES
  config.after(:suite) { FileUtils.remove_entry(RspecPuppet::MODULES) }
end
