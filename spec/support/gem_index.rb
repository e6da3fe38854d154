# frozen_string_literal: true

require 'digest/sha2'
require 'rubygems/package'
require 'socket'
require 'zlib'

# A registry with some gems, for `gem install NAME`: the compact index, which RubyGems asks for first.
class GemIndex
  # @param files [Array<String>] of the gems
  # @yieldparam uri [String] for `sources`
  # @return [Object] what the block returns
  def self.serve(*files)
    index = new(files)
    thread = Thread.new { index.run }
    yield index.uri
  ensure
    thread&.kill
    index&.close
  end

  def initialize(files)
    @files = files.map { |file| answers(Gem::Package.new(file).spec, File.binread(file)) }.reduce({ '/' => '' }, :merge)
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

  # @return [Hash{String => String}] the answers about a gem, by path
  def answers(spec, gem)
    version = [spec.version, spec.platform].join('-').delete_suffix('-ruby')
    needs = spec.runtime_dependencies.map { |needed| "#{needed.name}:#{needed.requirement.as_list.join('&')}" }
    { "/info/#{spec.name}" => "---\n#{version} #{needs.join(',')}|checksum:#{Digest::SHA256.hexdigest(gem)}\n",
      "/gems/#{spec.file_name}" => gem,
      "/quick/Marshal.4.8/#{spec.full_name}.gemspec.rz" => Zlib::Deflate.deflate(Marshal.dump(spec)) }
  end

  def answer(client)
    method, path = client.gets.to_s.split
    loop { break if client.gets.to_s.strip.empty? }
    body = @files[path]
    status = body ? '200 OK' : '404 Not Found'
    client.write("HTTP/1.1 #{status}\r\nContent-Length: #{body.to_s.bytesize}\r\nConnection: close\r\n\r\n")
    client.write(body.to_s) unless method == 'HEAD'
  end
end
