# frozen_string_literal: true

require 'delegate'
require 'set'

module Simpkv
  module Cli
    # A store that notes what is written to it. In a dry run, it notes what would be written, and writes nothing.
    class PuppetDBWrites < SimpleDelegator
      # @return [Set<String>] the keys that were written since {#clear}, without markers
      attr_reader :keys

      # @param store [Store]
      # @param dry [Boolean]
      def initialize(store, dry)
        super(store)
        @dry = dry
        clear
      end

      # @return [void]
      def clear
        @keys = Set.new
      end

      # @see Store#put
      def put(key, document, **condition)
        note(key, @dry ? changed?(key, document) : super)
      end

      # @see Store#put_many
      def put_many(documents, **condition)
        return documents.to_h { |key, document| [key, put(key, document)] } if @dry

        super.each { |key, result| note(key, result == true) }
      end

      # @see Store#delete
      def delete(key)
        note(key, @dry ? exist?(key) : super)
      end

      private

      def changed?(key, document)
        stored = get(key, required: false)
        stored.nil? || !Native.document_same?(stored, document)
      end

      def note(key, written)
        @keys << key if written && File.basename(key) != Estate::MARKER
        written
      end
    end
  end
end
