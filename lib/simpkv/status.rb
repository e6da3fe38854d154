# frozen_string_literal: true

require 'simpkv/status/alerts'
require 'simpkv/status/certificate_files'
require 'simpkv/status/compilers'
require 'simpkv/status/drift'
require 'simpkv/status/expiring_keys'
require 'simpkv/status/latest'
require 'simpkv/status/metrics'
require 'simpkv/status/node_counts'
require 'simpkv/status/parts'
require 'simpkv/status/reason'
require 'simpkv/status/servers'
require 'simpkv/status/site'
require 'simpkv/status/state'

module Simpkv
  # What an operator wants to know of a site at one glance, as plain data: nodes, servers of directories, compilers,
  # keys that expire soon, and what differs from the declared access rights. Nothing here writes to a store or returns
  # a value of a key.
  module Status
  end
end
