# frozen_string_literal: true

require_relative 'support/contest'

# The first get of a fresh process: connecting and binding included. Beside it, a Ruby that only loads json, and the
# bare C program that makes one get.
LIB = File.expand_path('../lib', __dir__)

GET = <<~RUBY
  require 'simpkv'
  store = Simpkv::Store.open('ldap', JSON.parse(ARGV[0]))
  puts store.get(ARGV[1])
RUBY

def run(environment, *command)
  IO.popen([Contest::OUTSIDE.merge(environment), *command], in: File::NULL, &:read)
end

report = Report.new('The first call of a process')
Contest.at(Contest::OpenLDAP) do |contest|
  folder = contest.folder('small')
  told = contest.environment(folder, 'own')
  floor = [*Contest::COMMANDS['bare C loop'], 'get']
  options = JSON.generate(contest.server.options('id' => Contest::ID))
  ruby_json = [*Contest::MRI, '-rjson', '-e', '']
  ruby_simpkv = [*Contest::MRI, "-I#{LIB}", '-rjson', '-e', GET, options, "#{folder.path}/k0"]
  contestants = { 'ruby -rjson, then the bare C program' => -> { run({}, *ruby_json) + run(told, *floor).lines.last },
                  'ruby with simpkv' => -> { run({}, *ruby_simpkv) } }
  rows = report.add(SideBySide.run('process with one get, slapd', contestants, seconds: nil))
  report.at_most('time of the first get / ruby -rjson and the bare C program', 1.3,
                 Report.ratio(rows, 'ruby -rjson, then the bare C program', 'ruby with simpkv'))
  report.add(SideBySide.run('process, slapd', { 'bare C program' => -> { run(told, *floor) },
                                                'ruby -rjson' => -> { run({}, *ruby_json) },
                                                'ruby' => -> { run({}, *Contest::MRI, '-e', '') } },
                            seconds: nil, equal: ->(_answer) {}))
  report.print('startup', contest.versions)
end
