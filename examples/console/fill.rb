# frozen_string_literal: true

# Fills the directory of a site with nodes, and its access control with users and roles: fill.rb FILE NODES. The file is
# the configuration of the site, and gets the section of the estate.
$LOAD_PATH.unshift(File.expand_path('../../lib', __dir__))
require_relative 'sample_access'
require_relative 'sample_writers'

file, count = ARGV
site = YAML.safe_load(File.read(file)).merge('estate' => SampleEstate::OPTIONS)
File.write(file, site.to_yaml)
SampleEstate.make(site, Integer(count))
SampleWriters.log(site)
SampleAccess.apply(site, File.dirname(file))
