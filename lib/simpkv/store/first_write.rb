# frozen_string_literal: true

module Simpkv
  # The write of a key by the first of several writers. All of them get the document of the first one.
  module FirstWrite
    class << self
      # Stores a document unless the key exists, and has not expired. If the outcome of the write is unknown, the stored
      # document counts, regardless of its writer.
      #
      # @param store [VersionedStore]
      # @param path [String]
      # @param document [String]
      # @param deadline [Deadline, nil]
      # @return [String] the stored document
      # @raise [ConflictError] other writers delete the key each time
      # @raise [Error]
      def put(store, path, document, deadline)
        CompareAndSwap.repeat { put_or_read(store, path, document, deadline) || CompareAndSwap.overtaken }
      end

      private

      # @return [String, nil] the stored document; nil if another process has deleted it, or replaced it by an expired
      #   one
      def put_or_read(store, path, document, deadline)
        put?(store, path, document, deadline) ? document : live_document(store, path, deadline)
      rescue AuditError
        raise
      rescue Error => e
        read_after_failure(store, path, deadline) || raise(e)
      end

      # Other writers may write the same document.
      #
      # @return [Boolean] whether the key did not exist
      def put?(store, path, document, deadline)
        store.put(path, document, condition: :absent, non_unique: true, deadline: deadline)
        true
      rescue ConditionError
        false
      end

      def live_document(store, path, deadline)
        document = store.get(path, latest: true, required: false, deadline: deadline)
        document unless document && Versions.expired?(document)
      end

      def read_after_failure(store, path, deadline)
        live_document(store, path, deadline)
      rescue Error
        nil
      end
    end
  end
end
