# frozen_string_literal: true

# Prints, on JRuby, how many functions of the core a get calls, and how many bytes it allocates in Java's heap, as JSON.
# Both are the same on a busy machine. Ruby 2.6.
$LOAD_PATH.unshift(*Dir[File.expand_path('../../{lib,gems/*/lib}', __dir__)])
require 'java'
require 'json'
require 'simpkv'
require 'tmpdir'

ROUNDS = 10
TIMES = 2000
MANAGEMENT = java.lang.management.ManagementFactory.getThreadMXBean

# @return [Integer] the bytes that the block allocates: the least of many rounds, in which JRuby compiles it
def allocated(&block)
  Array.new(ROUNDS) { (allocated_by(TIMES, &block) - allocated_by(TIMES) { nil }) / TIMES }.min
end

def allocated_by(times)
  before = allocated_so_far
  number = 0
  while number < times
    yield
    number += 1
  end
  allocated_so_far - before
end

def allocated_so_far
  MANAGEMENT.getThreadAllocatedBytes(java.lang.Thread.currentThread.getId)
end

# @return [Integer] the calls across FFI that the block makes
def calls
  count = 0
  library = Simpkv::Native::Library
  library::HEADER.functions.each_key.grep_v(/skv_cancel/).each do |name|
    function = library.method(name)
    library.define_singleton_method(name) do |*arguments|
      count += 1
      function.call(*arguments)
    end
  end
  yield
  count
end

document = Simpkv::Codec.encode({ 'password' => 'Xu8#kq!0' }, 'owner' => 'ops')
Dir.mktmpdir do |folder|
  store = Simpkv::Store.open('file', 'root_path' => folder)
  store.put('globals/k', document)
  get = -> { store.get_decoded('globals', 'k', false) }
  puts JSON.generate('bytes' => allocated(&get), 'calls' => calls(&get))
end
