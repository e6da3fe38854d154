# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative 'support/contest'

# What a shell waits for: `simpkv get` as the gem installs it, beside a Ruby that only loads json.
ROOT = File.expand_path('..', __dir__)
OUTSIDE = Contest::OUTSIDE

def run(environment, *command)
  IO.popen([OUTSIDE.merge(environment), *command], in: File::NULL, &:read)
end

def must(*command, **options)
  system(OUTSIDE, *command, out: File::NULL, err: File::NULL, **options) or raise "#{command.first(3).join(' ')} failed"
end

# The gem, and what it needs, installed for nobody else.
#
# @return [Hash{String => String}] the environment in which the command is found
def install(folder)
  gem = File.join(folder, 'simpkv.gem')
  must('gem', 'build', 'simpkv.gemspec', '-o', gem, chdir: ROOT)
  must('gem', 'install', '--no-document', '-i', folder, '-n', File.join(folder, 'bin'), gem)
  { 'GEM_HOME' => folder, 'GEM_PATH' => folder }
end

report = Report.new('The command')
Dir.mktmpdir('command') do |folder|
  environment = install(folder)
  simpkv = [*Contest::MRI, File.join(folder, 'bin', 'simpkv')]
  Contest.at(Contest::OpenLDAP) do |contest|
    backends = { 'default' => { 'type' => 'file', 'id' => 'x', 'root_path' => File.join(folder, 'keys') },
                 'slapd' => { 'type' => 'ldap' }.merge(contest.server.options('id' => 'x')) }
    file = File.join(folder, 'simpkv.yaml')
    File.write(file, { 'backends' => backends }.to_yaml)
    backends.each_key { |name| run(environment, *simpkv, '-c', file, '-b', name, 'put', 'app1/key', 'value') }
    gets = backends.keys.to_h do |name|
      ["simpkv get, #{name == 'default' ? 'files' : name}",
       -> { run(environment, *simpkv, '-c', file, '-b', name, 'get', 'app1/key') }]
    end
    gets.each_value { |get| get.call == 'value' or raise 'it does not get the value' }
    contestants = { 'ruby -rjson -e 1' => -> { run({}, *Contest::MRI, '-rjson', '-e', '1') } }
    rows = report.add(SideBySide.run('a process', contestants.merge(gets), seconds: nil, equal: ->(_answer) {}))
    gets.each_key do |name|
      report.at_most("time of #{name} / ruby -rjson -e 1", 2, Report.ratio(rows, 'ruby -rjson -e 1', name))
    end
    report.print('command', contest.versions)
  end
end
