# frozen_string_literal: true

require 'digest'

# Does operations and measures them one by one.
class EstateTurns
  # @param client [Object] with the operation, which gets the argument and the number of the round; `before` and
  #   `after` are not measured; `titles` tells the result of a search
  def initialize(client, operation, argument)
    @client = client
    @operation = operation
    @argument = argument
    @round = 0
  end

  def run(input, output)
    output.puts('ready', result)
    output.flush
    while (line = input.gets)
      output.puts(turn(Integer(line)).join(' '))
      output.flush
    end
  end

  private

  def result
    turn(1)
    return 'done' unless @operation == 'search'

    titles = @client.titles(@found)
    "#{titles.length} resources, #{Digest::SHA256.hexdigest(titles.sort.join("\n"))}"
  end

  # @return [Array(Integer, Integer)] nanoseconds of time and of processor time
  def turn(count)
    Array.new(count) { measured }.transpose.map(&:sum)
  end

  def measured
    @round += 1
    @found = nil
    @client.before(@round) if @client.respond_to?(:before)
    began = now
    @found = @client.public_send(@operation, @argument, @round)
    now.zip(began).map { |after, before| after - before }.tap { @client.after if @client.respond_to?(:after) }
  end

  def now
    [Process::CLOCK_MONOTONIC, Process::CLOCK_PROCESS_CPUTIME_ID].map { |clock| Process.clock_gettime(clock, :nanosecond) }
  end
end
