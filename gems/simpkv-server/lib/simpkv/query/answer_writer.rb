# frozen_string_literal: true

require 'json'
require 'simpkv/query'

module Simpkv
  module Query
    # Writes the rows of an answer to a file, as a list in JSON.
    class AnswerWriter
      # Bytes that are written at once, and those of an answer.
      CHUNK = 256 * 1024
      BYTES_MAX = 1024 * 1024 * 1024
      private_constant :CHUNK, :BYTES_MAX

      # @param bytes [Integer] of an answer
      # @return [void]
      # @raise [LimitError] they are too many
      def self.limit(bytes)
        raise LimitError, "the answer has more than #{BYTES_MAX} bytes" if bytes > BYTES_MAX
      end

      # @return [Integer] the number of rows
      attr_reader :rows

      # @param file [IO]
      # @param limit [Integer] the number of rows that an answer may have
      # @param one [Boolean] whether the answer is the first row itself, not a list
      # @param pretty [Boolean] whether people read it
      def initialize(file, limit:, one: false, pretty: false)
        @file = file
        @limit = limit
        @one = one
        @pretty = pretty
        @rows = 0
        @bytes = 0
        @buffer = one ? +'' : +'['
      end

      # @param row [String] JSON
      # @return [void]
      # @raise [LimitError]
      def add(row)
        return if @one && @rows.positive?

        raise LimitError, "the answer has more than #{@limit} rows, the limit of 'query_rows'" if @rows == @limit

        @buffer << ',' if @rows.positive?
        @buffer << (@pretty ? pretty(row) : row)
        @rows += 1
        flush if @buffer.bytesize > CHUNK
      end

      # @return [Integer] the number of bytes
      def finish
        @buffer << ']' unless @one
        flush
        @bytes
      end

      private

      def pretty(row)
        JSON.pretty_generate(JSON.parse(row))
      end

      def flush
        @bytes += @buffer.bytesize
        self.class.limit(@bytes)
        @file.write(@buffer)
        @buffer.clear
      end
    end
  end
end
