# frozen_string_literal: true

require 'simpkv/status/alerts'
require 'simpkv/status/certificate_files'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/latest'
require 'simpkv/status/metrics'
require 'simpkv/status/part'
require 'simpkv/status/reason'
require 'simpkv/status/servers'
require 'simpkv/status/site'
require 'simpkv/status/state'

module Simpkv
  # What an operator wants to know of a site at one glance, as plain data: servers of directories, keys that expire
  # soon, certificates, and what other gems add by their {Part}s. Nothing here writes to a store or returns a value of
  # a key.
  module Status
  end
end
