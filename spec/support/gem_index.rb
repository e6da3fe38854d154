# frozen_string_literal: true

require 'digest/sha2'
require 'rubygems/package'
require 'socket'
require 'zlib'

# A registry with one gem, for `gem install NAME`: the compact index, which RubyGems asks for first.
class GemIndex
  # @param file [String] of the gem
  # @yieldparam uri [String] for `sources`
  # @return [Object] what the block returns
  def self.serve(file)
    index = new(file)
    thread = Thread.new { index.run }
    yield index.uri
  ensure
    thread&.kill
    index&.close
  end

  def initialize(file)
    spec = Gem::Package.new(file).spec
    gem = File.binread(file)
    info = "---\n#{spec.version}-#{spec.platform} |checksum:#{Digest::SHA256.hexdigest(gem)}\n"
    @files = { '/' => '', "/info/#{spec.name}" => info, "/gems/#{spec.file_name}" => gem,
               "/quick/Marshal.4.8/#{spec.full_name}.gemspec.rz" => Zlib::Deflate.deflate(Marshal.dump(spec)) }
    @server = TCPServer.new('127.0.0.1', 0)
  end

  def uri
    "http://127.0.0.1:#{@server.addr[1]}/"
  end

  def close
    @server.close
  end

  # Answers one request a connection, until the thread ends.
  def run
    loop do
      client = @server.accept
      answer(client)
    rescue SystemCallError
      next
    ensure
      client&.close
    end
  end

  private

  def answer(client)
    method, path = client.gets.to_s.split
    loop { break if client.gets.to_s.strip.empty? }
    body = @files[path]
    status = body ? '200 OK' : '404 Not Found'
    client.write("HTTP/1.1 #{status}\r\nContent-Length: #{body.to_s.bytesize}\r\nConnection: close\r\n\r\n")
    client.write(body.to_s) unless method == 'HEAD'
  end
end
