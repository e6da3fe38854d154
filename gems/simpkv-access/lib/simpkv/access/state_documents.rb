# frozen_string_literal: true

module Simpkv
  module Access
    # The documents of access control: `directory`, and `users`, `roles` and `bindings` with a document for each name.
    # {State} is their only user.
    class StateDocuments < Estate::Documents
      def initialize(estate)
        super(estate, 'access')
      end

      # @param section [String] such as `users`
      # @return [Hash{String => Hash}] the documents by name, sorted
      # @raise [MalformedError] one of them cannot be read; the message names the key
      def section(section)
        documents = all(section) { |key, why| raise MalformedError.unreadable(key, why) }
        documents.sort.to_h
      end

      # Deletes a document that the block accepts, if no other writer changes it meanwhile.
      #
      # @yieldparam value [Hash]
      # @return [Boolean] whether it was deleted
      def delete_if(*names)
        stored = read(*names)
        stored && yield(stored.value) ? @estate.store.delete(path(*names), expect: stored.document) : false
      end

      private

      def valid?(value)
        value.is_a?(Hash)
      end
    end
  end
end
