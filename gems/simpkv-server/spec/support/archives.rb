# frozen_string_literal: true

require 'json'
require 'rubygems/package'
require 'stringio'
require 'zlib'

# Archives of PuppetDB.
module Archives
  module_function

  # @param archive [String] a tar.gz
  # @return [Hash{String => Object}] the files, in JSON, by their names
  def files(archive)
    Gem::Package::TarReader.new(StringIO.new(Zlib.gunzip(archive)))
                           .to_h { |entry| [entry.full_name, JSON.parse(entry.read)] }
  end

  # @param files [Hash{String => Object}] a String is written as it is
  # @return [String] a tar.gz
  def make(files)
    tar = StringIO.new(+''.b)
    Gem::Package::TarWriter.new(tar) do |writer|
      files.each do |name, data|
        text = data.is_a?(String) ? data : JSON.generate(data)
        writer.add_file_simple(name, 0o600, text.bytesize) { |io| io.write(text) }
      end
    end
    Zlib.gzip(tar.string)
  end

  # @return [Array(String, Hash)] a body of a request with an archive, and its headers
  def upload(archive)
    body = "--B\r\nContent-Disposition: form-data; name=\"archive\"; filename=\"a.tgz\"\r\n" \
           "Content-Type: application/octet-stream\r\n\r\n".b
    ["#{body}#{archive}\r\n--B--\r\n".b, { 'Content-Type' => 'multipart/form-data; boundary=B' }]
  end
end
