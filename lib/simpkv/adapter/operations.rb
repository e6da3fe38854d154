# frozen_string_literal: true

module Simpkv
  class Adapter
    # The operations on keys. Each takes the backend of the call ({ConfiguredBackend}), its {Deadline} if it is one of
    # {Calls::BOUNDED}, and its arguments, and raises Error.
    class Operations
      # @param documents [Documents]
      def initialize(documents)
        @documents = documents
        forget
      end

      # Forgets the keys and certificates that the catalog has read, because it may store others.
      #
      # @return [void]
      def forget
        @known = Hash.new { |known, backend| known[backend] = {} }
      end

      # @return [Hash] `{ value:, metadata: }` of the version that the options name
      # @raise [NotFoundError] also if the key has expired, or lacks the version
      def get(backend, deadline, key)
        chosen_version(backend, key, backend.store.get(backend.path_of_key(key), deadline: deadline))
      end

      # @param document [String]
      # @return [Hash] `{ value:, metadata: }` of the version that the options name
      # @raise [NotFoundError] as {#get}
      def chosen_version(backend, key, document)
        return earlier_version(backend, key, document) unless backend.version.zero?

        @documents.current(document) { backend.returns_expired?(key) } || fail_expired(key)
      end

      # @return [Hash, false] as {#get}; false for a missing key
      def find(backend, deadline, key)
        document = backend.store.get(backend.path_of_key(key), required: false, deadline: deadline)
        document ? chosen_version(backend, key, document) : false
      rescue NotFoundError
        false
      end

      # @return [Hash, false] `{ value:, metadata: }`; false for a missing or expired key, whatever the options for
      #   readers
      def current(backend, deadline, key)
        document = backend.store.get(backend.path_of_key(key), stored: true, required: false, deadline: deadline)
        (document && @documents.current(document)) || false
      end

      # Reads the key, because it may have expired. In a store of the core this takes as many requests as a search for
      # the name.
      #
      # @return [Boolean] whether there is a key or a folder of that name
      def exists(backend, deadline, key)
        path = backend.path(key)
        return exists_there?(backend, deadline, key, path) if !backend.native? || Config.root?(path)

        document = backend.store.get(path, required: false, deadline: deadline)
        !document.nil? && shown?(backend, key, document)
      rescue IsFolderError
        true
      rescue Error
        backend.store.exist?(path, deadline: deadline)
      end

      # @return [true]
      def put(backend, deadline, key, value, metadata)
        document = @documents.encode(value, metadata, backend.flag('rich_data'))
        backend.writer.put(backend.path_of_key(key), document, deadline: deadline)
        true
      end

      # @return [true] also for a missing key
      def delete(backend, deadline, key)
        backend.store.delete(backend.path_of_key(key), deadline: deadline)
        true
      end

      # @return [true] also for a missing folder
      def deletetree(backend, keydir)
        backend.store.deletetree(backend.path(keydir))
        true
      end

      # Stores a key unless it exists, and has not expired. The first of several writers at the same moment wins; all
      # get the stored entry.
      #
      # @return [Hash] `{ value:, metadata: }`
      def create(backend, deadline, key, value, metadata)
        path = backend.path_of_key(key)
        document = @documents.encode(value, metadata, backend.flag('rich_data'))
        @documents.decode(FirstWrite.put(backend.versioned, path, document, deadline))
      end

      # Reads a secret, or the form of one, and makes what is missing.
      #
      # @param request [Secrets::Request]
      # @return [String] text, or bytes
      # @raise [InvalidError] the request does not fit the secret, or nothing can be made of it
      def secret(backend, deadline, key, request)
        secrets = backend.secrets(deadline: deadline, known: @known[backend.title])
        path = backend.path_of_key(key)
        backend.version.zero? ? secrets.fetch(path, request) : secrets.earlier(path, request, backend.version)
      end

      # As {#secret}, but makes no secret.
      #
      # @return [String, nil] nil if the secret is missing or has expired
      def form(backend, deadline, key, request)
        backend.secrets(deadline: deadline).fetch(backend.path_of_key(key), request, make: :form)
      end

      # Stores a key if its value is the expected one. A Sensitive is equal to the value that it wraps.
      #
      # @param expected [Object] nil for a key that is missing or has expired
      # @return [Boolean] whether it was stored
      def compare_and_put(backend, deadline, key, expected, value, metadata)
        path = backend.path_of_key(key)
        expected = @documents.expectations(expected, backend.flag('rich_data'))
        document = @documents.encode(value, metadata, backend.flag('rich_data'))
        repeatedly do
          stored = backend.store.get(path, latest: true, required: false, deadline: deadline)
          entry = stored && @documents.current(stored)
          unless entry
            next [refuse(backend, path)] unless expected.empty?

            next [put_if?(backend.versioned, path, document, condition: :absent, deadline: deadline)]
          end

          value = @documents.bare(entry[:value])
          next [refuse(backend, path)] unless expected.any? { |each| each.eql?(value) }

          # After a conflict, perhaps only the metadata have changed.
          [true] if put_if?(backend.writer, path, document, condition: :expect, expect: stored, deadline: deadline)
        end.first
      end

      # @return [Hash] `{ keys: { key => { value:, metadata: } }, absent: [key], errors: { key => why } }`
      def get_many(backend, keys)
        paths, errors = backend.paths_of_keys(keys)
        outcomes = reached(backend.store.get_many(paths.values.uniq))
        result = { keys: {}, absent: [], errors: errors }
        paths.each { |key, path| sort_in(result, backend, key, outcomes[path]) }
        result.merge(errors: backend.attributed_errors(errors, :get))
      end

      # @param entries [Hash{String => Hash}] by key, `{ 'value' =>, 'metadata' => }`
      # @return [Hash] `{ stored: [key], errors: { key => why } }`
      def put_many(backend, entries)
        paths, errors = backend.paths_of_keys(entries.keys)
        outcomes = reached(backend.writer.put_many(@documents.encode_many(entries, paths, backend.flag('rich_data'))))
        failed, stored = paths.partition { |_, path| outcomes[path].is_a?(Error) }
        failed.each { |key, path| errors[key] = outcomes[path] }
        { stored: stored.map(&:first), errors: backend.attributed_errors(errors, :put) }
      end

      private

      def earlier_version(backend, key, document)
        fail_expired(key) unless shown?(backend, key, document)
        version = Versions.version(document, backend.version)
        return @documents.decode(version) if version

        earlier = Versions.log(document).length - 1
        raise NotFoundError, "Key not found: '#{key}' has no version #{backend.version}: its history has #{earlier}"
      end

      def fail_expired(key)
        raise NotFoundError, "Key not found: '#{key}' has expired: store it again, or set 'expired' to 'return' or " \
                             "'warn' to read it"
      end

      # @return [Boolean] whether readers get the document
      def shown?(backend, key, document)
        !Versions.expired?(document) || backend.returns_expired?(key)
      end

      # As {#exists}, for a backend whose reads do not tell whether there is a folder of that name.
      def exists_there?(backend, deadline, key, path)
        return false unless backend.store.exist?(path, deadline: deadline)

        document = backend.store.get(path, required: false, deadline: deadline) unless Config.root?(path)
        document.nil? || shown?(backend, key, document)
      end

      # Writes a document that other writers may write as well.
      #
      # @return [Boolean] whether the condition held
      def put_if?(store, path, document, **how)
        store.put(path, document, non_unique: true, **how)
        true
      rescue ConditionError
        false
      end

      # @return [false]
      def refuse(backend, path)
        backend.store.refuse_put(path)
      end

      # Tries until the block returns something. Other processes may prevent that by changing the key in between.
      def repeatedly
        CompareAndSwap.repeat { yield || CompareAndSwap.overtaken }
      end

      # @param outcomes [Hash{String => Object, Error}] by path
      # @raise [TransientError] no key was reached: then the backend failed
      def reached(outcomes)
        failed = outcomes.values.all?(TransientError)
        raise outcomes.values.first if failed && outcomes.any?

        outcomes
      end

      def sort_in(result, backend, key, outcome)
        outcome = @documents.current_or_reason(outcome) { backend.returns_expired?(key) } if outcome.is_a?(String)
        case outcome
        when NotFoundError, nil then result[:absent] << key
        when Error then result[:errors][key] = outcome
        else result[outcome.is_a?(Hash) ? :keys : :errors][key] = outcome
        end
      end
    end
  end
end
