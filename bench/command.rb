# frozen_string_literal: true

require 'fileutils'
require 'tmpdir'
require 'yaml'
require_relative 'support/contest'
require_relative 'support/distance'
require_relative 'support/etcd_command'

# How long does a process of the command take? Compares the command of the packages, which starts without RubyGems, with
# bare Ruby, and if etcd is installed with etcdctl; the command of the gem with that of an empty gem, and the gem simpkv
# alone with all gems, which the command could look for; `simpkv status` with its slowest part. Then compares the first
# get of a Ruby program, with connection and bind, with the bare C program that makes one get. Takes about four minutes.
ROOT = File.expand_path('..', __dir__)
OUTSIDE = Contest::OUTSIDE
# The gems beside simpkv, by the name of the contestant.
GEMS = { 'simpkv alone' => [], 'all gems' => %w[simpkv-operations simpkv-estate simpkv-access simpkv-server] }.freeze
BARE = 'ruby --disable-gems -e 1'
RUBY = 'ruby -e 1'
ONE_GET = 'the bare C program, a get'
EMPTY_GEM = 'the command of an empty gem'
# The greatest number of milliseconds beyond bare Ruby, by the arguments of the command.
STARTS = { 'simpkv --version' => %w[--version], 'simpkv help' => %w[help],
           'completion of a command' => ['complete', '--line', 'simpkv ge'],
           'completion of an option' => ['complete', '--line', 'simpkv get --'] }.freeze
BEYOND = 15
PARTS = %w[servers nodes expiring_keys certificates].freeze
# Milliseconds of a round trip, beside which the start of Ruby is short.
FAR = 40
BLOCKS = SideBySide::QUICK ? 3 : 40

GET = <<~RUBY
  require 'simpkv'
  store = Simpkv::Store.open('ldap', JSON.parse(ARGV[0]))
  puts store.get(ARGV[1])
RUBY

EMPTY = <<~RUBY
  Gem::Specification.new('empty', '1') do |gem|
    gem.summary = gem.author = 'a command that does nothing'
    gem.executables = 'empty'
    gem.bindir = 'exe'
    gem.files = ['exe/empty']
  end
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
  found = GEMS.to_h do |title, names|
    place = File.join(folder, title)
    FileUtils.cp_r(built, place)
    names.each { |name| install(place, File.join(ROOT, 'gems', name), name, '--local', '--ignore-dependencies') }
    [title, command_in(place)]
  end
  found.merge('package' => package(folder, File.join(folder, 'all gems')), EMPTY_GEM => empty_gem(folder))
end

def command_in(folder, name = 'simpkv')
  [{ 'GEM_HOME' => folder, 'GEM_PATH' => folder }, *Contest::MRI, File.join(folder, 'bin', name)]
end

def empty_gem(folder)
  source = File.join(folder, 'source')
  FileUtils.mkdir_p(File.join(source, 'exe'))
  File.write(File.join(source, 'exe/empty'), "#!/usr/bin/env ruby\n", perm: 0o755)
  File.write(File.join(source, 'empty.gemspec'), EMPTY)
  place = File.join(folder, 'empty').tap { |created| Dir.mkdir(created) }
  install(place, source, 'empty')
  command_in(place, 'empty')
end

# The command of the packages, with the files of the gems where a package has them.
def package(folder, gems)
  root = File.join(folder, 'root')
  FileUtils.mkdir_p([File.join(root, 'usr/bin'), File.join(root, 'usr/lib/ruby/gems')])
  FileUtils.cp_r(%w[gems extensions specifications].map { |name| File.join(gems, name) },
                 File.join(root, 'usr/lib/ruby/gems'))
  text = run({}, *Contest::MRI, File.join(ROOT, 'packaging/start.rb'), RbConfig.ruby, root)
  program = File.join(root, 'usr/bin/simpkv')
  File.write(program, text, perm: 0o755)
  [{}, program]
end

# @return [String] the path of a configuration file of the command
def configuration(folder, name, backends)
  File.join(folder, "#{name}.yaml").tap { |file| File.write(file, { 'backends' => backends }.to_yaml) }
end

def configure(folder, contest)
  slapd = { 'type' => 'ldap' }.merge(contest.server.options('id' => 'x'))
  configuration(folder, 'simpkv', 'slapd' => slapd, 'files' => { 'type' => 'file', 'id' => 'x',
                                                                 'root_path' => File.join(folder, 'keys') })
end

# Runs contestants with outputs of their own, a process each time.
def compare(report, title, contestants)
  report.add(SideBySide.run(title, contestants, seconds: nil, blocks: BLOCKS, equal: ->(_answer) {}))
end

def ruby(*arguments)
  -> { run({}, *Contest::MRI, *arguments, '-e', '1') }
end

def starts(report, simpkv)
  commands = STARTS.transform_values { |arguments| -> { run(*simpkv, *arguments) } }
  commands.each { |title, command| raise "#{title} prints nothing" if command.call.empty? }
  rows = compare(report, 'a start', { BARE => ruby('--disable-gems'), RUBY => ruby }.merge(commands))
  bare = Report.row(rows, BARE).median
  STARTS.each_key do |title|
    beyond = (Report.row(rows, title).median - bare) * 1000
    report.at_most("ms of #{title} beyond #{BARE}", BEYOND, beyond)
  end
end

# @return [Proc] a get
def stored(simpkv, config, name)
  run(*simpkv, '-c', config, '-b', name, 'put', 'app1/key', 'value')
  -> { run(*simpkv, '-c', config, '-b', name, 'get', 'app1/key') }
end

# @param bare [Array] the program that makes one get, with its environment
def gets(report, simpkv, config, bare, etcdctl)
  gets = %w[files slapd].to_h do |name|
    ["simpkv get, #{name}", stored(simpkv, config, name)]
  end
  gets.each_value { |get| get.call == 'value' or raise 'simpkv get does not print the value' }
  contestants = { RUBY => ruby, ONE_GET => -> { run(*bare) } }.merge(gets, etcdctl)
  rows = compare(report, 'a get', contestants)
  report.at_most("time of simpkv get, files / #{RUBY}", 1.5, Report.ratio(rows, RUBY, 'simpkv get, files'))
  bound = (1.5 * Report.row(rows, RUBY).median) + Report.row(rows, ONE_GET).median
  report.at_most("time of simpkv get, slapd / 1.5 times #{RUBY}, and #{ONE_GET}", 1,
                 Report.row(rows, 'simpkv get, slapd').median / bound)
end

# What the command adds to RubyGems is what it takes without them.
def by_rubygems(report, installed, config)
  get = ['-c', config, '-b', 'files', 'get', 'app1/key']
  gem = 'simpkv get, the gem'
  package = 'simpkv get, the package'
  rows = compare(report, 'a get by RubyGems',
                 BARE => ruby('--disable-gems'), EMPTY_GEM => -> { run(*installed[EMPTY_GEM]) },
                 package => -> { run(*installed['package'], *get) }, gem => -> { run(*installed['all gems'], *get) })
  bare, nothing, packaged, whole = [BARE, EMPTY_GEM, package, gem].map { |name| Report.row(rows, name).median }
  report.at_most("time of #{gem}, beyond #{EMPTY_GEM} / of #{package}, beyond #{BARE}", 1.25,
                 (whole - nothing) / (packaged - bare))
end

# @param installed [Hash{String => Array}] what runs the command, by what is installed
def gems(report, installed, config)
  { 'simpkv --version' => %w[--version], 'simpkv get' => ['-c', config, '-b', 'files', 'get', 'app1/key'] }
    .each do |title, arguments|
    contestants = installed.slice(*GEMS.keys).transform_values { |simpkv| -> { run(*simpkv, *arguments) } }
    raise "#{title} prints nothing" if contestants.values.last.call.empty?

    rows = report.add(SideBySide.run("#{title}, the gem", contestants, seconds: nil, blocks: BLOCKS))
    report.at_most("time of #{title}, all gems / simpkv alone", 1.1, Report.ratio(rows, *GEMS.keys))
  end
end

# All parts are read at once, far from the directory.
def status(report, simpkv, folder, contest)
  options = contest.server.options('type' => 'ldap', 'id' => 'far', 'tls_cacert' => contest.server.certificates.cacert)
  Distance.before(contest.server, FAR) do |uri|
    config = configuration(folder, 'far', 'default' => options.merge('ldap_uri' => uri))
    run(*simpkv, '-c', config, 'init')
    parts = [*PARTS, PARTS.join(',')].to_h do |names|
      ["--parts #{names}", -> { run(*simpkv, '-c', config, 'status', '--parts', names) }]
    end
    compare_parts(report, parts)
  end
end

def compare_parts(report, parts)
  parts.each { |title, part| raise "#{title}: #{part.call}" unless part.call.match?(/^(ok|warning|critical) at/) }
  rows = report.add(SideBySide.run("simpkv status, #{FAR} ms from slapd", parts, seconds: nil, blocks: BLOCKS / 3,
                                                                                 equal: ->(_answer) {}))
  *each, all = rows.map(&:median)
  report.at_most('time of simpkv status / of its slowest part', 1.5, all / each.max)
end

def first_get(report, contest, environment, bare, folder)
  options = JSON.generate(contest.server.options('id' => Contest::ID))
  json = [*Contest::MRI, '-rjson', '-e', '']
  simpkv = [*Contest::MRI, "-I#{ROOT}/lib", '-rjson', '-e', GET, options, "#{folder.path}/k0"]
  contestants = { 'ruby -rjson, then the bare C program' => -> { run({}, *json) + run(environment, *bare).lines.last },
                  'ruby with simpkv' => -> { run({}, *simpkv) } }
  rows = report.add(SideBySide.run('a process with one get, slapd', contestants, seconds: nil, blocks: BLOCKS))
  report.at_most('time of the first get / ruby -rjson and the bare C program', 1.3,
                 Report.ratio(rows, 'ruby -rjson, then the bare C program', 'ruby with simpkv'))
end

report = Report.new('Processes')
Dir.mktmpdir('command') do |folder|
  Contest.at(Contest::OpenLDAP) do |contest|
    installed = install_all(folder)
    small = contest.folder('small')
    environment = contest.environment(small, 'own')
    bare = [*Contest::COMMANDS['bare C loop'], 'get']
    config = configure(folder, contest)
    starts(report, installed.fetch('package'))
    EtcdCommand.run { |etcdctl| gets(report, installed.fetch('package'), config, [environment, *bare], etcdctl) }
    by_rubygems(report, installed, config)
    gems(report, installed, config)
    status(report, installed.fetch('package'), folder, contest)
    first_get(report, contest, environment, bare, small)
    report.print('command', contest.versions.merge(EtcdCommand.versions))
  end
end
