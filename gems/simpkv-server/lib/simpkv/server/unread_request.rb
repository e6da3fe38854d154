# frozen_string_literal: true

require 'simpkv/server/connection'
require 'simpkv/server/error_log'
require 'simpkv/server/malformed_request'
require 'simpkv/server/observation'
require 'simpkv/server/problem'

module Simpkv
  module Server
    # The problem of a request that Puma refuses before the service has it, or of an error outside of {Observation}. It
    # has no byte of the request, which the messages of Puma can have.
    module UnreadRequest
      # The beginning of a message of Puma.
      TOO_LONG = /\AHTTP element (\w+) is longer than/.freeze
      # What the message names, for a part of the address. The others are parts of the head.
      ADDRESS = %w[REQUEST_URI REQUEST_PATH QUERY_STRING FRAGMENT].freeze
      # The path in the first line of a request, and the header with the types that the client takes.
      PATH = /\A[^ ]+ +([^ ?\r\n]*)/n.freeze
      ACCEPT = /\AAccept:/in.freeze
      DETAILS = {
        408 => 'the request has not arrived in time', 413 => 'the request is too large',
        414 => 'the address is too long: its path may have 8 KiB, and its query 10 KiB. /pdb/query/v4 takes a long ' \
               'query as the body of a POST',
        431 => 'the headers of the request are too long',
        501 => 'the method of the request, or its transfer encoding, is not known'
      }.freeze
      private_constant :TOO_LONG, :ADDRESS, :PATH, :ACCEPT, :DETAILS

      # @param error [Exception]
      # @param status [Integer] that Puma would answer with
      # @param head [Door::Head, nil] of the request
      # @return [Problem]
      def self.problem(error, status, head = nil)
        status = status_of(error) || status
        status = 414 if status == 431 && head && cut?(first_line(head))
        return Problem.new(400, MalformedRequest.detail(error)) if status == 400
        return Problem.new(status, DETAILS[status]) if DETAILS.key?(status)

        Problem.new(500, "internal error: #{error.class.name}")
      end

      # Makes an environment of Rack for the page about the problem. Puma may refuse a request before it reads the
      # path and the headers.
      #
      # @param head [Door::Head] of the request
      # @param id [String] of the request
      # @return [Hash{String => Object}]
      def self.env(head, id)
        line, *headers = head.beginning.to_s.b.lines("\n").take_while { |text| !text.strip.empty? }
        { 'REQUEST_METHOD' => 'GET', 'SCRIPT_NAME' => '', 'QUERY_STRING' => '', Observation::ID => id,
          'PATH_INFO' => line.to_s[PATH, 1].to_s, 'HTTP_ACCEPT' => accepted(line, headers) }
      end

      # The address may be so long that no header came with its begin. A person may have sent it: a program reads the
      # status.
      def self.accepted(line, headers)
        cut?(line) ? 'text/html' : headers.grep(ACCEPT).first
      end
      private_class_method :accepted

      def self.first_line(head)
        head.beginning.to_s.b.lines("\n").first
      end
      private_class_method :first_line

      # @param line [String, nil]
      # @return [Boolean] whether a line is longer than the first bytes of its request
      def self.cut?(line)
        !line.nil? && !line.end_with?("\n")
      end
      private_class_method :cut?

      # @return [Integer, nil] nil if Puma knows better
      def self.status_of(error)
        return 413 if error.is_a?(Connection::TooLarge)
        return 400 if ErrorLog.malformed(error)

        part = error.message[TOO_LONG, 1] if error.is_a?(Puma::HttpParserError)
        (ADDRESS.include?(part) ? 414 : 431) if part
      end
      private_class_method :status_of
    end
  end
end
