# frozen_string_literal: true

module Simpkv
  class Estate
    # The documents that one save of a node's exports writes, if the order of saves is known. Each write replaces what
    # the save has read, or fails. The write also succeeds if a later save has left a document as it was. So an
    # overtaken save puts back each document that the record of the inventory names and that it has replaced. It does so
    # even if another overtaken save, which does not know the document, has written since.
    class OrderedExports
      # @param documents [Exports::ByType]
      # @param certname [String]
      # @yieldreturn [Boolean] whether a later save has begun
      def initialize(documents, certname, &later)
        @documents = documents
        @certname = certname
        @later = later
        @replaced = {}
      end

      # Erases digests in the record of the inventory.
      #
      # @param stored [Stored, nil] the record
      # @yieldreturn [Stored] the record without them
      # @return [Stored]
      # @raise [ConflictError, ExistsError] another save has replaced it
      def erase_digests(stored)
        marked = yield
        @record ||= stored&.value || {}
        marked
      end

      # @return [Hash{String => String, nil}, nil] the digests before this save erased the first ones; nil if there were
      #   none, or the save has replaced documents
      def before
        @record['exports'] if @record && !replaced?
      end

      # @return [Boolean] whether this save has replaced a document, or has tried to
      def replaced?
        @replaced.any?
      end

      # @return [Boolean] whether a later save has begun
      # @raise [Error]
      def overtaken?
        @later.call
      end

      # @param lists [Hash{String => Array<Hash>, nil}] by type; nil for a document to delete
      # @return [void]
      # @raise [ConflictError, ExistsError] another save has written one of them since this one has read it
      def write(lists)
        lists.each { |type, list| exchange(type, @documents.readable(type, @certname), list) }
      end

      # Puts back documents.
      #
      # @param digests [Hash{String => String, nil}] of the record of the inventory
      # @return [void]
      # @raise [ConflictError, ExistsError] another save writes one of them
      def restore(digests)
        @replaced.each do |type, replaced|
          wanted = digests.fetch(type, :absent)
          known = replaced.index { |document| digest(document) == wanted }
          restore_document(type, replaced[known], wanted) if known
        end
      end

      private

      def restore_document(type, document, wanted)
        stored = @documents.readable(type, @certname)
        exchange(type, stored, document&.value) unless digest(stored) == wanted
      end

      # What a restoration replaces counts, too: a save that began meanwhile may have written it.
      def exchange(type, stored, list)
        (@replaced[type] ||= []) << stored
        @documents.exchange(type, @certname, stored, list)
      end

      # @return [String, Symbol] none that a record has, for a document that is not there or cannot be read
      def digest(stored)
        return :absent unless stored

        stored.value.nil? ? :unreadable : Documents.digest(Codec.encode(stored.value))
      end
    end
    private_constant :OrderedExports
  end
end
