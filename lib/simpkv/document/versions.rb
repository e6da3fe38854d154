# frozen_string_literal: true

module Simpkv
  # The expiry and the history of documents. All methods take and return documents, as JSON, and change nothing else. A
  # document may have these members after its value, encodings and metadata:
  #
  #     "stored_at":"2026-11-23T15:00:00Z","expires":"2027-02-21T15:00:00Z",
  #     "history":[{"value":V,"metadata":{...},"stored_at":"2026-08-25T15:00:00Z"},...]
  #
  # `stored_at` is the time at which the value was stored, and `history` has the values before it, newest first, with
  # their encodings. Times are UTC, in the form of RFC 3339.
  module Versions
    # The tolerance for clocks that differ: a key expires so many seconds after the time in its document.
    SKEW = 60

    # The maximum of values in a history, and of their bytes in the document.
    HISTORY_MAX = 100
    HISTORY_BYTES_MAX = 256 * 1024

    # The environment variable that replaces the clock, for tests and demonstrations.
    CLOCK = 'SIMPKV_NOW'

    # The members of a version: those of a document without times and history.
    MEMBERS = %w[value encoding original_encoding metadata].freeze

    # Times that exist, in the form that {successor} writes, except for 29 February. Two of them compare as text.
    USUAL_TIME = /\A\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)
                  T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ\z/x.freeze
    TIME = /\A(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):(\d\d):(\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)\z/i.freeze
    EXAMPLE = '2026-11-23T15:00:00Z'
    private_constant :USUAL_TIME, :TIME, :EXAMPLE

    class << self
      # @return [Time] the time of SIMPKV_NOW, if that is set, with a warning once a process; otherwise the clock's
      # @raise [ConfigError] SIMPKV_NOW is not a time
      def now
        text = ENV.fetch(CLOCK, nil)
        return Time.now.utc if text.nil?

        warn_of_clock
        time(text) || raise(ConfigError, "the environment variable #{CLOCK} must be a time such as #{EXAMPLE}")
      end

      # Returns true if a document has expired. Of most documents without `expires`, this reads no JSON.
      #
      # @param document [String]
      # @return [Boolean]
      # @raise [MalformedError] it is not a document, or its `expires` is not a time
      def expired?(document)
        return false unless ['"expires"', '\\u'].any? { |text| document.include?(text) }

        past?((Native.plain_document(document) || Codec.members(document)).values_at(:expires, 'expires').compact.first)
      end

      # @param expires [Object] this member of a document; nil if there is none
      # @return [Boolean] whether that time is past, with {SKEW}
      # @raise [MalformedError] it is not a time
      def past?(expires)
        return false if expires.nil?
        return expires <= limit if expires.is_a?(String) && USUAL_TIME.match?(expires)

        utc(expires) + SKEW <= now
      end

      # @param document [String]
      # @return [Time, nil] when it expires, without {SKEW}; nil if it does not
      # @raise [MalformedError] as {expired?}
      def expires(document)
        expires = Codec.members(document)['expires']
        expires && utc(expires)
      end

      # @param document [String]
      # @return [Integer] the number of values in its history
      # @raise [MalformedError]
      def count(document)
        history_of(Codec.members(document)).length
      end

      # @param document [String]
      # @return [Array<Hash{String => Object}>] the versions, the newest first: `version`, which is 0, -1 and so on, and
      #   `stored_at` and `expires`, where the document has them. No values
      # @raise [MalformedError]
      def log(document)
        members = Codec.members(document)
        [members, *history_of(members)].each_with_index.map do |version, index|
          { 'version' => -index }.merge(version.slice('stored_at', *('expires' if index.zero?)).compact)
        end
      end

      # @param document [String]
      # @param number [Integer] 0 for the current value, -1 for the one before it, and so on
      # @return [String, nil] that version as a document without times and history; nil if there is none
      # @raise [MalformedError]
      def version(document, number)
        members = Codec.members(document)
        version = [members, *history_of(members)][-number] unless number.positive?
        version && Native.generate(version.slice(*MEMBERS))
      end

      # Reads the document once, where {version} would do so for each version.
      #
      # @param document [String]
      # @return [Array<String>] the versions, the newest first, as documents without times and history
      # @raise [MalformedError]
      def all(document)
        members = Codec.members(document)
        [members, *history_of(members)].map { |version| Native.generate(version.slice(*MEMBERS)) }
      end

      # Makes the document to store in place of another one.
      #
      # The replaced value goes into the history, unless the new value is equal to it. For an equal value, the time of
      # the expiry changes only if less than half of it is left, or more than all of it, and the history gets shorter if
      # it has more values than `history`.
      #
      # @param document [String] the new value with its metadata
      # @param stored [String, nil] the stored document; nil if there is none. Of one that cannot be read, nothing is
      #   kept
      # @param history [Integer, nil] how many replaced values to keep; nil: only of an expired document, one or as many
      #   as it has
      # @param expires_after [Numeric, nil] in seconds; nil: the document does not expire, unless `expires` says when
      # @param expires [Time, nil] the time itself, in place of `expires_after`
      # @return [String, nil] nil if the stored document stays
      # @raise [InvalidError] the time of the expiry would be after the year 9999
      # @raise [UnencodableError] the new value nests too deeply for a history
      # @raise [MalformedError] `document` cannot be read
      def successor(document, stored, history: nil, expires_after: nil, expires: nil)
        Successor.new(history, expires_after, expires).of(document, stored)
      end

      # Makes the document in which an earlier version is the current one. The current value takes its place in the
      # history, as the newest one, so that every value stays.
      #
      # @param stored [String] the stored document
      # @param number [Integer] the version, which is there: -1 is the one before the current one
      # @param expires_after [Numeric, nil] as for {successor}
      # @param expires [Time, nil] as for {successor}
      # @return [String, nil] nil if the stored document stays, because its value is that of the version
      # @raise [TooLargeError] the history cannot hold all values
      # @raise [InvalidError, MalformedError] as {successor}
      def restored(stored, number, expires_after: nil, expires: nil)
        Successor.new(HISTORY_MAX, expires_after, expires).with_version(number, stored)
      end

      # The methods below are for {Successor}, too.

      # @param members [Hash{String => Object}] of a document
      # @return [Array<Hash{String => Object}>] the values in its history, with their members
      # @raise [MalformedError]
      def history_of(members)
        history = members['history']
        return [] if history.nil?
        return history if history.is_a?(Array) && history.all? { |each| each.is_a?(Hash) && each.key?('value') }

        raise MalformedError, "Failed to deserialize: 'history' is not a list of values"
      end

      # @param expires [Object] this member of a document
      # @return [Time]
      # @raise [MalformedError] it is not a time
      def utc(expires)
        time(expires) || raise(MalformedError, "Failed to deserialize: 'expires' is not a time such as #{EXAMPLE}")
      end

      # @param time [Time] in UTC
      # @return [String] as a member of a document
      # @raise [InvalidError] it is after the year 9999
      def text(time)
        raise InvalidError, "'expires_after' is too long: the key would expire after the year 9999" if time.year > 9999

        time.strftime('%Y-%m-%dT%H:%M:%SZ')
      end

      private

      # A variable that is left over from a test would let keys expire, or not expire.
      def warn_of_clock
        return if @warned

        @warned = true
        warn "simpkv: the environment variable #{CLOCK} replaces the clock of this process: unset it, except for a test"
      end

      # @return [Time, nil] nil if this is not a time of RFC 3339
      def time(text)
        *numbers, zone = text.match(TIME)&.captures if text.is_a?(String)
        zone && time_of(numbers.map(&:to_i), zone)
      rescue ArgumentError
        nil
      end

      # @return [Time, nil] nil for a day that its month does not have
      def time_of(numbers, zone)
        time = Time.new(*numbers, zone.casecmp?('Z') ? '+00:00' : zone)
        time.getutc if time.day == numbers[2] || numbers.last == 60
      end

      # @return [String] the latest `expires` of a document that has expired
      def limit
        return text(now - SKEW) if ENV.key?(CLOCK)

        second = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        limit = @limit
        limit = @limit = [second, text(Time.at(second - SKEW).utc)].freeze unless limit && limit.first == second
        limit.last
      end
    end
  end
end

require 'simpkv/document/versions/successor'
