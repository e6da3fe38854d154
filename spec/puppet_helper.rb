# frozen_string_literal: true

# For specs that run Puppet: Debian's, the OpenVox gem or JRuby's, whichever is loaded.
require_relative 'spec_helper'
require 'puppet'
require 'puppet/test/test_helper'
require_relative 'support/puppet_autoload'
require_relative 'support/puppet_world'

Puppet::Test::TestHelper.initialize

RSpec.configure do |config|
  config.before(:all) { Puppet::Test::TestHelper.before_all_tests }
  config.before { Puppet::Test::TestHelper.before_each_test }
  config.after { Puppet::Test::TestHelper.after_each_test }
  config.after(:all) { Puppet::Test::TestHelper.after_all_tests }
end
