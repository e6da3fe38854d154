# frozen_string_literal: true

# A contestant in Ruby, as a process (see other_process.rb). The arguments are the layer (see layers.rb) and the case.
#
#   ruby ruby_contestant.rb adapter get
#
# It has the same environment variables as the contestants in C (see contest.rb). JRuby runs it, too: Ruby 2.6.
require_relative 'layers'
require_relative 'turns'

# Measures operations, which have numbers from 0 on.
class LayerTurns < Turns
  # The methods of each case: work is measured, before and after are not, told returns the result.
  CASES = {
    'get' => { work: :get, told: :kept }, 'exists' => { work: :exists, told: :found },
    'put_unchanged' => { work: :put_unchanged, told: :kept }, 'put_changed' => { work: :put_changed, told: :changed },
    'put_new' => { work: :put_new, after: :delete, told: :added },
    'delete' => { before: :put_new, work: :delete, told: :deleted }, 'list' => { work: :list, told: :listed }
  }.freeze

  def initialize(layers, name)
    super()
    @layers = layers
    @case = CASES.fetch(name)
    @done = 0
    @keys = Integer(ENV.fetch('BENCH_KEYS'))
    @own = ENV.fetch('BENCH_NAME')
  end

  private

  def result
    told = nil
    turn(1) { told = send(@case[:told]) }
    told
  end

  # @return [Array(Integer, Integer)] nanoseconds of time and of processor time of the operations, on all threads at the
  #   same time
  def turn(count)
    each_layer(@case[:before], count) if @case[:before]
    took = measured { each_layer(@case[:work], count) }
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
Layers.open(layer, Integer(ENV.fetch('BENCH_THREADS'))) { |layers| LayerTurns.new(layers, name).run($stdin, $stdout) }
