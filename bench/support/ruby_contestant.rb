# frozen_string_literal: true

# A contestant in Ruby, as a process (see other_process.rb). The arguments are the layer (see layers.rb) and the case.
#
#   ruby ruby_contestant.rb adapter get
#
# It has the same environment variables as the contestants in C (see contest.rb). JRuby runs it, too: Ruby 2.6.
require_relative 'layers'

# Does operations, which have numbers from 0 on, and measures them.
class Turns
  # The methods of each case: work is measured, before and after are not, told returns the result.
  CASES = {
    'get' => { work: :get, told: :kept }, 'exists' => { work: :exists, told: :found },
    'put_unchanged' => { work: :put_unchanged, told: :kept }, 'put_changed' => { work: :put_changed, told: :changed },
    'put_new' => { work: :put_new, after: :delete, told: :added },
    'delete' => { before: :put_new, work: :delete, told: :deleted }, 'list' => { work: :list, told: :listed }
  }.freeze

  def initialize(layers, name)
    @layers = layers
    @case = CASES.fetch(name)
    @done = 0
    @keys = Integer(ENV.fetch('BENCH_KEYS'))
    @own = ENV.fetch('BENCH_NAME')
  end

  def run(input, output)
    output.puts('ready')
    turn(1) { output.puts(send(@case[:told])) }
    output.flush
    while (line = input.gets)
      output.puts(turn(Integer(line)).join(' '))
      output.flush
    end
  end

  private

  # @return [Array(Integer, Integer)] nanoseconds of time and of processor time of the operations, on all threads at the
  #   same time
  def turn(count)
    each_layer(@case[:before], count) if @case[:before]
    began = now
    each_layer(@case[:work], count)
    took = now.zip(began).map { |after, before| after - before }
    yield if block_given?
    each_layer(@case[:after], count) if @case[:after]
    @done += count
    took
  end

  # The numbers of the threads do not overlap.
  def each_layer(work, count)
    return repeat(work, @layers.first, @done, count) if @layers.length == 1

    @layers.each_with_index.map do |layer, thread|
      Thread.new { repeat(work, layer, @done + (thread * 1_000_000_000), count) }
    end.each(&:join)
  end

  def repeat(work, layer, first, count)
    count.times { |number| send(work, layer, first + number) }
  end

  def now
    [Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond), processor_time]
  end

  if Process.const_defined?(:CLOCK_PROCESS_CPUTIME_ID)
    def processor_time
      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
    end
  else
    # JRuby's own clock of processor time ticks only a hundred times a second.
    require 'ffi'
    extend FFI::Library

    ffi_lib FFI::Library::LIBC
    attach_function :clock_gettime, %i[int pointer], :int
    PROCESS_CLOCK = 2 # Linux
    private_constant :PROCESS_CLOCK

    def processor_time
      FFI::MemoryPointer.new(:int64, 2) do |time|
        self.class.clock_gettime(PROCESS_CLOCK, time)
        seconds, nanoseconds = time.read_array_of_int64(2)
        return (seconds * 1_000_000_000) + nanoseconds
      end
    end
  end

  # ---- The work of each case ----

  def get(layer, number)
    @answer = layer.get("k#{number % @keys}")
  end

  def exists(layer, number)
    @answer = layer.exists("k#{number % @keys}")
  end

  def put_unchanged(layer, number)
    layer.put("k#{number % @keys}", 0)
  end

  def put_changed(layer, number)
    layer.put(@own, number % 2)
  end

  def put_new(layer, number)
    layer.put("#{@own}#{number}", 0)
  end

  def delete(layer, number)
    layer.delete("#{@own}#{number}")
  end

  def list(layer, _number)
    @answer = layer.list
  end

  # ---- Results ----

  def kept
    @layers.first.document('k0')
  end

  def changed
    @layers.first.document(@own)
  end

  def added
    @layers.first.document("#{@own}0")
  end

  def deleted
    @layers.first.exists("#{@own}0") ? 'exists' : 'missing'
  end

  def found
    @answer
  end

  def listed
    documents = @layers.first.documents(@answer)
    "#{documents.length} keys, #{documents.map(&:bytesize).inject(:+)} bytes"
  end
end

layer, name = ARGV
Layers.open(layer, Integer(ENV.fetch('BENCH_THREADS'))) { |layers| Turns.new(layers, name).run($stdin, $stdout) }
