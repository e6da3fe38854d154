# frozen_string_literal: true

module Simpkv
  module Server
    module Api
      # When a key was made and changed, and by whom, and how it is stored: see {Store#stat}. A document that was
      # encrypted again was changed, too.
      module KeyFacts
        NAMES = %w[created_at created_by modified_at modified_by owner encrypted encryption_key].freeze
        private_constant :NAMES

        # @param store [Store]
        # @param path [String] of a key in it
        # @param deadline [Deadline] of the request
        # @param size [Boolean] whether the caller may see values: the size tells how long a value is
        # @return [Hash{String => Object}] what the service may see; nothing of a key that was deleted meanwhile
        # @raise [Error] the store cannot be asked
        def self.of(store, path, deadline, size:)
          store.stat(path, document: true, deadline: deadline).slice(*NAMES, *('size' if size))
        rescue DeniedError, NotFoundError
          {}
        end
      end
    end
  end
end
