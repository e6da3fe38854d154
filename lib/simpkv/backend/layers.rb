# frozen_string_literal: true

require 'simpkv/backend/ldap_access'

module Simpkv
  # Puts the layers around the store of a backend that its options ask for. Their order is, from the store up:
  # {EncryptedStore}, {AuditedStore}. Only a {VersionedStore} stands above them, which is for single calls.
  #
  # A process reads each file of keys once, and again when it changes.
  module Layers
    @keyrings = {}
    @lock = Mutex.new

    class << self
      # @param store [Store, Object] of a backend
      # @param settings [Hash{String => Object}] the options of the backend: see {Config.typed}
      # @param raw [Boolean] whether callers pass and get documents as they are stored, also encrypted ones
      # @param node [String, #call, nil] the node that the operations are for, in the audit log: see {AuditedStore}
      # @param warn [#call, nil] receives a warning if the audit log cannot be written
      # @return [Store, Object] with the methods of a {Store}; the same one without such options
      # @raise [InvalidError, DeniedError] the file of keys cannot be used
      def over(store, settings, raw: false, node: nil, warn: nil)
        store = encrypted(store, settings) if settings['encryption_keys'] && !raw
        store = AuditedStore.new(store, Audit::Recorder.new(settings, node: node, warn: warn)) if settings['audit']
        store
      end

      # @param file [String]
      # @return [Native::Keyring]
      # @raise [InvalidError, DeniedError] the file cannot be used
      def keyring(file)
        @lock.synchronize { @keyrings[file] ||= Native::Keyring.new(file) }.tap(&:kids)
      end

      # @param store [Store, Object] of a backend
      # @param settings [Hash{String => Object}] the options of the backend, with `encryption_keys`
      # @return [EncryptedStore]
      # @raise [InvalidError, DeniedError] the file of keys cannot be used
      def encrypted(store, settings)
        canonical = LdapAccess.method(:canonical).to_proc if LdapAccess.folds_names?(settings)
        EncryptedStore.new(store, keyring(settings['encryption_keys']), name(settings),
                           mode: settings['encrypt'].to_sym, encrypted_only: settings['encrypted_only'], &canonical)
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
