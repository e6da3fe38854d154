# frozen_string_literal: true

require 'simpkv/adapter/documents'
require 'simpkv/config/site_file'
require 'simpkv/purging'

module Simpkv
  # What the resource types of the module do with stores. It runs inside Puppet, on agents as well.
  module Resources
  end
end

require 'simpkv/resources/backends'
require 'simpkv/resources/catalog'
require 'simpkv/resources/folder'
require 'simpkv/resources/key'
