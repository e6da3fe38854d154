# frozen_string_literal: true

module Simpkv
  class Estate
    # The documents that one save of a node's exports writes, if the order of saves is known. Each write replaces what
    # the save has read, or fails. If a later save has left a document as it was, the write succeeds nevertheless: so an
    # overtaken save restores a document if the record of the inventory names the one that it has replaced.
    class OrderedExports
      # @param documents [Exports::ByType]
      # @param certname [String]
      # @yieldreturn [Boolean] whether a later save has begun
      def initialize(documents, certname, &later)
        @documents = documents
        @certname = certname
        @later = later
        @replaced = {}
        @begun = false
      end

      # The save has entered its token: later ones see it from now on.
      #
      # @return [void]
      def begin
        @begun = true
      end

      # @return [Boolean] whether the save has entered its token, and a later one has begun
      # @raise [Error]
      def overtaken?
        @begun && @later.call
      end

      # @param lists [Hash{String => Array<Hash>, nil}] by type; nil for a document to delete
      # @return [void]
      # @raise [ConflictError, ExistsError] another save has written one of them since this one has read it
      def write(lists)
        lists.each do |type, list|
          stored = @documents.readable(type, @certname)
          @replaced[type] = [@replaced.fetch(type, [stored]).first, list]
          @documents.exchange(type, @certname, stored, list)
        end
      end

      # Puts back documents.
      #
      # @param digests [Hash{String => String, nil}] of the record of the inventory
      # @return [void]
      # @raise [ConflictError, ExistsError] another save writes one of them
      def restore(digests)
        @replaced.each do |type, (before, list)|
          next unless digests.key?(type) ? digests[type] == digest(before) : before.nil?

          stored = @documents.readable(type, @certname)
          @documents.exchange(type, @certname, stored, before&.value) if stored&.value == list
        end
      end

      private

      # @return [String, Symbol] none that a record has, for a document that is not there or cannot be read
      def digest(stored)
        stored&.value.nil? ? :none : Documents.digest(Codec.encode(stored.value))
      end
    end
    private_constant :OrderedExports
  end
end
