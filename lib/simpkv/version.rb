# frozen_string_literal: true

module Simpkv
  # The version of the gem and of the Puppet module: one number for both.
  VERSION = '1.1.0'

  # The interfaces that the gem offers to the Puppet module: the newest and the oldest. A module names the one that it
  # was written for. The gem supports older modules through a major version.
  API = 6
  OLDEST_API = 1
end
