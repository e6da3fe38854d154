# frozen_string_literal: true

module Simpkv
  # The version of the gem and of the Puppet module: one number for both.
  VERSION = '1.1.0'

  # What the Puppet module needs of the gem; the module names the one it was written for.
  API = 1
end
