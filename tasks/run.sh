#!/bin/sh
# Runs files/task.rb, which is in the folder beside this one on the target as well. The parameters are on standard input.
# Ruby and the command simpkv are those of the PATH, or else of Puppet's own packages.
PATH=$PATH:/usr/local/bin:/opt/puppetlabs/puppet/bin
export PATH
exec ruby "$(dirname "$0")/../files/task.rb"
