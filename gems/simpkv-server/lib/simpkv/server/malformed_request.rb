# frozen_string_literal: true

require 'puma'
require 'simpkv/server/error_log'

module Simpkv
  module Server
    # What is wrong with a request that Puma cannot read, and what it must be. Puma's message tells it by its first
    # words; the rest of it can have bytes of the request, and is not shown.
    module MalformedRequest
      LINE = 'its first line must be METHOD PATH HTTP/1.1, with one space between'
      ADDRESS = "#{LINE}. PATH begins with '/', and spaces, control characters and any of \" < > # in it need " \
                'escapes such as %20'
      CHUNK = 'a chunk of its body must be its size in hexadecimal digits, CRLF, so many bytes, and CRLF. A chunk of ' \
              'size 0 and an empty line end the body'
      # Puma's first words, with which the message begins.
      WORDS = {
        /Bad method/ => 'its method must be capital letters, at most 20',
        /Bad (?:path|query|protocol)/ => ADDRESS,
        /Bad headers/ => "each header must be 'Name: value' and CRLF, without a space before the colon and without " \
                         'control characters. An empty line ends the headers',
        /Invalid HTTP format|Requested start/ => "#{LINE}. A client of TLS needs an address of the service that " \
                                                 'begins with ssl://',
        /Invalid Transfer-Encoding/ => 'Transfer-Encoding must be chunked, once, and nothing else',
        /Invalid Content-Length/ => 'Content-Length must be one whole number, the bytes of the body',
        /chunk/i => CHUNK
      }.transform_keys { |words| /\A[^\n:]{0,60}?#{words}/ }.freeze
      # By the method of Puma in which another error has happened.
      METHODS = { 'decode_chunk' => CHUNK, 'normalize_env' => ADDRESS, 'parser_execute' => LINE }.freeze
      UNKNOWN = 'it must be HTTP/1.1, or HTTP/1.0'
      private_constant :LINE, :ADDRESS, :CHUNK, :WORDS, :METHODS, :UNKNOWN

      # @param error [Exception] of Puma
      # @return [String] without a byte of the request
      def self.detail(error)
        place = ErrorLog.malformed(error)
        _, text = WORDS.find { |words, _| error.message.b.match?(words) } unless place
        "malformed request: #{METHODS[place] || text || UNKNOWN}"
      end
    end
  end
end
