# frozen_string_literal: true

# Makes a store with nodes, and the configuration of a service over it, simpkv.yaml: fill.rb FOLDER NODES
$LOAD_PATH.unshift(File.expand_path('../../lib', __dir__))
require_relative 'sample_estate'

folder, count = ARGV
site = SampleEstate.site(folder)
File.write(File.join(folder, 'simpkv.yaml'), site.to_yaml)
SampleEstate.make(site, Integer(count))
