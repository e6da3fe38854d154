# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative 'support/contest'

# How long does a new process take? Compares `simpkv get`, as the gem installs it, with a Ruby that only loads json.
# Then compares the first get of a Ruby program, with connection and bind, with the bare C program that makes one get.
ROOT = File.expand_path('..', __dir__)
OUTSIDE = Contest::OUTSIDE

GET = <<~RUBY
  require 'simpkv'
  store = Simpkv::Store.open('ldap', JSON.parse(ARGV[0]))
  puts store.get(ARGV[1])
RUBY

def run(environment, *command)
  IO.popen([OUTSIDE.merge(environment), *command], in: File::NULL, &:read)
end

def must(*command, **options)
  system(OUTSIDE, *command, out: File::NULL, err: File::NULL, **options) or raise "#{command.first(3).join(' ')} failed"
end

# Installs the gem and its dependencies into a folder.
#
# @return [Hash{String => String}] the environment of the command
def install(folder)
  gem = File.join(folder, 'simpkv.gem')
  must('gem', 'build', 'simpkv.gemspec', '-o', gem, chdir: ROOT)
  must('gem', 'install', '--no-document', '-i', folder, '-n', File.join(folder, 'bin'), gem)
  { 'GEM_HOME' => folder, 'GEM_PATH' => folder }
end

# @return [String] the path of the command's configuration file
def configure(folder, contest)
  backends = { 'files' => { 'type' => 'file', 'id' => 'x', 'root_path' => File.join(folder, 'keys') },
               'slapd' => { 'type' => 'ldap' }.merge(contest.server.options('id' => 'x')) }
  File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.to_yaml) }
end

def command(report, contest, folder)
  environment = install(folder)
  simpkv = [*Contest::MRI, File.join(folder, 'bin', 'simpkv'), '-c', configure(folder, contest)]
  gets = %w[files slapd].to_h do |name|
    run(environment, *simpkv, '-b', name, 'put', 'app1/key', 'value')
    ["simpkv get, #{name}", -> { run(environment, *simpkv, '-b', name, 'get', 'app1/key') }]
  end
  gets.each_value { |get| get.call == 'value' or raise 'simpkv get does not print the value' }
  contestants = { 'ruby -rjson -e 1' => -> { run({}, *Contest::MRI, '-rjson', '-e', '1') } }
  rows = report.add(SideBySide.run('a process', contestants.merge(gets), seconds: nil, equal: ->(_answer) {}))
  gets.each_key do |name|
    report.at_most("time of #{name} / ruby -rjson -e 1", 2, Report.ratio(rows, 'ruby -rjson -e 1', name))
  end
end

def first_get(report, contest)
  folder = contest.folder('small')
  environment = contest.environment(folder, 'own')
  bare = [*Contest::COMMANDS['bare C loop'], 'get']
  options = JSON.generate(contest.server.options('id' => Contest::ID))
  json = [*Contest::MRI, '-rjson', '-e', '']
  simpkv = [*Contest::MRI, "-I#{ROOT}/lib", '-rjson', '-e', GET, options, "#{folder.path}/k0"]
  contestants = { 'ruby -rjson, then the bare C program' => -> { run({}, *json) + run(environment, *bare).lines.last },
                  'ruby with simpkv' => -> { run({}, *simpkv) } }
  rows = report.add(SideBySide.run('a process with one get, slapd', contestants, seconds: nil))
  report.at_most('time of the first get / ruby -rjson and the bare C program', 1.3,
                 Report.ratio(rows, 'ruby -rjson, then the bare C program', 'ruby with simpkv'))
end

report = Report.new('Processes')
Dir.mktmpdir('command') do |folder|
  Contest.at(Contest::OpenLDAP) do |contest|
    command(report, contest, folder)
    first_get(report, contest)
    report.print('command', contest.versions)
  end
end
