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

    # The members of a version: those of a document without options.
    MEMBERS = %w[value encoding original_encoding metadata].freeze

    # Times that exist, in the form that {successor} writes, except for 29 February. Two of them compare as text.
    USUAL_TIME = /\A\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)
                  T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ\z/x.freeze
    TIME = /\A(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):(\d\d):(\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)\z/i.freeze
    EXAMPLE = '2026-11-23T15:00:00Z'
    private_constant :MEMBERS, :USUAL_TIME, :TIME, :EXAMPLE

    class << self
      # @return [Time] the time of SIMPKV_NOW, if that is set; otherwise the clock's
      # @raise [ConfigError] SIMPKV_NOW is not a time
      def now
        text = ENV.fetch(CLOCK, nil)
        return Time.now.utc if text.nil?

        time(text) || raise(ConfigError, "the environment variable #{CLOCK} must be a time such as #{EXAMPLE}")
      end

      # Returns true if a document has expired. Of most documents without `expires`, this reads no JSON.
      #
      # @param document [String]
      # @return [Boolean]
      # @raise [MalformedError] it is not a document, or its `expires` is not a time
      def expired?(document)
        return false unless ['"expires"', '\\u'].any? { |text| document.include?(text) }

        past?(Codec.members(document)['expires'])
      end

      # @param expires [Object] this member of a document; nil if there is none
      # @return [Boolean] whether that time is past, with {SKEW}
      # @raise [MalformedError] it is not a time
      def past?(expires)
        return false if expires.nil?
        return expires <= limit if expires.is_a?(String) && USUAL_TIME.match?(expires)

        seconds(expires) + SKEW <= now.to_i
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

      # Makes the document to store in place of another one.
      #
      # The replaced value goes into the history. A value that is equal to the stored one does not: only the time of its
      # expiry changes, if less than half of the time is left, or more than all of it.
      #
      # @param document [String] the new value with its metadata
      # @param stored [String, nil] the stored document; nil if there is none. Of one that cannot be read, nothing is
      #   kept
      # @param history [Integer, nil] how many replaced values to keep; nil: only of an expired document, one or as many
      #   as it has
      # @param expires_after [Numeric, nil] in seconds; nil: the document does not expire
      # @return [String, nil] nil if the stored document stays
      # @raise [InvalidError] the time of the expiry would be after the year 9999
      # @raise [UnencodableError] a value nests too deeply for a history
      # @raise [MalformedError] `document` cannot be read
      def successor(document, stored, history: nil, expires_after: nil)
        fresh = Codec.members(document).slice(*MEMBERS)
        kept, stored_at = kept(fresh, stored && readable(stored), history, expires_after)
        return unless kept
        return document if kept.empty? && history.nil? && expires_after.nil?

        written(fresh, stored_at, expires_after, texts(kept))
      end

      private

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

      # @return [Integer] since 1970
      def seconds(member)
        parsed = time(member)
        return parsed.to_i if parsed

        raise MalformedError, "Failed to deserialize: 'expires' is not a time such as #{EXAMPLE}"
      end

      def text(time)
        raise InvalidError, "'expires_after' is too long: the key would expire after the year 9999" if time.year > 9999

        time.strftime('%Y-%m-%dT%H:%M:%SZ')
      end

      # @return [String] the latest `expires` of a document that has expired
      def limit
        return text(now - SKEW) if ENV.key?(CLOCK)

        second = Process.clock_gettime(Process::CLOCK_REALTIME, :second)
        limit = @limit
        limit = @limit = [second, text(Time.at(second - SKEW).utc)].freeze unless limit && limit.first == second
        limit.last
      end

      # @return [Hash, nil] nil for a document that cannot be read
      def readable(stored)
        members = Codec.members(stored)
        history_of(members)
        members
      rescue MalformedError
        nil
      end

      # @return [Array<Hash>]
      # @raise [MalformedError]
      def history_of(members)
        history = members['history']
        return [] if history.nil?
        return history if history.is_a?(Array) && history.all? { |each| each.is_a?(Hash) && each.key?('value') }

        raise MalformedError, "Failed to deserialize: 'history' is not a list of values"
      end

      def same?(old, fresh)
        Native.document_same?(*[old.slice(*MEMBERS), fresh].map { |members| Native.generate(members) })
      end

      # @return [Boolean] whether the time of the expiry changes, although the value does not
      def renew?(old, expires_after)
        expires = old['expires']
        return !expires.nil? if expires_after.nil?
        return true if expires.nil?

        left = seconds(expires) - now.to_i
        left < expires_after / 2.0 || left > expires_after
      rescue MalformedError
        true
      end

      # @return [Array(Array<Hash>, String), nil] the history of the new document, and its `stored_at`; nil if the
      #   stored one stays
      def kept(fresh, old, history, expires_after)
        return [replaced(old, history), text(now)] unless old && same?(old, fresh)

        [history_of(old), old['stored_at'] || text(now)] if renew?(old, expires_after)
      end

      # @return [Array<Hash>] the history of a document that replaces this one
      def replaced(old, history)
        return [] unless old

        earlier = history_of(old)
        history = expired_members?(old) ? [earlier.length, 1].max : 0 if history.nil?
        [old.slice(*MEMBERS, 'stored_at'), *earlier].first([history, HISTORY_MAX].min)
      end

      def expired_members?(old)
        past?(old['expires'])
      rescue MalformedError
        true
      end

      # @return [Array<String>] the JSON of the newest values of a history, as many as fit
      def texts(history)
        bytes = 0
        history.map { |version| embedded(version) }.take_while do |json|
          (bytes += json.bytesize) <= HISTORY_BYTES_MAX
        end
      end

      # @return [String] the JSON of a version inside the Array inside a document. The same number of Arrays around it
      #   lets the writer check its depth
      def embedded(version)
        json = Native.generate([[version]])
        json.byteslice(2, json.bytesize - 4)
      rescue UnencodableError
        raise UnencodableError, "a value nests too deeply for 'history' and 'expires_after': it may have 2 levels less",
              cause: nil
      end

      # @return [String] the document
      def written(fresh, stored_at, expires_after, history)
        json = Native.generate(fresh)
        # A document with fewer brackets cannot be too deep for the history of its successor.
        embedded(fresh) if json.count('[{') > 90
        json = json.chomp('}')
        json << %(,"stored_at":#{Native.generate(stored_at)})
        json << %(,"expires":"#{text(now + expires_after)}") if expires_after
        json << %(,"history":[#{history.join(',')}]) unless history.empty?
        json << '}'
      end
    end
  end
end
