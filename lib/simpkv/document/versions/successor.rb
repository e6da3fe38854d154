# frozen_string_literal: true

module Simpkv
  module Versions
    # Makes documents to store in place of others: see {Versions.successor}.
    class Successor
      # More than 9,999 years, in seconds. A longer time would overflow on JRuby, without an error.
      LONGEST = 10_000 * 366 * 86_400
      private_constant :LONGEST

      def initialize(history, expires_after, expires)
        @history = history
        @expires_after = expires_after
        @expires = expires
      end

      # @return [String, nil] nil if the stored document stays
      def of(document, stored)
        fresh = Codec.members(document).slice(*MEMBERS)
        kept, stored_at = kept(fresh, stored && readable(stored))
        return unless kept
        return document if kept.empty? && [@history, @expires_after, @expires].all?(&:nil?)

        written(fresh, stored_at, texts(kept))
      end

      # @return [String, nil] nil if the stored document stays
      # @raise [TooLargeError] the new history cannot hold a value of the old one
      def with_version(number, stored)
        old = Codec.members(stored)
        versions = [old, *Versions.history_of(old)]
        fresh = versions.delete_at(-number).slice(*MEMBERS)
        kept, stored_at = kept(fresh, old.merge('history' => versions.drop(1)))
        kept && written(fresh, stored_at, all_texts(kept))
      end

      private

      # @return [Hash, nil] the members of the stored document; nil if it cannot be read
      def readable(stored)
        members = Codec.members(stored)
        Versions.history_of(members)
        members
      rescue MalformedError
        nil
      end

      # @return [Array(Array<Hash>, String), nil] the history of the new document, and its `stored_at`; nil if the
      #   stored one stays
      def kept(fresh, old)
        now = Versions.text(Versions.now)
        return [replaced(old), now] unless old && same?(old, fresh)

        history = Versions.history_of(old)
        kept = history.first(@history || HISTORY_MAX)
        [kept, old['stored_at'] || now] if renew?(old['expires']) || kept.length < history.length
      end

      # A stored value may be one that no put could store, such as 1e999.
      def same?(old, fresh)
        Native.document_same?(*[old.slice(*MEMBERS), fresh].map { |members| Native.generate(members) })
      rescue UnencodableError
        false
      end

      # @param stored [Object] `expires` of the stored document, whose value is equal to the new one
      # @return [Boolean] whether the time of the expiry changes
      def renew?(stored)
        return stored != expires if stored.nil? || @expires_after.nil?

        left = Versions.utc(stored) - Versions.now
        left < @expires_after / 2.0 || left > @expires_after
      rescue MalformedError
        true
      end

      # @return [String, nil] `expires` of the new document
      def expires
        return Versions.text(@expires.getutc) if @expires

        @expires_after && Versions.text(Versions.now + [@expires_after, LONGEST].min)
      end

      # @return [Array<Hash>] the history of a document that replaces this one
      def replaced(old)
        return [] unless old

        earlier = Versions.history_of(old)
        limit = @history || (expired?(old) ? [earlier.length, 1].max : 0)
        [old.slice(*MEMBERS, 'stored_at'), *earlier].first([limit, HISTORY_MAX].min)
      end

      def expired?(old)
        Versions.past?(old['expires'])
      rescue MalformedError
        true
      end

      # @return [Array<String>] the JSON of the newest values of a history, as many as fit
      def texts(history)
        bytes = 0
        history.map { |version| embedded_if_possible(version) }.take_while do |json|
          json && (bytes += json.bytesize) <= HISTORY_BYTES_MAX
        end
      end

      # @return [Array<String>] as {#texts}, of all values
      # @raise [TooLargeError]
      def all_texts(history)
        texts = texts(history)
        return texts if texts.length == history.length

        raise TooLargeError, 'the history would lose a value: it holds at most 256 KiB, and no value that nests ' \
                             'too deeply. Nothing was stored: a put of the value of that version would drop them'
      end

      # @return [String, nil] nil for a value that no history can hold, such as one that was stored without history, and
      #   is too deep
      def embedded_if_possible(version)
        embedded(version)
      rescue UnencodableError
        nil
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
      def written(fresh, stored_at, history)
        json = Native.generate(fresh)
        # A document with fewer brackets cannot be too deep for the history of its successor.
        embedded(fresh) if json.count('[{') > 90
        json = json.chomp('}')
        json << %(,"stored_at":#{Native.generate(stored_at)})
        json << %(,"expires":"#{expires}") if expires
        json << %(,"history":[#{history.join(',')}]) unless history.empty?
        json << '}'
      end
    end
    private_constant :Successor
  end
end
