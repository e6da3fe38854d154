# frozen_string_literal: true

module Simpkv
  module Resources
    # The key of one simpkv_key: what is stored, and what a run writes.
    class Key
      # @return [String, nil] a sentence about a removal that differs from others
      attr_reader :outcome

      # @param simpkv [Catalog]
      # @param backend [Backend, nil] nil for the one of the resource
      def initialize(simpkv, backend = nil)
        @simpkv = simpkv
        @backend = backend
      end

      # Takes the result of reading the key.
      #
      # @param document [String, Exception, nil] nil if there is no such key
      # @return [self]
      def found(document)
        @document = document
        @expired = document.is_a?(String) && @simpkv.expired?(document)
        @read = true
        self
      end

      # Takes an entry of a listing instead of the name of the resource.
      #
      # @param entry [Purging::Entry]
      # @return [self]
      def pin(entry)
        @entry = entry
        @pinned = true
        @outcome = "removed '#{shown_path}'" unless entry.usable?
        found(entry.document)
      end

      # @return [Boolean] whether it has, or had until its removal, an entry of a listing
      def pinned?
        @pinned || false
      end

      # @return [String, nil] the path of an entry without a usable name, for messages
      def unnamed_path
        shown_path if @entry && !@entry.usable?
      end

      # @return [Array(Backend, String)] the backend and the path of the entry
      def place
        [@backend, @entry.path]
      end

      # A key that has expired does not exist, unless the resource removes it.
      #
      # @param resource [Puppet::Type]
      # @return [Boolean]
      # @raise [Error, ConfigError] the key cannot be read, or its place is unknown
      def exists?(resource)
        look(resource)
        raise @document if @document.is_a?(Exception)

        !@entry.nil? || (!@document.nil? && (!@expired || resource.should(:ensure) == :absent))
      end

      # @return [Hash, nil] `{ value:, metadata: }`, both nil if the document cannot be read; nil if there is no such
      #   key
      def stored(resource)
        return unless exists?(resource)

        @stored ||= @document ? decoded(@document) : unreadable
      end

      # @param name [Symbol] `:value` or `:metadata`
      # @return [Boolean] whether the stored one is this, as the store compares it
      def holds?(resource, name, desired)
        stored = stored(resource)
        return false if stored.nil? || stored[:unreadable]

        plain?(stored[name], desired) || same?(resource, name, stored[name], desired)
      end

      # @return [String, nil] the time at which the key expires, if it does
      def expires(resource)
        return unless exists?(resource) && @document

        Versions.log(@document).first['expires']
      rescue MalformedError
        nil
      end

      # @return [Boolean] whether the key needs no write to expire as the resource says
      def fresh?(resource)
        return false unless exists?(resource) && @document

        same = Versions.version(@document, 0)
        Versions.successor(same, @document, **times(resource)).nil?
      rescue MalformedError
        false
      end

      # Stores the value and the metadata, in one step. Keeps the stored value or metadata if `desired` lacks them.
      #
      # @param desired [Hash{Symbol => Object}] `value:` and `metadata:`, or one of them
      # @return [void]
      def write(resource, desired)
        return if @written

        @rich = backend(resource).flag('rich_data')
        path = @simpkv.path(resource)
        @simpkv.with_store(backend(resource), make: true) do |store|
          store = versioned(store, resource)
          if desired.length == 2
            store.put(path, @simpkv.documents.encode(desired[:value], desired[:metadata], @rich))
          else
            replace(store, path, desired)
          end
        end
        @simpkv.documents.warnings(resource.ref).each { |warning| Puppet.warning(warning) }
        @written = true
      end

      # Removes the entry of a listing, unless another document is stored than the one that was listed. Puppet calls
      # this twice.
      #
      # @return [Boolean] whether it was left; false for a key that is no entry
      def left?(resource)
        @left = pinned? && !remove_entry(resource) if @left.nil?
        @left
      end

      # Removes the key. {#left?} removes entries.
      #
      # @return [void]
      def remove(resource)
        return if pinned?

        @removed = true
        @simpkv.with_store(backend(resource)) { |store| store.delete(@simpkv.path(resource)) }
      end

      # Reads again what a run has changed, if somebody asks.
      #
      # @return [void]
      def forget
        @read = @removed
        @document = @entry = @expired = nil if @removed
        @stored = @written = nil
      end

      private

      # @return [Hash{Symbol => Integer, nil}] for VersionedStore
      def times(resource)
        { history: resource[:history] || backend(resource).settings['history'],
          expires_after: Coercion.convert(:lifetime, resource[:expires_after]) }
      end

      # @return [Store] the store for documents that replace others
      def versioned(store, resource)
        versioned = VersionedStore.new(store, **times(resource))
        versioned.plain? ? store : versioned
      end

      def backend(resource)
        @backend ||= @simpkv.backend(resource)
      end

      def look(resource)
        return if @read

        if resource.place
          @simpkv.read([resource]) { |_, document| found(document) }
        else
          entry = @simpkv.entry(resource)
          entry ? pin(entry) : found(nil)
        end
      end

      def decoded(document)
        @simpkv.documents.decode(document)
      rescue MalformedError
        unreadable
      end

      def unreadable
        { value: nil, metadata: nil, unreadable: true }
      end

      # Most values are equal texts and numbers.
      def plain?(stored, desired)
        case desired
        when String
          stored.is_a?(String) && stored.encoding == desired.encoding && stored == desired
        when Integer, true, false, nil then stored.eql?(desired)
        else false
        end
      end

      def same?(resource, name, stored, desired)
        rich = backend(resource).flag('rich_data')
        first = document_with(name, stored, true)
        second = document_with(name, desired, rich)
        first == second || Native.document_same?(first, second)
      end

      def document_with(name, data, rich)
        name == :value ? @simpkv.documents.encode(data, {}, rich) : @simpkv.documents.encode(nil, data, rich)
      end

      # Other writers may change the key meanwhile.
      def replace(store, path, desired)
        expected = @document
        CompareAndSwap.repeat do
          live = expected unless expected && @simpkv.expired?(expected)
          document = completed(live, desired)
          condition = expected ? :expect : :absent
          CompareAndSwap.attempt do
            store.put(path, document, condition: condition, expect: expected, non_unique: true)
          rescue ConditionError
            expected = store.get(path, latest: true, required: false)
            raise
          end
        end
      end

      # @param document [String, nil] the stored one
      # @return [String] the new one
      def completed(document, desired)
        unless document
          return @simpkv.documents.encode(desired.fetch(:value) { gone }, desired.fetch(:metadata, {}), @rich)
        end

        stored = decoded(document)
        value = desired.key?(:value) ? as_stored(:value, desired) : kept_value(stored)
        metadata = desired.key?(:metadata) ? as_stored(:metadata, desired) : stored[:metadata] || {}
        @simpkv.documents.encode(value, metadata, true)
      end

      def gone
        raise NotFoundError, "give 'value': there is no such key any more, and a new one needs a value"
      end

      def kept_value(stored)
        return stored[:value] unless stored[:unreadable]

        raise MalformedError, "give 'value': the stored document cannot be read, so its value cannot be kept"
      end

      # Converts the types that the store is not to keep, beside a value or metadata whose types it keeps.
      def as_stored(name, desired)
        @simpkv.documents.decode(document_with(name, desired[name], @rich)).fetch(name)
      end

      # @return [Boolean] whether it was removed
      def remove_entry(resource)
        reason = @simpkv.with_store(backend(resource), links: false) do |store|
          @document ? remove_listed(store) : remove_unreadable(store)
        end
        resource.notice("left '#{shown_path}' as it is: #{reason}") if reason
        @removed = reason.nil?
      end

      # @return [String, nil] why the entry is left
      def remove_listed(store)
        same = store.delete(@entry.path, expect: @document)
        'it has changed or was removed since its folder was listed' unless same
      rescue IsFolderError
        'it is a folder now'
      end

      # The store could not read the entry when it was listed, perhaps for a moment only.
      #
      # @return [String, nil] why the entry is left
      def remove_unreadable(store)
        store.get(@entry.path, latest: true)
        'it can be read now, or has changed since its folder was listed'
      rescue NotFoundError
        'it was removed meanwhile'
      rescue MalformedError, InvalidError, TooLargeError
        store.delete(@entry.path)
        nil
      end

      def shown_path
        @entry.path.scrub('?').gsub(/[[:cntrl:]]/, '?')
      end
    end
  end
end
