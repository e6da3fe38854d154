# frozen_string_literal: true

module Simpkv
  # Puts the layers around the store of a backend that its options ask for. All who open a store do it here.
  module Layers
    # @param store [Store, Object] of a backend
    # @param settings [Hash{String => Object}] the options of the backend: see {Config.typed}
    # @param raw [Boolean] whether callers pass and get documents as they are stored, also encrypted ones
    # @param node [String, #call, nil] the node that the operations are for, in the audit log: see {AuditedStore}
    # @param warn [#call, nil] receives a warning if the audit log cannot be written
    # @return [Store, Object] with the methods of a {Store}; the same one without such options
    # @raise [InvalidError, DeniedError] the file of keys cannot be used
    def self.over(store, settings, raw: false, node: nil, warn: nil)
      store = Encryption.over(store, settings) unless raw
      settings['audit'] ? AuditedStore.new(store, settings, node: node, warn: warn) : store
    end
  end
end
