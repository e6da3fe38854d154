# frozen_string_literal: true

require 'json'

# An open response of events.
class EventStream
  SECONDS = 60
  END_OF_STREAM = ''
  private_constant :SECONDS, :END_OF_STREAM

  attr_reader :head

  # @param client [ServiceClient]
  # @param target [String]
  # @param headers [Hash{String => String}]
  def initialize(client, target, headers = {})
    @socket = client.open
    lines = { 'Host' => 'localhost' }.merge(headers).map { |line| "#{line.join(': ')}\r\n" }
    @socket.write("GET #{target} HTTP/1.1\r\n#{lines.join}\r\n")
    @text = +''
    @ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
    @head = part("\r\n\r\n")
  end

  # @return [Hash{String => String}, nil] the members of the next event; nil at the end
  def read
    @ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
    text = part("\n\n") while text.nil? || text.start_with?(':') # Comments show that the connection is there.
    text.lines(chomp: true).to_h { |line| line.split(': ', 2) } unless text == END_OF_STREAM
  end

  # @return [Array(String, String)] the kind of the next event, and its key or its reason
  def next
    event = read or return
    data = JSON.parse(event['data'])
    [event['event'], data['key'] || data['detail'] || data['deletions']]
  end

  # Reads until the response ends.
  #
  # @return [Array<Array>] the events
  def rest
    Enumerator.produce { self.next || raise(StopIteration) }.to_a
  end

  def close
    @socket.close
  end

  private

  # @return [String] what comes before the next end of a part
  def part(ending)
    until @text.include?(ending)
      left = @ends - Process.clock_gettime(Process::CLOCK_MONOTONIC)
      ready = @socket.respond_to?(:pending) && @socket.pending.positive?
      raise 'there is no event' unless ready || (left.positive? && @socket.to_io.wait_readable(left))

      @text << @socket.readpartial(65_536)
    end
    first, @text = @text.split(ending, 2)
    first
  rescue EOFError, Errno::ECONNRESET
    END_OF_STREAM
  end
end
