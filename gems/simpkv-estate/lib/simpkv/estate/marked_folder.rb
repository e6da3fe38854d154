# frozen_string_literal: true

module Simpkv
  class Estate
    # The folder of a subject, with its marker: see {Markers}. All reads of documents come through here: those of a
    # folder call {#listed}, and those of a document that was not found call {#demand_folder}.
    module MarkedFolder
      private

      # Lists a folder. One that must have a marker is missing or hidden without it.
      #
      # @param names [Array<String>] of the folder below the subject's
      # @yieldparam name [String]
      # @yieldparam document [String]
      # @return [Hash] as {Store#list}, without the marker
      # @raise [ConfigError] the folder has no marker
      def listed(names, &block)
        marked, listed = search(names, &block)
        refuse_unmarked(names) unless marked
        listed
      end

      # @return [Array(Boolean, Hash)] whether the folder has a marker, perhaps one among the errors; and its list
      # @raise [DisagreementError, MalformedError, DeniedError] the marker cannot be decoded
      def search(names)
        marker = nil
        listed = @estate.store.list(path(*names), required: false) do |name, document|
          name == MARKER ? (marker = document) : yield(name, document)
        end
        listed[:keys].delete(MARKER)
        look_at_marker(names, marker) if marker
        [!marker.nil? || listed[:errors].key?(MARKER), listed]
      end

      # @param names [Array<String>] of its folder below the subject's
      # @param marker [String] the document, which a list has read
      # @return [void]
      # @raise [DisagreementError, MalformedError, DeniedError]
      def look_at_marker(names, marker)
        @estate.agreement.demand_plain(marker)
        decoded("#{path(*names)}/#{MARKER}", marker)
      end

      # @param names [Array<String>] of a folder without marker, below the subject's
      # @raise [ConfigError] it should have one
      def refuse_unmarked(names)
        raise MissingError.marker(@subject) if names.empty? && marked?
      end

      # @return [Boolean] whether the folder of the subject must have a marker
      def marked?
        MARKED.include?(@subject) || @estate.agreement.folders.include?(@subject)
      end

      # Refuses a folder that is missing or hidden: before a document is added, which would begin it anew, and after
      # none was found, which says nothing then.
      #
      # @return [nil]
      # @raise [MissingError]
      def demand_folder
        @estate.markers.demand(@subject) if marked?
        nil
      end
    end
    private_constant :MarkedFolder
  end
end
