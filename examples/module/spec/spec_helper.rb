# frozen_string_literal: true

require 'rspec-puppet' # or 'puppetlabs_spec_helper/module_spec_helper', which sets the paths below
require 'simpkv/rspec'

RSpec.configure do |config|
  config.module_path = File.join(__dir__, 'fixtures', 'modules')
  config.setup_fixtures = false
end
