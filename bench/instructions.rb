# frozen_string_literal: true

require 'open3'
$LOAD_PATH.unshift(File.expand_path('../lib', __dir__))
require_relative 'support/report'
require_relative 'support/versions'

# Counts the instructions of the paths without I/O, by valgrind. Unlike times, they do not change on a busy machine.
# With --check, fails if they exceed the committed counts by more than a margin.
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
  unknown = counts.keys - committed.keys
  abort "No count is committed for #{unknown.join(', ')}: run bin/bench --save instructions" if unknown.any?
  worse = counts.select { |name, count| count > committed[name] * MARGIN }
  abort "More instructions than committed: #{worse.keys.join(', ')}" if worse.any?
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
