# frozen_string_literal: true

require 'simpkv/estate'
require 'simpkv/query/schema'

module Simpkv
  # Questions about the estate in the query languages of PuppetDB, answered from an index in SQLite.
  module Query
    # A query is wrong, or asks for something that does not exist. `place` is the number of characters before the
    # mistake in a text of PQL; nil for other queries.
    class InvalidError < Simpkv::InvalidError
      # @return [Integer, nil]
      attr_reader :place

      # @param message [String]
      # @param place [Integer, nil]
      def initialize(message, place = nil)
        super(message)
        @place = place
      end
    end

    # The index is not complete yet, or older than an answer may be. The message says why.
    class StaleError < TransientError; end

    # The database of the index is damaged.
    class DamagedError < UnavailableError
      def initialize(message = 'the index of queries was damaged, and is made anew: try again')
        super
      end
    end

    # The answer takes more time or has more rows than a query may.
    class LimitError < Simpkv::Error; end
  end
end
