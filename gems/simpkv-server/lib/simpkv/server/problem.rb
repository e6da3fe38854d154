# frozen_string_literal: true

module Simpkv
  module Server
    # An answer that says what is wrong, as RFC 9457 has it. The member `error_message` is for clients of the API that
    # the inspection rules come from: a JSON text with `faultstring`.
    class Problem < StandardError
      TYPE = 'application/problem+json'

      # The forms that clients of PuppetDB expect, by the beginning of the path: a text, or an object in JSON.
      FORMS = { '/pdb/cmd/' => :error, '/pdb/' => :text, '/status/' => :error }.freeze

      TITLES = {
        400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden', 404 => 'Not Found',
        405 => 'Method Not Allowed', 406 => 'Not Acceptable', 408 => 'Request Timeout', 409 => 'Conflict',
        412 => 'Precondition Failed', 413 => 'Content Too Large', 414 => 'URI Too Long',
        415 => 'Unsupported Media Type',
        421 => 'Misdirected Request', 429 => 'Too Many Requests', 431 => 'Request Header Fields Too Large',
        500 => 'Internal Server Error', 501 => 'Not Implemented', 503 => 'Service Unavailable',
        507 => 'Insufficient Storage'
      }.freeze

      # The status for each error of the library.
      STATUSES = {
        NotFoundError => 404, IsFolderError => 409, IsKeyError => 409, ConditionError => 409, InvalidError => 400,
        UnencodableError => 400, TooLargeError => 413, DeniedError => 403, FullError => 507, TransientError => 503,
        AuditError => 503, Query::LimitError => 400
      }.freeze

      # Seconds after which a client may ask a store again that could not be reached.
      RETRY_AFTER = '5'
      # What a client learns of an unexpected error.
      INTERNAL = 'internal error: the log of the service has a line about it, with the id of this request'
      private_constant :FORMS, :TITLES, :STATUSES, :INTERNAL

      # @return [Integer] the status of HTTP
      attr_reader :status
      # @return [String, nil] see {Error#key}
      attr_reader :key

      # @param error [Exception]
      # @return [Problem] the problem for it. It shows nothing of an unexpected error, whose message may have a value
      def self.of(error)
        case error
        when Problem then error
        when Error
          _, status = STATUSES.find { |type, _| error.is_a?(type) }
          new(status || 500, error.message, key: error.key)
        when MissingStoreError then new(503, error.message)
        when ConfigError then new(500, error.message)
        else new(500, INTERNAL)
        end
      end

      # @param error [ArgumentError, Rack::QueryParser::QueryLimitError] of the reader of parameters
      # @param what [String] that has them
      # @return [Problem]
      def self.malformed_parameters(error, what)
        why = "each '%' needs two hexadecimal digits after it"
        why = 'it has too many parameters' unless error.is_a?(ArgumentError)
        new(400, "malformed #{what}: #{why}")
      end

      # @param status [Integer]
      # @param detail [String] what is wrong, and what to do
      # @param headers [Hash{String => String}]
      # @param key [String, nil] see {Error#key}
      def initialize(status, detail, headers: {}, key: nil)
        super(detail)
        @status = status
        @headers = headers
        @key = key
      end

      # @return [String] of HTTP
      def title
        TITLES.fetch(status, 'Error')
      end

      # @param id [String] of the request
      # @param path [String] of the request
      # @param type [String] of the body, unless the path has a form of its own: see {Api::Version.error_type}
      # @return [Array] the response of Rack
      def response(id, path = '/', type = TYPE)
        case FORMS.find { |beginning, _| path.start_with?(beginning) }&.last
        when :text then [status, headers.merge('content-type' => 'text/plain;charset=utf-8'), [message]]
        when :error
          [status, headers.merge('content-type' => 'application/json'), [Native.generate('error' => message)]]
        else [status, { **headers, 'content-type' => type }, [Native.generate(body(id))]]
        end
      end

      # @return [Hash{String => String}] of the response
      def headers
        more = status == 503 ? { 'retry-after' => RETRY_AFTER } : {}
        { 'content-type' => TYPE, **more, **@headers }
      end

      # @param id [String] of the request
      # @return [Hash{String => Object}] the members of RFC 9457, and those for other clients
      def body(id)
        { 'type' => 'about:blank', 'title' => title, 'status' => status,
          'detail' => message, 'instance' => "urn:request:#{id}", 'error_message' => Native.generate(fault),
          'key' => key }.compact
      end

      private

      def fault
        { 'faultcode' => status < 500 ? 'Client' : 'Server', 'faultstring' => message, 'debuginfo' => nil }
      end
    end
  end
end
