# frozen_string_literal: true

# A contestant in JSON, as a process (see other_process.rb): two versions of one gem cannot be in the same.
#
#   ruby codec_contestant.rb simpkv|json|oj encode|decode SIZE
$LOAD_PATH.unshift(File.expand_path('../../lib', __dir__))
library, direction, size = ARGV
require library
require 'json'
require_relative 'documents'

value, metadata = DOCUMENTS.fetch(size)
bytes = JSON.generate('value' => value, 'metadata' => metadata)
work = {
  'simpkv encode' => -> { Simpkv::Codec.encode(value, metadata) },
  'simpkv decode' => -> { Simpkv::Codec.decode(bytes) },
  'json encode' => -> { JSON.generate('value' => value, 'metadata' => metadata) },
  'json decode' => -> { JSON.parse(bytes) },
  'oj encode' => -> { Oj.dump({ 'value' => value, 'metadata' => metadata }, mode: :strict) },
  'oj decode' => -> { Oj.load(bytes, mode: :strict) }
}.fetch("#{library} #{direction}")

# A text for each answer that is the same for the same data.
answer = work.call
answer = [answer[:value] || answer['value'], answer[:metadata] || answer['metadata']].inspect if answer.is_a?(Hash)
puts 'ready', answer
$stdout.flush
while (line = $stdin.gets)
  count = Integer(line)
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  count.times { work.call }
  puts Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - began
  $stdout.flush
end
