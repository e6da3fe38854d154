# frozen_string_literal: true

require 'simpkv/document/rich_data/encoder'

module Simpkv
  class Adapter
    # Turns values and metadata of Puppet's types into documents, and back.
    class Documents
      def initialize
        @texts = []
        @told = []
      end

      # @param caller [String] the call or the resource that stores the values
      # @return [Array<String>] a warning for each type that {#encode} has turned into strings; each only once
      def warnings(caller)
        return @texts if @texts.empty?

        texts = @texts - @told
        @told |= texts
        @texts = []
        texts.map do |type|
          "#{caller} stores a #{type} as text, which comes back as a String: to get a #{type} back, set 'rich_data' " \
            'to true; to store text, convert it with String(...)'
        end
      end

      # @param value [Object] plain data, or a Binary; it and the metadata may contain Sensitive and Binary
      # @param metadata [Hash]
      # @param all [Boolean] whether Timestamp, Regexp, SemVer and the like are kept; otherwise they become strings
      # @return [String] the document
      # @raise [UnencodableError] names the place, not the value
      def encode(value, metadata, all)
        plain(value, metadata, all) || rich(value, metadata, RichData::Encoder.new(all))
      end

      # @param document [String]
      # @return [Hash] `{ value:, metadata: }`, also if it has expired
      # @raise [MalformedError]
      def decode(document)
        current(document) { true }
      end

      # @param document [String]
      # @yieldreturn [Boolean] for an expired document, whether to return it; without a block it is not
      # @return [Hash, nil] `{ value:, metadata: }`; nil if it has expired
      # @raise [MalformedError]
      def current(document)
        entry = RichData.decode(document)
        return entry if entry.length == 2
        return if Versions.past?(entry.delete(:expires)) && !(block_given? && yield)

        entry.key?(:encoding) ? RichData::Converter.load_entry(entry) : entry
      end

      # @param block [Proc] as of {#current}
      # @return [Hash, String, nil] the entry, or why there is none; nil if it has expired
      def current_or_reason(document, &block)
        current(document, &block)
      rescue MalformedError => e
        e.message
      end

      # @param entries [Hash{String => Hash}] by key, `{ 'value' =>, 'metadata' => }`
      # @param paths [Hash{String => String}] by key
      # @return [Hash{String => String}] by path
      def encode_many(entries, paths, all)
        paths.keys.group_by { |key| paths[key] }.transform_values do |(key, *others)|
          raise InvalidError, "'#{key}' and '#{others.first}' are the same key: give it once" if others.any?

          encode(entries[key]['value'], entries[key]['metadata'] || {}, all)
        rescue UnencodableError, TooLargeError => e
          raise e.reworded("Key '#{key}': #{e.message}"), cause: nil
        end
      end

      # @param expected [Object] the value that a caller expects; nil for no key
      # @return [Array<Object>] the values that are equal to it: as given, and as read from storage
      def expectations(expected, all)
        return [] if expected.nil?

        [decode(encode(expected, {}, all))[:value], expected].map { |value| bare(value) }
      rescue UnencodableError => e
        raise e.reworded(e.message.sub('value', 'expected')), cause: nil
      end

      # @return [Object] the value for comparisons with `eql?`
      def bare(value)
        RichData::Converter.bare(value)
      end

      private

      def rich(value, metadata, encoder)
        encoder.encode(value, metadata).tap { @texts |= encoder.texts }
      end

      # The document, if the value is plain data, as most are. The codec writes a Symbol and some hash keys as text.
      def plain(value, metadata, all)
        Codec.encode(value, metadata) unless all
      rescue UnencodableError
        nil
      end
    end
  end
end
