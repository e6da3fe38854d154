# frozen_string_literal: true

# Prints as JSON, for some numbers of gets by the adapter from ARGV[0] to ARGV[1], how many bytes are resident after
# them. Told what to get like the other contestants.
require 'json'
require_relative 'layers'

few, many = ARGV.map { |word| Integer(word) }
collect = lambda do
  RUBY_ENGINE == 'jruby' ? 3.times { Java::JavaLang::System.gc } : GC.start
end
require 'java' if RUBY_ENGINE == 'jruby'

Layers.open('adapter', 1) do |(layer)|
  done = 0
  stops = [few, *(1..10).map { |tenth| many / 10 * tenth }].uniq
  puts JSON.generate(stops.map do |stop|
    layer.get("k#{done % 100}") while (done += 1) < stop
    collect.call
    [stop, File.read('/proc/self/status')[/^VmRSS:\s+(\d+) kB/, 1].to_i * 1024]
  end)
end
