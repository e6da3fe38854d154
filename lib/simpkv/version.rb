# frozen_string_literal: true

module Simpkv
  # The version of the gem and of the Puppet module: one number for both.
  VERSION = '1.1.0'

  # What the Puppet module needs of the gem; the module names the one it was written for, which is any of these. Modules
  # from the oldest on are supported through a major version.
  API = 1
  OLDEST_API = 1
end
