# frozen_string_literal: true

require 'uri'

# Visits the pages of a service over TLS without a certificate, as a browser does.
class TlsVisitor
  # @param service [Service] with an address ssl://
  # @param cacert [String] the file of the authority of its certificate
  def initialize(service, cacert)
    @client = service.client('ssl', ca: cacert)
    @address = service.addresses.find { |each| each.start_with?('ssl') }.sub('ssl', 'https')
  end

  # @return [ServiceClient]
  attr_reader :client

  # @return [String] such as https://127.0.0.1:8141
  attr_reader :address

  # @param line [String] method and path
  # @return [String] the whole answer
  def ask(line, headers = {}, body = '')
    lines = { 'Host' => address.delete_prefix('https://'), 'Connection' => 'close', 'Accept' => 'text/html',
              'Origin' => address, 'Content-Length' => body.bytesize }.merge(headers).map { |pair| pair.join(': ') }
    client.connect do |socket|
      socket.write("#{line} HTTP/1.1\r\n#{lines.join("\r\n")}\r\n\r\n#{body}")
      socket.read
    end
  end

  # @return [Hash{String => String}] the header with the cookie of a new session
  def sign_in(name, password)
    token = ask('GET /session/sign-in')[/name="_token" value="(\h+)"/, 1]
    form = URI.encode_www_form('_token' => token, 'name' => name, 'password' => password)
    answer = ask('POST /session/sign-in', { 'Content-Type' => 'application/x-www-form-urlencoded' }, form)
    { 'Cookie' => answer[/^set-cookie: ([^;]+)/i, 1] }
  end
end
