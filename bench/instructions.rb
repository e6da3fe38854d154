# frozen_string_literal: true

require 'json'
require 'open3'
$LOAD_PATH.unshift(*Dir[File.expand_path('../{lib,gems/*/lib}', __dir__)])
require_relative 'support/callgrind'
require_relative 'support/report'
require_relative 'support/versions'

# Counts the instructions of the paths without I/O, and of a get on JRuby the calls of the core and the bytes that it
# allocates. With --check, fails if they exceed the committed counts by more than a margin.
PROGRAM = File.join(__dir__, 'c', 'build', 'instructions')
COMMITTED = File.join(__dir__, 'results', 'instructions.md')
BY_JRUBY = File.join(__dir__, 'support', 'calls_on_jruby.rb')
JRUBY = ENV.keys.grep(/\A(BUNDLE|GEM|RUBY)/).to_h { |name| [name, nil] } # it has gems of its own
TIMES = 1000
MARGIN = 1.05

# Documents as the extension for MRI writes and reads them, by the name of its C function.
HOST = { 'name' => 'node1.example.com', 'address' => '10.0.0.1', 'weight' => 17, 'ratio' => 9.898 }.freeze
SMALL = { 'value' => { 'password' => 'Xu8#kq!0' }, 'metadata' => { 'owner' => 'ops' } }.freeze
TIMES_OF_KEY = { 'stored_at' => '2026-11-23T15:00:00Z', 'expires' => '2027-02-21T15:00:00Z' }.freeze
DOCUMENTS = { 'a small document' => SMALL, 'a small document that expires' => SMALL.merge(TIMES_OF_KEY),
              'a document of 1 KB' => { 'value' => [HOST] * 11, 'metadata' => {} } }.freeze
RUBY = { 'write' => ['generate_document', 'Simpkv::Native.generate(document)'],
         'decode' => ['plain_document', 'Simpkv::Native.plain_document(json)'] }.freeze

# @yieldparam times [Integer] how often to run the path
# @yieldreturn [Integer] the instructions that this took
# @return [Integer] those of one run
def per_run
  (yield(TIMES) - yield(0)) / TIMES
end

def counts_of_core
  names = Open3.capture2(PROGRAM).first.lines(chomp: true)
  names.to_h { |name| [name, per_run { |times| Callgrind.count(PROGRAM, name, times.to_s) }] }
end

def count_in_ruby(function, call, document)
  script = "document = #{document}; json = Simpkv::Native.generate(document); #{TIMES}.times { #{call} }"
  Callgrind.count_in_ruby(function, script) / TIMES
end

def counts_of_extension
  DOCUMENTS.to_a.product(RUBY.to_a).to_h do |(size, document), (verb, (function, call))|
    ["#{verb} #{size} in Ruby", count_in_ruby(function, call, document)]
  end
end

# Java's second compiler leaves out allocations, depending on when it runs.
def counts_on_jruby
  command = [JRUBY, 'jruby', '-J-XX:TieredStopAtLevel=1', '-Xjit.background=false', BY_JRUBY]
  found = JSON.parse(Open3.capture2(*command).first)
  { 'get on JRuby, calls of the core' => found['calls'], 'get on JRuby, bytes allocated' => found['bytes'] }
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
  abort "More than committed: #{worse.keys.join(', ')}" if worse.any?
end

counts = counts_of_core.merge(counts_of_extension, counts_on_jruby)
if ARGV.include?('--check')
  check(counts)
else
  report = Report.new('Instructions')
  rows = counts.map { |name, count| "| #{name} | #{count} |" }
  report.note('| path | instructions, or what the path names |', '|---|---:|', *rows)
  versions = { 'simpkv' => Simpkv::VERSION }.merge(Versions.of('gcc', 'valgrind', 'libc6', 'libjansson4', 'libruby3.1',
                                                               'JRuby'))
  report.print('instructions', versions)
end
