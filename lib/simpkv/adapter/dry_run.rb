# frozen_string_literal: true

module Simpkv
  class Adapter
    # The writing operations of {Operations}, for a dry run: each checks its arguments and returns the result of the
    # write, but does not call the store.
    class DryRun
      # @return [Boolean] whether it has made a placeholder
      attr_reader :placeholder

      def initialize(documents)
        @documents = documents
        @placeholder = false
      end

      def put(backend, key, value, metadata)
        backend.path_of_key(key)
        document(backend, value, metadata) && true
      end

      def create(backend, key, value, metadata)
        backend.path_of_key(key)
        @documents.decode(document(backend, value, metadata))
      end

      # @return [String] the secret or the form that is there; else a placeholder
      def secret(backend, key, request)
        secrets = backend.secrets
        path = backend.path_of_key(key)
        return secrets.earlier(path, request, backend.version) unless backend.version.zero?

        secrets.fetch(path, request, make: false) || placeholder_of(key)
      end

      # As {#secret}: Hiera has found the secret.
      alias form secret

      def compare_and_put(backend, key, expected, value, metadata)
        @documents.expectations(expected, backend.flag('rich_data'))
        put(backend, key, value, metadata) && false
      end

      def put_many(backend, entries)
        paths, errors = backend.paths_of_keys(entries.keys)
        documents = @documents.encode_many(entries, paths, backend.flag('rich_data'))
        documents.each_value { |document| backend.versioned.first(document) }
        { stored: [], errors: backend.attributed_errors(errors, :put) }
      end

      def delete(backend, key)
        backend.path_of_key(key) && true
      end

      def deletetree(backend, keydir)
        backend.path(keydir) && true
      end

      private

      def placeholder_of(key)
        @placeholder = true
        Placeholder.text(key)
      end

      # @return [String] the document that the write would store under a missing key
      def document(backend, value, metadata)
        backend.versioned.first(@documents.encode(value, metadata, backend.flag('rich_data')))
      end
    end
  end
end
