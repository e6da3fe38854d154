# frozen_string_literal: true

module Simpkv
  class Adapter
    # The operations on folders. As in {Operations}, each takes the backend of the call and its arguments, and raises
    # Error.
    class Listing
      def initialize(documents)
        @documents = documents
      end

      # @return [Hash] `{ keys: { name => { value:, metadata: } }, folders: [name] }`, both sorted
      def list(backend, keydir)
        path = backend.path(keydir)
        partial = backend.flag('skip_undecodable')
        listed = decoded(backend, keydir) do |block|
          backend.store.list(path, partial: partial, required: required?(backend), &block)
        end
        readable('list', backend, keydir, listed)
      end

      # @return [Hash] as {#list}, of the folder and all folders below it, by paths. Without the option `values`, each
      #   key has `{}`
      def tree(backend, keydir)
        path = backend.path(keydir)
        values = backend.flag('values')
        listed = decoded(backend, keydir, values) do |block|
          backend.store.tree(path, values: values, required: required?(backend), &block)
        end
        readable('tree', backend, keydir, listed)
      end

      # Lists a folder without decoding it, for a caller that may need little of it. A missing folder is empty.
      #
      # @param room [Integer] how many bytes of documents to keep. The other documents are nil
      # @return [Hash] `{ documents: { name => String, nil }, errors: { name => why }, folders: [name] }`
      def snapshot(backend, keydir, room)
        documents = {}
        keep = lambda do |name, document|
          fits = document.bytesize <= room
          room -= document.bytesize if fits
          documents[name] = (document if fits)
          nil
        end
        listed = backend.store.list(backend.path(keydir), required: false, &keep)
        listed[:keys].each { |name, document| keep.call(name, document) unless documents.key?(name) }
        { documents: documents, errors: listed[:errors], folders: listed[:folders] }
      end

      private

      def required?(backend)
        backend.flag('missing') != 'empty'
      end

      # Decodes documents as the store yields them, and those that it does not yield. Leaves out expired ones.
      #
      # @yieldparam block [Proc, nil] for the store
      # @return [Hash] `{ keys: { name => entry }, folders: [name], errors: { name => why } }`, keys and folders sorted
      def decoded(backend, keydir, values = true) # rubocop:disable Style/OptionalBooleanParameter
        entries = {}
        read = lambda do |name, document|
          entries[name] = values ? current(backend, keydir, name, document) : {}
          nil
        end
        listed = yield(read)
        listed[:keys].each { |name, document| read.call(name, document) unless entries.key?(name) }
        keys, failed = sorted(entries, listed[:keys].keys)
        { keys: keys, folders: listed[:folders].sort, errors: listed[:errors].merge(failed) }
      end

      # @return [Array(Hash{String => Hash}, Hash{String => String})] the entries of these names, and the reasons why
      #   others have none; without expired ones
      def sorted(entries, names)
        names.sort.to_h { |name| [name, entries[name]] }.compact.partition { |_, entry| entry.is_a?(Hash) }.map(&:to_h)
      end

      def current(backend, keydir, name, document)
        @documents.current_or_reason(document) { backend.returns_expired?(key_of(keydir, name)) }
      end

      # Not key_join: it may be a name that no key can have.
      def key_of(keydir, name)
        [*keydir.split('/').reject(&:empty?), name].join('/')
      end

      # A key that cannot be read makes the call fail, or is left out with a warning.
      def readable(function, backend, keydir, listed)
        skip = listed[:errors].any? && backend.flag('skip_undecodable')
        listed[:errors].sort.each do |name, why|
          key = key_of(keydir, name)
          raise MalformedError, "Key '#{key}': #{why}" unless skip

          Puppet.warning("simpkv::#{function} leaves out key '#{key}': #{why}")
        end
        listed.slice(:keys, :folders)
      end
    end
  end
end
