# frozen_string_literal: true

module Simpkv
  # Opens stores whose documents are encrypted, by the options of backends. A process reads each file of keys once, and
  # again when it changes.
  module Encryption
    @keyrings = {}
    @lock = Mutex.new

    class << self
      # @param store [Store, Object] of a backend
      # @param settings [Hash{String => Object}] the options of the backend: see {Config.typed}
      # @return [Store, EncryptedStore, Object] the store that takes and returns plain documents: the same one if the
      #   backend has no `encryption_keys`
      # @raise [InvalidError, DeniedError] the file of keys cannot be used
      def over(store, settings)
        file = settings['encryption_keys']
        return store unless file

        canonical = LdapAccess.method(:canonical).to_proc if LdapAccess.folds_names?(settings)
        EncryptedStore.new(store, keyring(file), name(settings),
                           mode: settings['encrypt'].to_sym, encrypted_only: settings['encrypted_only'], &canonical)
      end

      # @param file [String]
      # @return [Native::Keyring]
      # @raise [InvalidError, DeniedError] the file cannot be used
      def keyring(file)
        @lock.synchronize { @keyrings[file] ||= Native::Keyring.new(file) }.tap(&:kids)
      end

      private

      # @return [String] the name of the backend in the headers of documents
      def name(settings)
        type, id = settings.values_at('type', 'id')
        "#{type}/#{LdapAccess.folds_names?(settings) ? LdapAccess.canonical(id) : id}"
      end
    end
  end
end
