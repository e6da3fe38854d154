# frozen_string_literal: true

require 'open3'
require 'tmpdir'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative 'support/report'
require_relative 'support/versions'

# How long does a newcomer wait for the first stored key? Builds the Debian packages as for a release, and then installs
# and uses them in a chroot that did not exist before, by packaging/try. Only root can make a chroot.

# @return [Array<String>] the lines that a command prints
def lines_of(*command)
  output, status = Open3.capture2(*command)
  status.success? ? output.lines(chomp: true) : raise("#{command.first} has failed")
end

report = Report.new('From nothing to a stored key, with packages')
Dir.mktmpdir do |folder|
  warn '  the packages'
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  lines_of('packaging/deb', folder)
  built = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
  warn '  a fresh Debian'
  steps = lines_of('packaging/try', folder, 'puppetserver').grep(/\A\d+:\d\d  /)
  report.note('| passed | what is there |', '|---:|---|', *steps.map { |step| "| #{step.sub('  ', ' | ')} |" }, '',
              'Times are in minutes and seconds since there was no chroot. They depend on the mirror of Debian.',
              "To build the packages before that took #{built.round} s.")
end
report.print('newcomer', Versions.own)
