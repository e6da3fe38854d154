# frozen_string_literal: true

require 'open3'
$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require_relative 'support/report'
require_relative 'support/versions'

# How many instructions the paths without I/O take, counted by valgrind: unlike times, they are the same on a machine
# that is busy. With --check, they must be what was committed, or less, up to a margin.
PROGRAM = File.join(__dir__, 'c', 'build', 'instructions')
COMMITTED = File.join(__dir__, 'results', 'instructions.md')
TIMES = 1000
MARGIN = 1.05

def counted(name, times)
  output, status = Open3.capture2e('valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', PROGRAM, name,
                                   times.to_s)
  status.success? ? Integer(output[/Collected : (\d+)/, 1]) : raise(output)
end

def instructions(name)
  (counted(name, TIMES) - counted(name, 0)) / TIMES
end

def check(counts)
  committed = File.read(COMMITTED).scan(/^\| (.+?) \| (\d+) \|$/).to_h.transform_values { |count| Integer(count) }
  counts.each do |name, count|
    puts format('%<name>-40s %<count>7d, committed %<before>7s',
                name: name, count: count, before: committed.fetch(name, 'none'))
  end
  strange = counts.keys - committed.keys
  abort "#{strange.join(', ')}: nothing was committed: bin/bench --save instructions" if strange.any?
  worse = counts.select { |name, count| count > committed[name] * MARGIN }
  abort "more instructions than were committed: #{worse.keys.join(', ')}" if worse.any?
end

counts = Open3.capture2(PROGRAM).first.lines(chomp: true).to_h { |name| [name, instructions(name)] }
if ARGV.include?('--check')
  check(counts)
else
  report = Report.new('Instructions')
  report.note('| path | instructions |', '|---|---:|', *counts.map { |name, count| "| #{name} | #{count} |" })
  versions = { 'simpkv' => Simpkv::VERSION }.merge(Versions.of('gcc', 'valgrind', 'libc6', 'libjansson4'))
  report.print('instructions', versions)
end
