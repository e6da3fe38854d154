# frozen_string_literal: true

require 'simpkv'
require 'simpkv/json_writer'
require 'simpkv/site_backend'
require 'simpkv/site_file'
require 'simpkv/catalog/entries'
require 'simpkv/catalog/patterns'

module Simpkv
  # The code of the resource types simpkv_key and simpkv_folder that knows no Puppet.
  module Catalog
  end
end
