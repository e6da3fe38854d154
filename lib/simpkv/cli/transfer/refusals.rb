# frozen_string_literal: true

module Simpkv
  module Cli
    # What a target of a transfer would refuse to store, known before anything is stored. A directory keeps less than
    # files do.
    class Refusals
      # @param backend [ChosenBackend] the target
      def initialize(backend)
        @settings = backend.settings if backend.ldap?
        @encrypts = !backend.raw? && backend.encrypted? && backend.settings['encrypt'] == 'all'
      end

      # @param document [String]
      # @return [String, nil] why no key can have the document; nil if it can
      def of_document(document)
        return if @settings.nil? || @encrypts
        return 'the document is empty, which a directory does not keep' if document.empty?

        'the document is not UTF-8, as a directory requires' unless Value.utf8(document)
      end

      # @param path [String] of a key
      # @return [String, nil] why there can be no such key; nil if there can
      def of_path(path)
        Native.dn_from_path(@settings['layout'].to_sym, :key, *@settings.values_at('base_dn', 'id'), path) if @settings
        nil
      rescue InvalidError, TooLargeError => e
        e.message
      end
    end
  end
end
