# frozen_string_literal: true

require 'simpkv/cli/lost_value'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    # Tells which documents of a transfer functions cannot read. It decrypts those that a transfer leaves encrypted.
    class ReadCheck
      # @param backend [ChosenBackend] in which functions read the documents
      # @return [void] warns if encrypted documents cannot be checked
      def initialize(backend)
        @encrypted = backend.decrypting if backend.raw?
      rescue InvalidError, DeniedError => e
        warn "simpkv: #{backend.title}: encrypted documents are not decrypted, so that nothing is known of what they " \
             "hold: #{e.message}"
      end

      # @param path [String]
      # @param document [String] as the backend returns it
      # @return [String, nil] why functions cannot read the document; it quotes nothing
      def fault(path, document)
        LostValue.fault(plain(path, document))
      rescue MalformedError, DeniedError => e
        e.message
      end

      # @param path [String]
      # @param document [String] as the backend returns it
      # @return [Boolean] whether its value is a Sensitive, or holds one; false if it cannot be read
      def secret?(path, document)
        !Value.secret(plain(path, document)).nil?
      rescue MalformedError, DeniedError
        false
      end

      private

      def plain(path, document)
        @encrypted ? @encrypted.decrypt(path, document) : document
      end
    end
  end
end
