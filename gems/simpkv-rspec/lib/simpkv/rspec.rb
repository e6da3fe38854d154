# frozen_string_literal: true

require 'puppet'
require 'rspec/core'
require 'simpkv/adapter'
require 'simpkv/rspec/example_methods'
require 'simpkv/rspec/fresh_catalogs'
require 'simpkv/rspec/have_stored'
require 'simpkv/rspec/stores'

# The kit for the authors of modules that call functions of simpkv: in spec_helper.rb, it gives each example an empty
# store, whatever backends Hiera names (docs/testing.md). Nothing else loads this file.
Simpkv::UnitTest.kit ||= Simpkv::Kit::Stores.new

RSpec.configure do |config|
  config.include(Simpkv::Kit::ExampleMethods)
  config.around do |example|
    extend(Simpkv::Kit::FreshCatalogs)

    Simpkv::UnitTest.kit.for_example { example.run }
  end
end
