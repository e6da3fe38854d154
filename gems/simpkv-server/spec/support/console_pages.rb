# frozen_string_literal: true

require 'cgi'
require 'uri'

# A browser without scripts, for specs of the console: beside `service`, a service that listens on a loopback port.
#
#   include ConsolePages
#   text(page('/nodes'))
module ConsolePages
  # @return [ServiceClient] a connection for each request
  def browser
    service.client('tcp')
  end

  # @param path [String] and query
  # @param headers [Hash{String => String}]
  # @return [ServiceClient::Response]
  def page(path, headers = {})
    exchange("GET #{path}", { 'Accept' => 'text/html' }.merge(headers))
  end

  # Sends a form as a page of another site could: without a token, unless the fields have it.
  #
  # @param path [String] and query
  # @param fields [Hash{String => String}]
  # @return [ServiceClient::Response]
  def send_form(path, fields, headers = {})
    body = URI.encode_www_form(fields)
    form = { 'Content-Type' => 'application/x-www-form-urlencoded', 'Content-Length' => body.bytesize }
    exchange("POST #{path}", form.merge(headers), body)
  end

  # Sends a form of a page, with its token.
  #
  # @param from [String] the page
  # @param path [String] where the form goes
  # @return [ServiceClient::Response]
  def submit(from, path, fields = {})
    token = page(from).body[/name="_token" value="(\h+)"/, 1]
    raise "#{from} has no form" unless token

    send_form(path, fields.merge('_token' => token))
  end

  # @param response [ServiceClient::Response]
  # @return [String] what a person reads in the main part of the page, in one line
  def text(response)
    main = response.body.force_encoding(Encoding::UTF_8)[%r{<main.*</main>}m] || raise('the page has no main part')
    CGI.unescapeHTML(main.gsub('<wbr>', '').gsub(/<[^>]*>/, ' ')).gsub(/\s+/, ' ').strip
  end

  # @param response [ServiceClient::Response]
  # @return [Array<String>] the addresses of all links
  def links(response)
    response.body.scan(/<a [^>]*href="([^"]*)"/).flatten.map { |address| CGI.unescapeHTML(address) }
  end

  private

  # The client checks answers of the API only.
  def exchange(line, headers, body = '')
    lines = { 'Host' => 'localhost', 'Connection' => 'close' }.merge(headers).map { |pair| pair.join(': ') }
    browser.exchange("#{line} HTTP/1.1\r\n#{lines.join("\r\n")}\r\n\r\n#{body}")
  end
end
