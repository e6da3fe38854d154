# frozen_string_literal: true

require 'digest'
require_relative 'turns'

# Measures the operations of a client one by one.
class EstateTurns < Turns
  # @param client [Object] with the operation, which gets the argument and the number of the round; `before` and
  #   `after` are not measured; `titles` tells the result of a search
  def initialize(client, operation, argument)
    super()
    @client = client
    @operation = operation
    @argument = argument
    @round = 0
  end

  private

  def result
    turn(1)
    return 'done' unless @operation == 'search'

    titles = @client.titles(@found)
    "#{titles.length} resources, #{Digest::SHA256.hexdigest(titles.sort.join("\n"))}"
  end

  def turn(count)
    Array.new(count) { operation }.transpose.map(&:sum)
  end

  def operation
    @round += 1
    @found = nil
    @client.before(@round) if @client.respond_to?(:before)
    took = measured { @found = @client.public_send(@operation, @argument, @round) }
    @client.after if @client.respond_to?(:after)
    took
  end
end
