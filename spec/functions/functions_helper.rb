# frozen_string_literal: true

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
FUNCTIONS_MODULEPATH = Dir.mktmpdir('simpkv-modules')
File.symlink(PuppetWorld::PROJECT, File.join(FUNCTIONS_MODULEPATH, 'simpkv'))
File.symlink(File.join(PuppetWorld::PROJECT, 'spec', 'support', 'modules', 'thirdparty'),
             File.join(FUNCTIONS_MODULEPATH, 'thirdparty'))
File.write(File.join(FUNCTIONS_MODULEPATH, 'hiera.yaml'), "version: 5\n")

RSpec.configure do |config|
  config.setup_fixtures = false
  config.hiera_config = File.join(FUNCTIONS_MODULEPATH, 'hiera.yaml')
  config.module_path = FUNCTIONS_MODULEPATH
  config.after(:suite) { FileUtils.remove_entry(FUNCTIONS_MODULEPATH) }
end

RSpec.shared_context 'with stored keys' do
  let(:options) { { 'backends' => { 'default' => { 'type' => 'memory', 'id' => 'functions' } } } }
  let(:stored) { MemoryStore.entries('memory/functions') }

  before { stored.update('environments' => nil, 'environments/rp_env' => nil) }
  after { MemoryStore.clear }

  # Stores documents as they are.
  def store(documents)
    documents.each { |key, document| stored["environments/rp_env/#{key}"] = document }
  end
end
