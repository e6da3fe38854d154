#!/bin/sh
# Runs files/task.rb, which is in the folder beside this one on the target as well. The parameters are on standard input.
# Ruby and the command simpkv are those of the PATH, or else of Puppet's own packages.
PATH=$PATH:/usr/local/bin:/opt/puppetlabs/puppet/bin
export PATH
command -v ruby > /dev/null || {
  echo '{"_error": {"kind": "simpkv/not-installed", "msg": "there is no Ruby on this machine: install the gem or the package simpkv", "details": {"exitcode": 127}}}'
  exit 127
}
exec ruby "$(dirname "$0")/../files/task.rb"
