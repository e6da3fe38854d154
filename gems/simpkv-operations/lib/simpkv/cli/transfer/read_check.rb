# frozen_string_literal: true

require 'simpkv/document/stored_form'
require 'simpkv/cli/value'

module Simpkv
  module Cli
    # Tells which documents of a transfer functions cannot read. It decrypts those that a transfer leaves encrypted.
    class ReadCheck
      # @param backend [ChosenBackend] in which functions read the documents
      def initialize(backend)
        @title = backend.title
        return unless backend.raw?

        @encrypted = backend.decrypting
        @no_keys = "it has no 'encryption_keys'" unless @encrypted
      rescue InvalidError, DeniedError => e
        @no_keys = e.message
        @unusable = true
      end

      # @param path [String]
      # @param document [String] as the backend returns it
      # @return [String, nil] why functions cannot read the document; it quotes nothing. nil also for an encrypted
      #   document without its keys: see {#incomplete?}
      def fault(path, document)
        why = StoredForm.fault(plain(path, document))
        @incomplete ||= @no_keys && why.nil? && Native::Keyring.kid_of(document)
        why
      rescue MalformedError, DeniedError => e
        e.message
      end

      # @param path [String]
      # @param document [String] as the backend returns it
      # @return [String] the document in plain; as it is without the keys
      # @raise [MalformedError, DeniedError] it cannot be decrypted
      def plain(path, document)
        @encrypted ? @encrypted.decrypt(path, document) : document
      end

      # @param path [String]
      # @param document [String] as the backend returns it
      # @return [Boolean, nil] whether its value is a Sensitive, or holds one; nil if it cannot be read
      def secret?(path, document)
        !Value.secret(plain(path, document)).nil?
      rescue MalformedError, DeniedError
        nil
      end

      # @return [Boolean] whether {#fault} was called for an encrypted document that it could not decrypt without keys
      def incomplete?
        @incomplete ? true : false
      end

      # Returns 78 if {#incomplete?}, because the file of keys that the backend names cannot be used. This code has
      # precedence over that of damaged documents, after which scripts continue. A backend without the option
      # `encryption_keys` moves encrypted documents and shall not read them.
      #
      # @return [Integer, nil] the exit code
      def exit_code
        Failure::CONFIG if incomplete? && @unusable
      end

      # @return [void]
      def warn_if_incomplete
        return unless incomplete?

        warn "simpkv: #{@title}: encrypted documents are not decrypted, so that nothing is known of what they hold: " \
             "#{@no_keys}"
      end
    end
  end
end
