# frozen_string_literal: true

require 'zlib'

module Simpkv
  class Estate
    # The details of reports ({WholeReport}), compressed: a document each, in a folder beside the summaries of the node,
    # so that nobody who lists these reads them. A token in both tells which belong together: a summary is written after
    # its details, and a new run replaces both.
    #
    # Those of few bytes are in the summary, so that a run without changes writes one document.
    class ReportDetails < Documents
      # The name of the folder below that of a node. The others are numbers.
      NAME = 'details'
      # The number of bytes that a document may unpack to.
      UNPACKED_MAX = 8 * 1024 * 1024
      # The number of bytes of JSON of details that are in a summary.
      INLINE_MAX = 1024
      # The member of a summary that has them.
      INLINE = 'logs'
      # What a token begins with if there is a document, and if there is none.
      APART = 'd'
      WITHIN = 's'
      # The number of bytes that are unpacked before their number is checked.
      STEP = 1024
      private_constant :INLINE_MAX, :APART, :WITHIN, :STEP

      # @param token [String] of a summary
      # @return [Boolean] whether its details are a document of their own
      def self.apart?(token)
        token.start_with?(APART)
      end

      # @param details [Hash, nil]
      # @return [Boolean] whether they are stored in a document of their own
      def self.document?(details)
        return false if details.nil? || details.empty?

        details.keys != [INLINE] || Native.generate(details).bytesize > INLINE_MAX
      end

      def initialize(estate)
        super(estate, 'reports')
      end

      # Stores details.
      #
      # @param key [Array<String>] the names of the key of the summary
      # @param details [Hash, nil]
      # @return [Hash{String => Object}] the members of the summary that belong to them
      # @raise [Error]
      def save(key, details)
        return {} if details.nil? || details.empty?

        token = SecureRandom.hex(8)
        return { 'details' => "#{WITHIN}#{token}", INLINE => details[INLINE] } unless ReportDetails.document?(details)

        token = "#{APART}#{token}"
        bytes = Zlib.deflate(Native.generate(details))
        put(*place_of(key), 'details' => token, 'zlib' => [bytes].pack('m0'))
        { 'details' => token }
      end

      # Deletes the details of a report that is there no more.
      #
      # @param key [Array<String>] of its summary
      # @param token [String] of these details. Others stay
      # @return [void]
      # @raise [Error]
      def remove(key, token)
        names = place_of(key)
        stored = stored(names)
        delete_expected(*names, stored.document) if stored && stored.value['details'] == token
      end

      # Reads the details of reports.
      #
      # @param tokens [Hash{Array<String> => String}] the tokens of summaries, by the names of their keys
      # @return [Hash{Array<String> => Hash}] details, by the same names; none for a report whose document has the token
      #   of another one: this has replaced it, or is about to, or its writer has died before it wrote the summary
      # @raise [MalformedError] a document is missing or malformed; names the key
      # @raise [Error]
      def of(tokens)
        apart, within = tokens.partition { |_, token| ReportDetails.apart?(token) }.map(&:to_h)
        found = apart_of(apart.keys)
        details = found.select { |key, value| value['details'] == apart[key] }
                       .to_h { |key, value| [key, unpacked(path(*place_of(key)), value)] }
        details.merge(in_summaries(within, apart.reject { |key, _| found.key?(key) }))
      end

      private

      def place_of(key)
        [*key[0..-2], NAME, key.last]
      end

      # @param keys [Array<Array<String>>] of summaries
      # @return [Hash{Array<String> => Hash}] the documents of details that there are, by these
      def apart_of(keys)
        found = documents(keys.map { |key| place_of(key) })
        keys.to_h { |key| [key, found[place_of(key)]] }.select { |_, value| value && value['details'].is_a?(String) }
      end

      # @return [Stored, nil] nil if there is none, or it cannot be read
      def stored(names)
        stored = readable(*names)
        stored if stored&.document && stored.value.is_a?(Hash)
      rescue MalformedError, DeniedError
        nil
      end

      # @return [Hash{Array<String> => Hash}]
      # @raise [Error] one cannot be read
      def documents(keys)
        read_many(keys).each_value { |value| raise value if value.is_a?(Error) }.select { |_, value| value.is_a?(Hash) }
      end

      # @param lacking [Hash] tokens of summaries without a document of details: these must have been replaced
      def in_summaries(within, lacking)
        summaries = documents(within.keys + lacking.keys)
        lost, = lacking.find { |key, token| summaries.dig(key, 'details') == token }
        raise MalformedError.unreadable(path(*place_of(lost)), 'it is missing') if lost

        within.select { |key, token| summaries.dig(key, 'details') == token }
              .to_h { |key, _| [key, checked(path(*key), summaries[key].slice(INLINE))] }
      end

      def unpacked(place, value)
        raise MalformedError, OTHER_FORM unless value['zlib'].is_a?(String)

        checked(place, Native.parse(inflated(value['zlib'].unpack1('m0'))))
      rescue Zlib::Error, ArgumentError, MalformedError
        raise MalformedError.unreadable(place, OTHER_FORM), cause: nil
      end

      # A few bytes may unpack to a thousand times as many.
      def inflated(bytes)
        inflater = Zlib::Inflate.new
        text = +''
        (0...bytes.bytesize).step(STEP) do |start|
          text << inflater.inflate(bytes.byteslice(start, STEP))
          raise MalformedError, 'it is too large' if text.bytesize > UNPACKED_MAX
        end
        text << inflater.finish
        text.force_encoding(Encoding::UTF_8)
      ensure
        inflater&.close
      end

      def checked(place, details)
        return details if details.is_a?(Hash) && hashes?(details['logs']) && hashes?(details['values']) &&
                          (details['statuses'] || {}).is_a?(Hash)

        raise MalformedError.unreadable(place, OTHER_FORM)
      end

      def hashes?(list)
        list.nil? || (list.is_a?(Array) && list.compact.all?(Hash))
      end
    end
  end
end
