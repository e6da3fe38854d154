# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative 'support/contest'

# How long does a new process take? Compares `simpkv get`, as the gem installs it, with a Ruby that only loads json, and
# the gem simpkv alone with all gems, which the command could look for. Then compares the first get of a Ruby program,
# with connection and bind, with the bare C program that makes one get.
ROOT = File.expand_path('..', __dir__)
OUTSIDE = Contest::OUTSIDE
# The gems beside simpkv, by the name of the contestant.
GEMS = { 'simpkv alone' => [], 'all gems' => %w[simpkv-estate simpkv-access simpkv-server] }.freeze

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

# Installs a gem into a folder.
#
# @param source [String] the folder of its code
# @param options [Array<String>] of `gem install`
def install(folder, source, name, *options)
  gem = File.join(folder, "#{name}.gem")
  must('gem', 'build', "#{name}.gemspec", '-o', gem, chdir: source)
  must('gem', 'install', '--no-document', *options, '-i', folder, '-n', File.join(folder, 'bin'), gem)
end

# The gems of the service, which those beside simpkv need, are left out: the compiled ones take minutes to install.
#
# @return [Hash{String => Array}] the environment of the command, and the command, by the name of the contestant
def install_all(folder)
  built = File.join(folder, 'simpkv').tap { |place| Dir.mkdir(place) }
  install(built, ROOT, 'simpkv')
  GEMS.to_h do |title, names|
    place = File.join(folder, title)
    FileUtils.cp_r(built, place)
    names.each { |name| install(place, File.join(ROOT, 'gems', name), name, '--local', '--ignore-dependencies') }
    [title, command_in(place)]
  end
end

def command_in(folder)
  [{ 'GEM_HOME' => folder, 'GEM_PATH' => folder }, *Contest::MRI, File.join(folder, 'bin', 'simpkv')]
end

# @return [String] the path of the command's configuration file
def configure(folder, contest)
  backends = { 'files' => { 'type' => 'file', 'id' => 'x', 'root_path' => File.join(folder, 'keys') },
               'slapd' => { 'type' => 'ldap' }.merge(contest.server.options('id' => 'x')) }
  File.join(folder, 'simpkv.yaml').tap { |file| File.write(file, { 'backends' => backends }.to_yaml) }
end

def command(report, simpkv, config)
  gets = %w[files slapd].to_h do |name|
    run(*simpkv, '-c', config, '-b', name, 'put', 'app1/key', 'value')
    ["simpkv get, #{name}", -> { run(*simpkv, '-c', config, '-b', name, 'get', 'app1/key') }]
  end
  gets.each_value { |get| get.call == 'value' or raise 'simpkv get does not print the value' }
  contestants = { 'ruby -rjson -e 1' => -> { run({}, *Contest::MRI, '-rjson', '-e', '1') } }
  rows = report.add(SideBySide.run('a process', contestants.merge(gets), seconds: nil, equal: ->(_answer) {}))
  gets.each_key do |name|
    report.at_most("time of #{name} / ruby -rjson -e 1", 2, Report.ratio(rows, 'ruby -rjson -e 1', name))
  end
end

# @param installed [Hash{String => Array}] what runs the command, by what is installed
def gems(report, installed, config)
  { 'simpkv --version' => %w[--version], 'simpkv get' => ['-c', config, '-b', 'files', 'get', 'app1/key'] }
    .each do |title, arguments|
    contestants = installed.transform_values { |simpkv| -> { run(*simpkv, *arguments) } }
    raise "#{title} prints nothing" if contestants.values.last.call.empty?

    rows = report.add(SideBySide.run(title, contestants, seconds: nil))
    report.at_most("time of #{title}, all gems / simpkv alone", 1.1, Report.ratio(rows, *GEMS.keys))
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
    config = configure(folder, contest)
    installed = install_all(folder)
    command(report, installed.fetch('simpkv alone'), config)
    gems(report, installed, config)
    first_get(report, contest)
    report.print('command', contest.versions)
  end
end
