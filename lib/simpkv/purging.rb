# frozen_string_literal: true

require 'simpkv'
require 'simpkv/native/json_writer'
require 'simpkv/config/site_file'
require 'simpkv/purging/entries'
require 'simpkv/purging/patterns'

module Simpkv
  # The code of the resource types simpkv_key and simpkv_folder that knows no Puppet.
  module Purging
  end
end
